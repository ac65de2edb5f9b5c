/* See kubeconfig.h. */
#define _GNU_SOURCE
#include "engines/kubernetes/kubeconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "engines/kubernetes/yaml.h"

enum { PEM_MAX = 1 << 20 };

/* What would change who we are, or whom we trust, and is not done here: to leave it out would be to do something else. */
static const char *const refused[][3] = {
    {"cluster", "insecure-skip-tls-verify", "whoever answers would be believed: name a certificate-authority"},
    {"cluster", "tls-server-name", "it is not supported: name the server as its certificate does"},
    {"cluster", "proxy-url", "it is not supported: set https_proxy in the environment"},
    {"user", "exec", "no plugins are run: use a token, a tokenFile or a client certificate"},
    {"user", "auth-provider", "no plugins are run: use a token, a tokenFile or a client certificate"},
    {"user", "username", "Kubernetes has no passwords any more: use a token or a client certificate"},
    {"user", "as", "impersonation is not supported: use credentials of that user"},
    {"user", "as-groups", "impersonation is not supported: use credentials of that user"},
};

static bool fail(char text[KUBECONFIG_TEXT], const char *what, const char *name, const char *why)
{
    snprintf(text, KUBECONFIG_TEXT, "%s '%.100s': %s", what, name, why);
    return false;
}

static const char *text_in(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text && *text ? text : NULL;
}

/* The `what` of the list's entry of this name: clusters: [{name: NAME, cluster: {...}}] */
static const json_t *entry(const json_t *root, const char *what, const char *name)
{
    char list[16];
    size_t i;
    const json_t *each;
    snprintf(list, sizeof list, "%ss", what);
    json_array_foreach(json_object_get(root, list), i, each)
    {
        const char *its = json_string_value(json_object_get(each, "name"));
        if (its && strcmp(its, name) == 0) return json_object_get(each, what);
    }
    return NULL;
}

static bool is_switched_off(const json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_null(value) || (text && (!*text || strcmp(text, "false") == 0));
}

static bool is_supported(const char *what, const char *name, const json_t *object, char text[KUBECONFIG_TEXT])
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const json_t *value = strcmp(refused[i][0], what) == 0 ? json_object_get(object, refused[i][1]) : NULL;
        if (!value || is_switched_off(value)) continue;
        snprintf(text, KUBECONFIG_TEXT, "%s '%.100s' has %s: %s", what, name, refused[i][1], refused[i][2]);
        return false;
    }
    return true;
}

/* A path of the file, relative to its folder. NULL: there is none, or no memory. */
static char *path_in(const json_t *object, const char *name, const char *folder)
{
    const char *path = text_in(object, name);
    char *whole = NULL;
    if (!path) return NULL;
    if (path[0] == '/' || !*folder) return strdup(path);
    return asprintf(&whole, "%s/%s", folder, path) < 0 ? NULL : whole;
}

