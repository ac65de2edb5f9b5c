/*
 * /: the live page. It is one file, web/built/live.html, and part of the program. Its policy lets the browser run exactly
 * the script and the style of that file, by their hashes, and connect to this agent alone.
 */
#define _GNU_SOURCE
#include "agent/serve/http/internal.h"

/* The files' bytes, placed by the assembler: a C array of this size takes a compiler seconds. */
__asm__(".section .rodata\n"
        "live_page:\n"
        ".incbin \"" ELECTOR_LIVE_PAGE "\"\n"
        "live_page_end:\n"
        "live_page_policy:\n"
        ".incbin \"" ELECTOR_LIVE_POLICY "\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char live_page[], live_page_end[], live_page_policy[];

enum MHD_Result http_page(struct http *http, struct MHD_Connection *c)
{
    static const struct {
        const char *name, *value;
    } headers[] = {
        {"Content-Security-Policy", live_page_policy},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    /* cppcheck-suppress comparePointers ; the assembler puts one behind the other */
    const size_t size = (size_t)(live_page_end - live_page);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)live_page, MHD_RESPMEM_PERSISTENT);
    for (size_t i = 0; response && i < sizeof headers / sizeof *headers; i++)
        (void)MHD_add_response_header(response, headers[i].name, headers[i].value);
    return http_answer(http, c, MHD_HTTP_OK, "text/html; charset=utf-8", response);
}
