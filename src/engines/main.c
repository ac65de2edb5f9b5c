/* elector-engine: see engine.h. The library starts it; `elector agent --engine URL` becomes it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "engines/run.h"

enum { USAGE = 64, CLIENT = 3 };

static int usage(const char *what)
{
    fprintf(stderr,
            "elector-engine: %s; it is started by libelector, or by hand: elector-engine [--verbose] [--json] "
            "--socket PATH URL\n",
            what);
    return USAGE;
}

/*
 * The process that the library started ends at once, so that the application finds no child that it does not know. Nobody
 * else has the other end of this socket, so its end is the end of the client, and of the keeper of its work.
 */
static bool leave_the_client(void)
{
    const pid_t pid = fork();
    if (pid > 0) _exit(0);
    return pid == 0;
}

static bool is_client(int fd)
{
    int domain = 0, type = 0;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return false;
    size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && domain == AF_UNIX && type == SOCK_STREAM;
}

int main(int count, char **arguments)
{
    struct engine_request request = {.client = -1};
    if (!descriptors_fill_standard()) return USAGE;
    for (int i = 1; i < count; i++) {
        const char *one = arguments[i];
        if (strcmp(one, "--client") == 0)
            request.client = CLIENT;
        else if (strcmp(one, "--verbose") == 0)
            request.verbose = true;
        else if (strcmp(one, "--json") == 0)
            request.json = true;
        else if (strcmp(one, "--socket") == 0 && i + 1 < count)
            request.socket = arguments[++i];
        else if (one[0] == '-' || request.url)
            return usage(one[0] == '-' ? "unknown option" : "one URL is enough");
        else
            request.url = one;
    }
    if (!request.url) return usage("a URL is missing");
    if ((request.client < 0) == !request.socket) return usage("--socket PATH is missing");
    if (request.client >= 0 && !is_client(CLIENT)) return usage("--client is for the library alone");
    if (request.client >= 0 && (fcntl(CLIENT, F_SETFD, FD_CLOEXEC) != 0 || !leave_the_client())) return USAGE;
    return engine_run(&request);
}
