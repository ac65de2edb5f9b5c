/* See credentials.h. */
#define _GNU_SOURCE /* secure_getenv */
#include "engines/kubernetes/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

enum { CONFIG_MAX = 1 << 20, NAMESPACE_MAX = 63 };
static const uint64_t token_lives = 10 * NS_PER_S;
static const char pod_folder[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/* ---- Files ---- */

/* The size, at most size - 1; a '\0' follows. -1: errno says why not. Rotated files are links: what they name now is read. */
static ssize_t read_file(const char *path, char *bytes, size_t size)
{
    struct stat file;
    size_t used = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    ssize_t got = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) ? 1 : -1;
    if (got < 0) errno = EINVAL;
    while (got > 0 && used + 1 < size && (got = read(fd, bytes + used, size - 1 - used)) > 0)
        used += (size_t)got;
    const int error = errno;
    close(fd);
    errno = error;
    bytes[used] = '\0';
    return got < 0 ? -1 : (ssize_t)used;
}

static bool is_readable(const char *path, const char *what, char text[ENGINE_TEXT])
{
    if (!path || access(path, R_OK) == 0) return true;
    snprintf(text, ENGINE_TEXT, "cannot read %.200s, the %s: %s", path, what, strerror(errno));
    return false;
}

/* Without spaces at its ends. False: it is empty, or has what would end the header that it goes into. */
static bool clean_token(char *token)
{
    const char *begin = token + strspn(token, " \t\r\n");
    size_t size = strlen(begin);
    while (size && strchr(" \t\r\n", begin[size - 1])) size--;
    memmove(token, begin, size);
    token[size] = '\0';
    for (size_t i = 0; i < size; i++)
        if (token[i] <= ' ' || token[i] == 127) return false;
    return size > 0;
}

bool credentials_refresh(struct credentials *c, uint64_t now_ns)
{
    static char read[CREDENTIALS_TOKEN_MAX];
    const bool is_due = now_ns == 0 || now_ns - c->token_read_ns >= token_lives;
    if (!c->config.token_file || !is_due) return false;
    c->token_read_ns = clock_boottime_ns();
    const ssize_t size = read_file(c->config.token_file, read, sizeof read);
    const bool is_new =
        size > 0 && (size_t)size < sizeof read - 1 && clean_token(read) && strcmp(read, c->token) != 0;
    if (is_new) snprintf(c->token, sizeof c->token, "%s", read);
    c->token_number += is_new;
    explicit_bzero(read, sizeof read);
    return is_new; /* a file that cannot be read now leaves the token that we have */
}

static bool has_token(struct credentials *c, char text[ENGINE_TEXT])
{
    if (c->config.token) {
        snprintf(c->token, sizeof c->token, "%s", c->config.token);
        if (strlen(c->config.token) < sizeof c->token && clean_token(c->token)) return true;
        snprintf(text, ENGINE_TEXT, "%.200s: its token is no token", c->source);
        return false;
    }
    if (!is_readable(c->config.token_file, "token's file", text)) return false;
    if (!c->config.token_file || credentials_refresh(c, 0)) return true;
    snprintf(text, ENGINE_TEXT, "%.200s holds no token", c->config.token_file);
    return false;
}

/* ---- In a pod ---- */

static bool is_in_pod(void)
{
    const char *host = secure_getenv("KUBERNETES_SERVICE_HOST");
    return host && *host;
}

