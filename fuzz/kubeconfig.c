/* Bytes as a kubeconfig: either there is a server, and nothing that cannot be sent to it, or there is one line that says why not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines/kubernetes/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kubeconfig k;
    char text[KUBECONFIG_TEXT] = "";
    const bool is_good = kubeconfig_read(&k, (const char *)data, size, "/folder", NULL, text);
    if (is_good == (text[0] != '\0') || strnlen(text, sizeof text) == sizeof text) abort();
    if (is_good && (!k.server || !kubeconfig_is_server(k.server))) abort();
    if (is_good && (k.certificate_file || k.certificate_pem) != (k.key_file || k.key_pem)) abort();
    const bool has_secret = is_good && (k.token || k.token_file || k.key_file || k.key_pem);
    if (has_secret && strncmp(k.server, "https://", 8) != 0) abort();
    if (!is_good && (k.server || k.token)) abort();
    kubeconfig_free(&k);
    return 0;
}
