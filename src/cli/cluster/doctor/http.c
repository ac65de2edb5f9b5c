/* Whether HTTP is served where the configuration says, and by whom. */
#define _GNU_SOURCE
#include "cli/cluster/doctor/doctor.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "agent/serve/http/http.h"

enum { WAIT_S = 2, ANSWER_MAX = 4096 };

/* The beginning of the answer to GET /status; "" if nobody answers in time. */
static void ask(const struct sockaddr_storage *address, char answer[ANSWER_MAX])
{
    static const char request[] = "GET /status HTTP/1.0\r\n\r\n";
    const struct timeval wait = {.tv_sec = WAIT_S};
    size_t size = 0;
    ssize_t got = 1;
    const int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) == 0 &&
        connect(fd, (const struct sockaddr *)address, config_address_size(address)) == 0 &&
        send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == sizeof request - 1)
        for (; got > 0 && size<ANSWER_MAX - 1; size += got> 0 ? (size_t)got : 0)
            got = recv(fd, answer + size, ANSWER_MAX - 1 - size, 0);
    answer[size] = '\0';
    if (fd >= 0) close(fd);
}

static enum verdict judge(const struct config *config, const char *where, char *text, size_t size)
{
    char answer[ANSWER_MAX], ours[2 * CONFIG_NAME_MAX + 40];
    ask(&config->http, answer);
    snprintf(ours, sizeof ours, "\"member\":\"%s\",\"cluster\":\"%s\"", config->members[config->self - 1].name,
             config->cluster);
    if (strstr(answer, ours)) {
        snprintf(text, size, "http://%s/ is the agent's", where);
        return FINE;
    }
    snprintf(text, size, "%s %s, so the agent serves none; let `http` name another, or off, and restart it",
             where, answer[0] ? "is somebody else's" : "does not answer");
    return config->http_is_default ? WARN : WRONG;
}

enum verdict doctor_http(const struct config *config, bool runs, const char *error, char *text, size_t size)
{
    char where[80];
    if (!config->http.ss_family) {
        snprintf(text, size, "is off");
        return FINE;
    }
    config_write_address(&config->http, where, sizeof where);
    if (runs && error) {
        snprintf(text, size, "%s; the agent runs without HTTP, and tries again", error);
        return config->http_is_default ? WARN : WRONG;
    }
    if (runs) return judge(config, where, text, size);
    const int fd = http_listen(&config->http, text, size);
    if (fd < 0) return config->http_is_default ? WARN : WRONG;
    close(fd);
    snprintf(text, size, "%s is free for an agent", where);
    return FINE;
}
