/* Kubeconfigs: what is taken from a context, and that nothing is left out silently that would change who we are or whom we trust. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engines/kubernetes/kubeconfig.h"

static struct kubeconfig k;
static char text[KUBECONFIG_TEXT], file[4096];

#define HEAD "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
#define CONTEXT "contexts:\n- name: here\n  context: {cluster: one, user: me, namespace: shop}\n"
#define CLUSTER \
    "clusters:\n- name: one\n  cluster:\n    server: https://10.0.0.1:6443/\n    certificate-authority: pki/ca.crt\n"
#define USER "users:\n- name: me\n  user:\n"

static bool reads_as(const char *bytes, const char *context)
{
    kubeconfig_free(&k);
    text[0] = '\0';
    return kubeconfig_read(&k, bytes, strlen(bytes), "/folder", context, text);
}

static bool reads(const char *bytes)
{
    return reads_as(bytes, NULL);
}

static bool reads_user(const char *lines)
{
    snprintf(file, sizeof file, HEAD CONTEXT CLUSTER USER "%s", lines);
    return reads(file);
}

static bool reads_cluster(const char *lines)
{
    snprintf(file, sizeof file, HEAD CONTEXT USER "    token: t\nclusters:\n- name: one\n  cluster:\n%s",
             lines);
    return reads(file);
}

static void takes_the_current_context(void **state)
{
    assert_true(reads_user("    token: abc\n"));
    assert_string_equal(k.server, "https://10.0.0.1:6443");
    assert_string_equal(k.ca_file, "/folder/pki/ca.crt");
    assert_string_equal(k.namespace, "shop");
    assert_string_equal(k.token, "abc");
    assert_null(k.token_file);
}

static void takes_the_context_that_was_named(void **state)
{
    snprintf(file, sizeof file,
             HEAD CONTEXT "- name: there\n  context: {cluster: two}\n" CLUSTER
                          "- name: two\n  cluster: {server: 'http://127.0.0.1:8001'}\n" USER
                          "    token: abc\n");
    assert_true(reads_as(file, "there"));
    assert_string_equal(k.server, "http://127.0.0.1:8001");
    assert_null(k.token);
    assert_null(k.namespace);
    assert_false(reads_as(file, "nowhere"));
    assert_string_equal(text, "context 'nowhere': there is none of this name: `kubectl config get-contexts`");
}

static void json_is_yaml(void **state)
{
    assert_true(reads(
        "{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\",\"user\":\"u\"}}],"
        "\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"https://h\"}}],"
        "\"users\":[{\"name\":\"u\",\"user\":{\"tokenFile\":\"/run/token\",\"token\":\"old\"}}]}"));
    assert_string_equal(k.token_file, "/run/token");
    assert_null(k.token); /* the file comes first, as with client-go */
}

static void certificates_are_files_or_data(void **state)
{
    assert_true(reads_user("    client-certificate: me.crt\n    client-key: /etc/me.key\n"));
    assert_string_equal(k.certificate_file, "/folder/me.crt");
    assert_string_equal(k.key_file, "/etc/me.key");
    assert_true(reads_user("    client-certificate-data: LS0t\n    client-key-data: LS0tLQ==\n"));
    assert_string_equal(k.certificate_pem, "---");
    assert_string_equal(k.key_pem, "----");
    assert_null(k.certificate_file);
    assert_false(reads_user("    client-certificate-data: LS0t\n"));
    assert_string_equal(text, "user 'me': client-certificate and client-key belong together");
    assert_false(reads_user("    client-certificate-data: '*'\n    client-key-data: LS0tLQ==\n"));
    assert_false(reads_user(
        "    client-certificate-data: LS0t\n    client-key-data: AAAA\n")); /* zero bytes are no PEM */
}

static void what_is_not_done_is_refused(void **state)
{
    static const char *const users[][2] = {{"    exec: {command: aws}\n", "no plugins are run"},
                                           {"    auth-provider: {name: gcp}\n", "no plugins are run"},
                                           {"    username: me\n    password: x\n", "has no passwords any more"},
                                           {"    as: root\n", "impersonation is not supported"},
                                           {"    as-groups: [admins]\n", "impersonation is not supported"}};
    static const char *const clusters[][2] = {
        {"    server: https://h\n    insecure-skip-tls-verify: true\n", "whoever answers would be believed"},
        {"    server: https://h\n    tls-server-name: x\n", "name the server as its certificate does"},
        {"    server: https://h\n    proxy-url: http://p\n", "set https_proxy"},
        {"    server: http://h\n", "credentials go to a server of https:// only"},
        {"    server: ftp://h\n", "its server is no https://HOST:PORT"},
        {"    server: https://u:p@h\n", "its server is no https://HOST:PORT"},
        {"    server: \"https://h\\r\\nx\"\n", "its server is no https://HOST:PORT"},
        {"    certificate-authority: x\n", "it has no server"},
        {"    server: https://h\n    certificate-authority-data: x\n", "is no base64"}};
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        assert_false(reads_user(users[i][0]));
        assert_non_null(strstr(text, users[i][1]));
    }
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        assert_false(reads_cluster(clusters[i][0]));
        assert_non_null(strstr(text, clusters[i][1]));
    }
    assert_true(reads_cluster("    server: https://h\n    insecure-skip-tls-verify: false\n"));
}

static void says_what_is_wrong(void **state)
{
    assert_false(reads(""));
    assert_string_equal(text, "it is empty");
    assert_false(reads("a: [\n"));
    assert_non_null(strstr(text, "line 2:"));
    assert_false(reads("kind: Config\n"));
    assert_non_null(strstr(text, "it has no current-context"));
    assert_false(reads("a: 1\na: 2\n"));
    assert_string_equal(text, "a key occurs twice");
    assert_false(reads("[a]: 1\n"));
    assert_string_equal(text, "a key is no text");
    assert_false(reads(HEAD CLUSTER "contexts:\n- name: here\n  context: {cluster: two}\n"));
    assert_non_null(strstr(text, "the cluster that it names is not in this file"));
    assert_false(reads(HEAD CONTEXT CLUSTER));
    assert_non_null(strstr(text, "the user that it names is not in this file"));
}

static void few_lines_cannot_name_billions(void **state)
{
    char bomb[1024];
    size_t used = (size_t)snprintf(bomb, sizeof bomb, "a: &a0 [x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++)
        used += (size_t)snprintf(bomb + used, sizeof bomb - used,
                                 "b%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1,
                                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_false(reads(bomb));
    assert_string_equal(text, "it is too deep, or too large");
    assert_false(reads("&a [*a]\n")); /* in itself */
    assert_string_equal(text, "it is too deep, or too large");
}

static int tear_down(void **state)
{
    kubeconfig_free(&k);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_current_context),
        cmocka_unit_test(takes_the_context_that_was_named),
        cmocka_unit_test(json_is_yaml),
        cmocka_unit_test(certificates_are_files_or_data),
        cmocka_unit_test(what_is_not_done_is_refused),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(few_lines_cannot_name_billions),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