/* False: it is there, and is no base64 of a PEM text. */
static bool pem_in(const json_t *object, const char *name, char **pem)
{
    const char *text = text_in(object, name);
    const size_t length = text ? strlen(text) : 0;
    size_t size = 0;
    if (!text) return true;
    if (length > PEM_MAX) return false;
    char *bytes = malloc(length + 1);
    const char *end = text;
    if (!bytes ||
        sodium_base642bin((unsigned char *)bytes, length, text, length, "\r\n ", &size, &end,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        *end || size == 0 || memchr(bytes, '\0', size)) {
        free(bytes);
        return false;
    }
    bytes[size] = '\0';
    *pem = bytes;
    return true;
}

bool kubeconfig_is_server(const char *url)
{
    const char *host = strncmp(url, "https://", 8) == 0  ? url + 8
                       : strncmp(url, "http://", 7) == 0 ? url + 7
                                                         : NULL;
    if (!host || !*host || *host == '/' || *host == ':' || strlen(url) > 1024) return false;
    for (const char *at = host; *at; at++)
        if (*at <= ' ' || *at == 127 || strchr("@?#\\\"<>", *at)) return false;
    return true;
}

static bool read_cluster(struct kubeconfig *k, const json_t *cluster, const char *name, const char *folder,
                         char text[KUBECONFIG_TEXT])
{
    const char *server = text_in(cluster, "server");
    if (!server) return fail(text, "cluster", name, "it has no server: https://HOST:PORT");
    if (!kubeconfig_is_server(server)) return fail(text, "cluster", name, "its server is no https://HOST:PORT");
    if (!is_supported("cluster", name, cluster, text)) return false;
    k->server = strdup(server);
    for (size_t end = k->server ? strlen(k->server) : 0; end && k->server[end - 1] == '/'; end--)
        k->server[end - 1] = '\0';
    if (!pem_in(cluster, "certificate-authority-data", &k->ca_pem))
        return fail(text, "cluster", name, "its certificate-authority-data is no base64");
    if (!k->ca_pem) k->ca_file = path_in(cluster, "certificate-authority", folder);
    if (!k->server) return fail(text, "cluster", name, "out of memory");
    return true;
}

static bool read_user(struct kubeconfig *k, const json_t *user, const char *name, const char *folder,
                      char text[KUBECONFIG_TEXT])
{
    const char *token = text_in(user, "token");
    if (!is_supported("user", name, user, text)) return false;
    if (!pem_in(user, "client-certificate-data", &k->certificate_pem) ||
        !pem_in(user, "client-key-data", &k->key_pem))
        return fail(text, "user", name, "its client-certificate-data or client-key-data is no base64");
    if (!k->certificate_pem) k->certificate_file = path_in(user, "client-certificate", folder);
    if (!k->key_pem) k->key_file = path_in(user, "client-key", folder);
    if ((k->certificate_pem || k->certificate_file) != (k->key_pem || k->key_file))
        return fail(text, "user", name, "client-certificate and client-key belong together");
    k->token_file = path_in(user, "tokenFile", folder); /* which comes before a token, as with client-go */
    if (!k->token_file && token) k->token = strdup(token);
    return true;
}

static bool read_context(struct kubeconfig *k, const json_t *root, const char *name, const char *folder,
                         char text[KUBECONFIG_TEXT])
{
    const json_t *context = entry(root, "context", name);
    const char *cluster = text_in(context, "cluster"), *user = text_in(context, "user"),
               *namespace = text_in(context, "namespace");
    if (!context)
        return fail(text, "context", name, "there is none of this name: `kubectl config get-contexts`");
    if (!cluster || !entry(root, "cluster", cluster))
        return fail(text, "context", name, "the cluster that it names is not in this file");
    if (user && !entry(root, "user", user))
        return fail(text, "context", name, "the user that it names is not in this file");
    if (!read_cluster(k, entry(root, "cluster", cluster), cluster, folder, text)) return false;
    if (user && !read_user(k, entry(root, "user", user), user, folder, text)) return false;
    k->namespace = namespace ? strdup(namespace) : NULL;
    const bool has_secret = k->token || k->token_file || k->key_file || k->key_pem;
    if (has_secret && strncmp(k->server, "https://", 8) != 0)
        return fail(text, "cluster", cluster, "credentials go to a server of https:// only");
    return true;
}

bool kubeconfig_read(struct kubeconfig *k, const char *bytes, size_t size, const char *folder,
                     const char *context, char text[KUBECONFIG_TEXT])
{
    char why[YAML_TEXT];
    json_t *root = yaml_read(bytes, size, why);
    *k = (struct kubeconfig){0};
    if (!root) {
        snprintf(text, KUBECONFIG_TEXT, "%s", why);
        return false;
    }
    const char *name = context ? context : text_in(root, "current-context");
    bool is_good = false;
    if (name)
        is_good = read_context(k, root, name, folder, text);
    else
        snprintf(text, KUBECONFIG_TEXT,
                 "it has no current-context: `kubectl config use-context NAME`, or context=NAME in the URL");
    json_decref(root);
    if (!is_good) kubeconfig_free(k);
    return is_good;
}

static void forget(char **secret)
{
    if (*secret) explicit_bzero(*secret, strlen(*secret));
    free(*secret);
}

void kubeconfig_free(struct kubeconfig *k)
{
    free(k->server);
    free(k->ca_file);
    free(k->certificate_file);
    free(k->key_file);
    free(k->token_file);
    free(k->ca_pem);
    free(k->certificate_pem);
    forget(&k->key_pem);
    forget(&k->token);
    free(k->namespace);
    *k = (struct kubeconfig){0};
}
