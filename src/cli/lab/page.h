/*
 * The laboratory page: one file, web/built/lab.html, which is part of the program. web/README.md says how it is built.
 */
#ifndef ELECTOR_CLI_LAB_PAGE_H
#define ELECTOR_CLI_LAB_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* The page as it was built. */
const char *lab_page(size_t *size);

/* Writes the page so that it opens this trace (JSON Lines, as of sim_write_jsonl()) under this name, and says about it
 * what it is. Returns 0, or -1 if it could not be written. */
int lab_write_page_of(FILE *out, const char *name, const char *about, const char *trace, size_t size);

#endif
