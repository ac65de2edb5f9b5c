/* The table of paths, and short answers. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/serve/http/internal.h"

/* ---- Short answers ---- */

/* NULL: out of memory. Steals the reference. */
static struct MHD_Response *make_json(json_t *line)
{
    struct http_text text = {0};
    struct MHD_Response *response = NULL;
    if (http_set_json(&text, "", line, "\n"))
        response = MHD_create_response_from_buffer(text.size, text.bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) free(text.bytes);
    return response;
}

static enum MHD_Result answer_json(struct http *http, struct MHD_Connection *c, unsigned code, json_t *line)
{
    return http_answer(http, c, code, "application/json", make_json(line));
}

static json_t *error_of(const char *error, const char *message)
{
    return json_pack("{ss ss}", "error", error, "message", message);
}

static enum MHD_Result refuse(struct http *http, struct MHD_Connection *c, unsigned code, const char *error,
                              const char *message)
{
    return answer_json(http, c, code, error_of(error, message));
}

static enum MHD_Result refuse_method(struct http *http, struct MHD_Connection *c)
{
    struct MHD_Response *response = make_json(error_of("method", "HTTP is read-only: use GET or HEAD"));
    if (response) (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    return http_answer(http, c, MHD_HTTP_METHOD_NOT_ALLOWED, "application/json", response);
}

/* ---- Paths ---- */

/* Unreachable peers are not unhealthy: restarting this agent would not help. */
static enum MHD_Result on_health(struct http *http, struct MHD_Connection *c)
{
    const char *why = host_has_failed(http->with.host) ? "disk" : http->unhealthy;
    if (why) return refuse(http, c, MHD_HTTP_SERVICE_UNAVAILABLE, why, "this agent is about to stop");
    return answer_json(http, c, MHD_HTTP_OK, json_pack("{sb}", "ok", 1));
}

bool http_may_tell(const struct http *http, const struct leadership *o)
{
    return config_is_public(http->with.config, host_name(o->group));
}

/* Whether a client of this agent leads now. It is not enough that the member leads: a client must hold the
 * leadership. */
static bool leads_here(const struct http *http, const struct leadership *o, const struct host_view *view)
{
    const struct leadership_tenure *t = o->tenure;
    return view->role == EL_LEADER && t->is_held && t->holder && t->token == view->token &&
           host_clock(http->with.host) < leadership_told_until(o);
}

static enum MHD_Result refuse_unknown(struct http *http, struct MHD_Connection *c)
{
    return refuse(http, c, MHD_HTTP_NOT_FOUND, "unknown-group", "this agent does not know the group");
}

static enum MHD_Result on_leader(struct http *http, struct MHD_Connection *c, const char *group)
{
    const struct leadership *o = serve_find_leadership(http->with.serve, group);
    if (!o) return refuse_unknown(http, c);
    const struct host_view view = host_view_of(o->group);
    json_t *line = serve_leader_event(http->with.serve, o);
    if (line) json_object_del(line, "event");
    return answer_json(http, c, leads_here(http, o, &view) ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, line);
}

static enum MHD_Result on_history(struct http *http, struct MHD_Connection *c, const char *group)
{
    return answer_json(http, c, MHD_HTTP_OK, serve_history(http->with.serve, group, SERVE_HISTORY_MAX));
}

static enum MHD_Result on_why(struct http *http, struct MHD_Connection *c, const char *group)
{
    return answer_json(http, c, MHD_HTTP_OK, serve_why(http->with.serve, group));
}

/* A path that ends with the name of a group. */
static enum MHD_Result on_group(struct http *http, struct MHD_Connection *c, const char *url,
                                const char *prefix,
                                enum MHD_Result (*handle)(struct http *, struct MHD_Connection *,
                                                          const char *group))
{
    char name[CONFIG_NAME_MAX + 1];
    const bool is_name = http_group_of(url, prefix, name);
    if (is_name && !config_is_public(http->with.config, name))
        return refuse(http, c, MHD_HTTP_FORBIDDEN, "not-permitted",
                      "the group has an `allow-read` line, and HTTP does not know who asks: use the socket");
    if (!is_name || !serve_remembers(http->with.serve, name)) return refuse_unknown(http, c);
    return handle(http, c, name);
}

static enum MHD_Result on_overview(struct http *http, struct MHD_Connection *c)
{
    return answer_json(http, c, MHD_HTTP_OK, http_describe(http));
}

static enum MHD_Result on_groups(struct http *http, struct MHD_Connection *c)
{
    json_t *list = NULL;
    const char *mistake = http_list_groups(http, c, &list);
    if (mistake) return refuse(http, c, MHD_HTTP_BAD_REQUEST, "query", mistake);
    return answer_json(http, c, MHD_HTTP_OK, list);
}

static enum MHD_Result on_events(struct http *http, struct MHD_Connection *c)
{
    uint64_t most;
    const char *mistake = http_read_events(c, &most);
    if (mistake) return refuse(http, c, MHD_HTTP_BAD_REQUEST, "query", mistake);
    if (http->reader_count < HTTP_READERS_MAX) return http_events(http, c, most);
    return refuse(http, c, MHD_HTTP_SERVICE_UNAVAILABLE, "too-many", "16 clients read /events, the maximum");
}

static enum MHD_Result route(struct http *http, struct MHD_Connection *c, const char *url)
{
    static const struct {
        const char *path;
        enum MHD_Result (*handle)(struct http *, struct MHD_Connection *);
    } paths[] = {{"/", http_page},           {"/healthz", on_health},    {"/status", http_status},
                 {"/metrics", http_metrics}, {"/overview", on_overview}, {"/groups", on_groups},
                 {"/events", on_events}};
    static const struct {
        const char *prefix;
        enum MHD_Result (*handle)(struct http *, struct MHD_Connection *, const char *group);
    } of_groups[] = {{"/leader/", on_leader}, {"/history/", on_history}, {"/why/", on_why}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(url, paths[i].path) == 0) return paths[i].handle(http, c);
    for (size_t i = 0; i < sizeof of_groups / sizeof *of_groups; i++)
        if (strncmp(url, of_groups[i].prefix, strlen(of_groups[i].prefix)) == 0)
            return on_group(http, c, url, of_groups[i].prefix, of_groups[i].handle);
    return refuse(
        http, c, MHD_HTTP_NOT_FOUND, "unknown-path",
        "known paths: / (a page), /healthz, /status, /overview, /groups, /leader/GROUP, /history/GROUP, "
        "/why/GROUP, /metrics, /events");
}

/* ---- Access ---- */

static enum MHD_Result check_host(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    bool *is_good = context;
    (void)kind;
    if (strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0 && !(value && http_is_plain_host(value))) *is_good = false;
    return MHD_YES;
}

/* Prevents DNS rebinding: a web page could point its own name at 127.0.0.1 and let a browser ask. Then the Host
 * header has that name. */
static bool is_meant(const struct http *http, struct MHD_Connection *c)
{
    bool is_good = true;
    if (http->is_local) (void)MHD_get_connection_values(c, MHD_HEADER_KIND, check_host, &is_good);
    return is_good;
}

enum MHD_Result http_on_request(void *context, struct MHD_Connection *c, const char *url, const char *method,
                                const char *version, const char *upload, size_t *upload_size, void **seen)
{
    struct http *http = context;
    static char once;
    (void)version, (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse_method(http, c);
    if (!*seen) { /* only the headers are here; an answer now would close the connection */
        *seen = &once;
        return MHD_YES;
    }
    if (*upload_size > 0) { /* ignore a body */
        *upload_size = 0;
        return MHD_YES;
    }
    if (!http_may_go_on(http, c, 0)) return MHD_YES; /* libmicrohttpd asks again in the next turn */
    if (!is_meant(http, c))
        return refuse(http, c, MHD_HTTP_FORBIDDEN, "host",
                      "use localhost or a numeric address: other names could be anybody's");
    return route(http, c, url);
}
