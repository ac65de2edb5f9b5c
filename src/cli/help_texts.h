/* The documents and manual pages inside the program. cmake/help_texts.cmake makes the table. */
#ifndef ELECTOR_CLI_HELP_TEXTS_H
#define ELECTOR_CLI_HELP_TEXTS_H

struct cli_help_text {
    const char *name;        /* its path: "docs/run.md", "man/elector.conf.5.scd" */
    const char *begin, *end; /* not zero-terminated */
};
extern const struct cli_help_text cli_help_texts[];
extern const unsigned cli_help_text_count;

#endif