static char *path_below(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static bool open_pod(struct credentials *c, const char *folder, char text[ENGINE_TEXT])
{
    const char *host = secure_getenv("KUBERNETES_SERVICE_HOST"),
               *port = secure_getenv("KUBERNETES_SERVICE_PORT");
    struct kubeconfig *k = &c->config;
    char namespace[NAMESPACE_MAX + 2];
    snprintf(c->source, sizeof c->source, "%s", folder);
    if (!host || !*host) {
        snprintf(
            text, ENGINE_TEXT,
            "serviceaccount= is for a pod, where KUBERNETES_SERVICE_HOST names the API server: it is not set");
        return false;
    }
    const bool is_v6 = strchr(host, ':') != NULL;
    if (asprintf(&k->server, "https://%s%s%s:%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "",
                 port && *port ? port : "443") < 0)
        k->server = NULL;
    k->ca_file = path_below(folder, "ca.crt");
    k->token_file = path_below(folder, "token");
    char *path = path_below(folder, "namespace");
    if (path && read_file(path, namespace, sizeof namespace) > 0) {
        namespace[strcspn(namespace, " \t\r\n")] = '\0';
        k->namespace = strdup(namespace);
    }
    free(path);
    if (!k->server || !kubeconfig_is_server(k->server)) {
        snprintf(text, ENGINE_TEXT, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name no server");
        return false;
    }
    return true;
}

/* ---- By a kubeconfig ---- */

/* Several files would have to be merged. Of a list with one name that is there, that one is taken. */
static bool choose_file(const char *list, char path[PATH_MAX], char text[ENGINE_TEXT])
{
    unsigned found = 0;
    for (const char *at = list; *at;) {
        const size_t size = strcspn(at, ":");
        char one[PATH_MAX];
        snprintf(one, sizeof one, "%.*s", (int)size, at);
        if (size && access(one, F_OK) == 0 && found++ == 0) snprintf(path, PATH_MAX, "%s", one);
        at += size + (at[size] == ':');
    }
    if (found == 1) return true;
    snprintf(text, ENGINE_TEXT,
             found
                 ? "KUBECONFIG names several files: `kubectl config view --flatten > FILE`, and kubeconfig=FILE"
                 : "KUBECONFIG names no file that is there: %.200s",
             list);
    return false;
}

static bool open_file(struct credentials *c, const char *path, const char *context, char text[ENGINE_TEXT])
{
    char folder[PATH_MAX], why[KUBECONFIG_TEXT];
    char *bytes = malloc(CONFIG_MAX);
    const ssize_t size = bytes ? read_file(path, bytes, CONFIG_MAX) : -1;
    snprintf(c->source, sizeof c->source, "%s", path);
    if (size < 0) {
        snprintf(text, ENGINE_TEXT, "cannot read %.200s, the kubeconfig: %s", path, strerror(errno));
        free(bytes);
        return false;
    }
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
    const bool is_good =
        kubeconfig_read(&c->config, bytes, (size_t)size, slash == path ? "/" : folder, context, why);
    if (!is_good) snprintf(text, ENGINE_TEXT, "%.120s: %.380s", path, why);
    explicit_bzero(bytes, (size_t)size);
    free(bytes);
    return is_good;
}

/* The order of kubectl and of client-go's programs: what was named, the environment, the pod, the home. */
static bool choose(struct credentials *c, const struct engine_url *url, char text[ENGINE_TEXT])
{
    const char *file = url_option(url, "kubeconfig"), *list = secure_getenv("KUBECONFIG"),
               *context = url_option(url, "context"), *folder = url_option(url, "serviceaccount"),
               *home = secure_getenv("HOME");
    char path[PATH_MAX];
    if (file && folder) {
        snprintf(text, ENGINE_TEXT, "%.160s: kubeconfig or serviceaccount, not both", url->text);
        return false;
    }
    if (folder) return open_pod(c, folder, text);
    if (file) return open_file(c, file, context, text);
    if (list && *list) return choose_file(list, path, text) && open_file(c, path, context, text);
    if (is_in_pod() && !context) return open_pod(c, pod_folder, text);
    snprintf(path, sizeof path, "%s/.kube/config", home ? home : "");
    if (access(path, F_OK) == 0) return open_file(c, path, context, text);
    snprintf(
        text, ENGINE_TEXT,
        "no credentials for Kubernetes: this is no pod, and there is no %.200s; set kubeconfig=FILE or KUBECONFIG",
        path);
    return false;
}

bool credentials_open(struct credentials *c, const struct engine_url *url, char text[ENGINE_TEXT])
{
    const struct kubeconfig *k = &c->config;
    return choose(c, url, text) && is_readable(k->ca_file, "certificate authority", text) &&
           is_readable(k->certificate_file, "client certificate", text) &&
           is_readable(k->key_file, "key of the client certificate", text) && has_token(c, text);
}

void credentials_close(struct credentials *c)
{
    kubeconfig_free(&c->config);
    explicit_bzero(c->token, sizeof c->token);
}

struct fetch_tls credentials_tls(const struct credentials *c)
{
    const struct kubeconfig *k = &c->config;
    return (struct fetch_tls){.ca = k->ca_file,
                              .certificate = k->certificate_file,
                              .key = k->key_file,
                              .ca_pem = k->ca_pem,
                              .certificate_pem = k->certificate_pem,
                              .key_pem = k->key_pem};
}
