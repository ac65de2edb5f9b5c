/*
 * Which API server, and who we are there: the pod's service account, or a kubeconfig. The token of a file is read again every few
 * seconds, because Kubernetes replaces it while the pod runs.
 */
#ifndef ELECTOR_ENGINES_KUBERNETES_CREDENTIALS_H
#define ELECTOR_ENGINES_KUBERNETES_CREDENTIALS_H

#include "engines/engine.h"
#include "engines/fetch/fetch.h"
#include "engines/kubernetes/kubeconfig.h"

enum { CREDENTIALS_TOKEN_MAX = 16 << 10 };

struct credentials {
    struct kubeconfig config;
    char source[300]; /* the kubeconfig, or the service account's folder: for people */
    char token[CREDENTIALS_TOKEN_MAX];
    uint64_t token_read_ns;
    uint64_t token_number; /* counts the tokens that the file had */
};

/* False: `text` says what is wrong, and what to do. */
bool credentials_open(struct credentials *, const struct engine_url *, char text[ENGINE_TEXT]);
void credentials_close(struct credentials *);
/* Files and texts of PEM, borrowed. */
struct fetch_tls credentials_tls(const struct credentials *);
/* Reads the token's file again if that was long ago, or at once if `now_ns` is 0. Whether it is another token by now. */
bool credentials_refresh(struct credentials *, uint64_t now_ns);

#endif
