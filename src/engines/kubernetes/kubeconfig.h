/* What a kubeconfig file says of one context. Pure: files that it names are read by others. */
#ifndef ELECTOR_ENGINES_KUBERNETES_KUBECONFIG_H
#define ELECTOR_ENGINES_KUBERNETES_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum { KUBECONFIG_TEXT = 400 };

/* Texts are allocated; NULL: it says none. Paths are absolute, or relative to where this process is. */
struct kubeconfig {
    char *server; /* "https://HOST:PORT/PATH", without a slash at its end */
    char *ca_file, *certificate_file, *key_file, *token_file;
    char *ca_pem, *certificate_pem, *key_pem; /* ...-data */
    char *token;
    char *namespace;
};

/* `folder` is that of the file; `context` NULL: the current one. False: `text` says what is wrong, and what to do. */
bool kubeconfig_read(struct kubeconfig *, const char *bytes, size_t size, const char *folder,
                     const char *context, char text[KUBECONFIG_TEXT]);
void kubeconfig_free(struct kubeconfig *);
/* Whether this can be a server's URL: https:// or http://, a host, and no user. */
bool kubeconfig_is_server(const char *url);

#endif
