/* See page.h. */
#define _GNU_SOURCE
#include "cli/lab/page.h"

#include <stdlib.h>
#include <string.h>

/* The file's bytes, placed by the assembler: a C array of this size takes a compiler seconds. */
__asm__(".section .rodata\n"
        "lab_page_bytes:\n"
        ".incbin \"" ELECTOR_LAB_PAGE "\"\n"
        "lab_page_end:\n"
        ".previous\n");
extern const char lab_page_bytes[], lab_page_end[];

const char *lab_page(size_t *size)
{
    /* cppcheck-suppress comparePointers ; the assembler puts one behind the other */
    *size = (size_t)(lab_page_end - lab_page_bytes);
    return lab_page_bytes;
}

/* Writes text that can stand in an attribute's quotes. */
static void write_attribute(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("&<>\"", *text))
            fprintf(out, "&#%d;", *text);
        else
            putc(*text, out);
    }
}

/* Nothing in the trace can end the element: in JSON a `<` stands in strings alone, and there \u003c means the same. */
static void write_trace(FILE *out, const char *trace, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (trace[i] == '<')
            fputs("\\u003c", out);
        else
            putc(trace[i], out);
    }
}

int lab_write_page_of(FILE *out, const char *name, const char *about, const char *trace, size_t size)
{
    static const char before[] = "<script type=\"application/octet-stream\" id=\"module\">";
    size_t whole;
    const char *page = lab_page(&whole), *at = memmem(page, whole, before, sizeof before - 1);
    if (!at) abort(); /* page.html is ours */
    fwrite(page, 1, (size_t)(at - page), out);
    fputs("<script type=\"application/jsonl\" id=\"opened\" data-name=\"", out);
    write_attribute(out, name);
    fputs("\" data-about=\"", out);
    write_attribute(out, about);
    fputs("\">", out);
    write_trace(out, trace, size);
    fputs("</script>\n", out);
    fwrite(at, 1, whole - (size_t)(at - page), out);
    return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}
