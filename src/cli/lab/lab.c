/*
 * elector lab: serves the laboratory page on loopback. The page needs no server, but some browsers open no files, and an
 * address is easier to pass on than a path.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/lab/page.h"

enum { PORT_MAX = 65535, CONNECTIONS_MAX = 32, IDLE_TIMEOUT_S = 30 };

static const struct {
    const char *name, *value;
} headers[] = {
    {"Content-Type", "text/html; charset=utf-8"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-cache"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *text,
                                 size_t size, bool is_page)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    for (size_t i = 0; is_page && i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i].name, headers[i].value);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, "Allow", "GET, HEAD");
    const enum MHD_Result done = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return done;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *body, size_t *body_size,
                              void **request)
{
    static const char unknown[] = "There is one page here: /\n", refused[] = "GET and HEAD only\n";
    (void)context, (void)version, (void)body, (void)request;
    *body_size = 0;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, refused, sizeof refused - 1, false);
    if (strcmp(path, "/") != 0)
        return send_text(connection, MHD_HTTP_NOT_FOUND, unknown, sizeof unknown - 1, false);
    size_t size;
    const char *page = lab_page(&size);
    return send_text(connection, MHD_HTTP_OK, page, size, true);
}

static int serve(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends,
                NULL); /* before the daemon's thread begins, so that only sigwait() gets them */
    errno = 0;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, port, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_S, MHD_OPTION_END);
    if (!daemon) {
        fprintf(stderr, "elector lab: cannot listen on 127.0.0.1:%u: %s; choose another with --port\n", port,
                errno ? strerror(errno) : "refused");
        return CLI_CANNOT_TELL;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("http://127.0.0.1:%u/\n", info ? info->port : port);
    int status = cli_finish("lab", stdout, CLI_YES), ended = 0;
    if (status == CLI_YES) sigwait(&ends, &ended);
    MHD_stop_daemon(daemon);
    return status;
}

static int write_page(const char *path)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!out) {
        fprintf(stderr, "elector lab: %s: cannot write it: %s\n", path, strerror(errno));
        return CLI_CANNOT_TELL;
    }
    size_t size;
    const char *page = lab_page(&size);
    bool written = fwrite(page, 1, size, out) == size;
    if (out == stdout) return cli_finish("lab", out, CLI_YES);
    written = fclose(out) == 0 && written;
    if (written) return CLI_YES;
    fprintf(stderr, "elector lab: %s: cannot write all of it\n", path);
    return CLI_CANNOT_TELL;
}

static int write_help(void)
{
    puts(
        "Usage: elector lab [--port N]\n"
        "       elector lab --write FILE\n\n"
        "Serves the laboratory page on loopback and prints its address: every election of `elector sim`, to watch\n"
        "forwards and backwards and to interfere with. The page is one file that loads nothing; with --write it can be\n"
        "opened, sent or put on any web server without this program.\n\n"
        "  --port N                        listen on this port of 127.0.0.1 (otherwise one that is free)\n"
        "  --write FILE                    write the page to a file instead (- for standard output)\n\n"
        "Exit codes: 0 ended by a signal, or written; 2 usage; 3 the port or the file cannot be used.");
    return cli_finish("lab", stdout, CLI_YES);
}

int cli_lab(int argc, char **argv)
{
    uint64_t port = 0;
    const char *file = NULL;
    for (int at = 1; at < argc; at++) {
        const char *value = NULL;
        if (strcmp(argv[at], "--help") == 0) return write_help();
        if (cli_option(argc, argv, &at, "port", &value)) {
            if (!value || !units_read_number(&value, &port) || *value != '\0' || port > PORT_MAX)
                return cli_usage_error("lab", "--port needs a number from 0 to %d", PORT_MAX);
        } else if (cli_option(argc, argv, &at, "write", &file)) {
            if (!file) return cli_usage_error("lab", "--write needs a file name, or -");
        } else {
            return cli_unknown("lab", cli_lab, argv[at]);
        }
    }
    return file ? write_page(file) : serve((uint16_t)port);
}
