/* Bytes as a kubeconfig: either there is a server, and nothing that cannot be sent to it, or there is one line that says why not. */
#define _GNU_SOURCE /* strnlen */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/kubernetes/kubeconfig.h"

/* The file as it is, or the end of one that is good so far: within the user, or within the cluster. */
static const char user[] =
    "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
    "clusters: [{name: k, cluster: {server: 'https://h'}}]\nusers:\n- name: u\n  user:\n    ",
                  cluster[] = "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
                              "users: [{name: u, user: {token: t}}]\nclusters:\n- name: k\n  cluster:\n    ";

static size_t write_file(char *file, const uint8_t *data, size_t size)
{
    const char *head = size == 0 || data[0] % 3 == 0 ? "" : data[0] % 3 == 1 ? user : cluster;
    const size_t length = strlen(head), rest = size && *head ? size - 1 : size;
    snprintf(file, sizeof user + sizeof cluster, "%s", head);
    memcpy(file + length, data + (size - rest), rest);
    return length + rest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kubeconfig k;
    char text[KUBECONFIG_TEXT] = "";
    char *file = malloc(size + sizeof user + sizeof cluster);
    if (!file) abort();
    const bool is_good = kubeconfig_read(&k, file, write_file(file, data, size), "/folder", NULL, text);
    free(file);
    if (is_good == (text[0] != '\0') || strnlen(text, sizeof text) == sizeof text) abort();
    if (is_good && (!k.server || !kubeconfig_is_server(k.server))) abort();
    if (is_good && (k.certificate_file || k.certificate_pem) != (k.key_file || k.key_pem)) abort();
    const bool has_secret = is_good && (k.token || k.token_file || k.key_file || k.key_pem);
    if (has_secret && strncmp(k.server, "https://", 8) != 0) abort();
    if (!is_good && (k.server || k.token)) abort();
    kubeconfig_free(&k);
    return 0;
}
