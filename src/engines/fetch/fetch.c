/*
 * See fetch.h. libcurl tells which sockets to poll and when to call again; libuv does both. libcurl's callbacks only
 * collect; ours run after it has returned.
 */
#define _GNU_SOURCE
#include "engines/fetch/fetch.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/fetch/certificate.h"
#include "engines/fetch/proxy.h"

enum { KEEPALIVE_S = 5 };

struct fetch {
    struct fetch *before, *after;
    struct fetcher *by;
    CURL *easy;
    struct curl_slist *headers;
    char *body;
    char *in; /* what came, or came since the last call of `data` */
    size_t in_size, in_room;
    void *context;
    void (*data)(void *context, int status, const char *bytes, size_t size);
    void (*done)(void *context, const struct fetch_answer *);
    CURLcode result;
    bool has_ended, is_too_long, is_cancelled, asks_certificate;
    char text[CURL_ERROR_SIZE];
};

struct polled {
    uv_poll_t poll;
    struct fetcher *by;
    curl_socket_t fd;
};

struct fetcher {
    uv_loop_t *loop;
    CURLM *multi;
    struct fetch_tls tls;
    struct fetch *first;
    uv_timer_t timer;
    uv_check_t after;       /* delivers */
    uv_idle_t go_on;        /* active while something waits for delivery */
    uint32_t handles;       /* not closed by the loop yet */
    bool is_freed, is_busy; /* busy: within a delivery */
};

/* ---- Ending ---- */

static void release(struct fetcher *fetcher)
{
    if (--fetcher->handles == 0) free(fetcher);
}

static void on_handle_closed(uv_handle_t *handle)
{
    release(handle->data);
}

static void on_polled_closed(uv_handle_t *handle)
{
    struct polled *polled = handle->data;
    release(polled->by);
    free(polled);
}

static void discard(struct fetch *fetch)
{
    struct fetcher *by = fetch->by;
    *(fetch->before ? &fetch->before->after : &by->first) = fetch->after;
    if (fetch->after) fetch->after->before = fetch->before;
    if (fetch->easy) {
        (void)curl_multi_remove_handle(by->multi, fetch->easy);
        curl_easy_cleanup(fetch->easy);
    }
    curl_slist_free_all(fetch->headers);
    free(fetch->body);
    free(fetch->in);
    free(fetch);
}

/* While answers are delivered the list must not change under the hands of deliver(). */
void fetch_cancel(struct fetch *fetch)
{
    if (!fetch) return;
    fetch->is_cancelled = true;
    if (!fetch->by->is_busy) discard(fetch);
}

/* ---- Delivering ---- */

static int status_of(const struct fetch *fetch)
{
    long status = 0;
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static uint32_t retry_after_of(const struct fetch *fetch)
{
    curl_off_t seconds = 0;
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_RETRY_AFTER, &seconds);
    return seconds > 0 && seconds < UINT32_MAX ? (uint32_t)seconds : 0;
}

/* The connection broke in the handshake: that says nothing of certificates. */
static bool is_of_socket(const struct fetch *fetch)
{
    return strncmp(fetch->text, "Recv failure", 12) == 0 || strncmp(fetch->text, "Send failure", 12) == 0;
}

static enum fetch_trouble trouble_of(const struct fetch *fetch)
{
    if (fetch->is_too_long) return FETCH_UNUSABLE;
    switch (fetch->result) {
    case CURLE_OK: return FETCH_ANSWERED;
    case CURLE_OPERATION_TIMEDOUT: return FETCH_LATE;
    case CURLE_SSL_CONNECT_ERROR: return is_of_socket(fetch) ? FETCH_UNREACHABLE : FETCH_UNTRUSTED;
    /* With TLS 1.3 the server tells only after the handshake that it refuses our certificate, by an alert. */
    case CURLE_RECV_ERROR: return strstr(fetch->text, "alert") ? FETCH_UNTRUSTED : FETCH_UNREACHABLE;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_INVALIDCERTSTATUS: return FETCH_UNTRUSTED;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return FETCH_UNUSABLE;
    default: return FETCH_UNREACHABLE;
    }
}

/* Of the first certificate, which is the server's own. */
static int64_t certificate_end_of(const struct fetch *fetch)
{
    struct curl_certinfo *all = NULL;
    if (!fetch->asks_certificate || curl_easy_getinfo(fetch->easy, CURLINFO_CERTINFO, &all) != CURLE_OK ||
        !all || all->num_of_certs < 1)
        return 0;
    for (const struct curl_slist *line = all->certinfo[0]; line; line = line->next)
        if (strncmp(line->data, "Cert:", 5) == 0) return certificate_end(line->data + 5);
    return 0;
}

static int64_t date_of(const struct fetch *fetch)
{
    struct curl_header *date;
    if (curl_easy_header(fetch->easy, "Date", 0, CURLH_HEADER, -1, &date) != CURLHE_OK) return 0;
    const int64_t seconds = curl_getdate(date->value, NULL);
    return seconds > 0 ? seconds : 0;
}

/* An answer that the proxy kept us from. False: there is no proxy, or it was the server. `text` names the proxy. */
static bool is_of_proxy(const struct fetch *fetch, enum fetch_trouble trouble, char *text, size_t size)
{
    char proxy[250];
    const char *url = NULL;
    long code = 0;
    const bool is_unreached = fetch->result == CURLE_COULDNT_CONNECT || fetch->result == CURLE_PROXY ||
                              fetch->result == CURLE_COULDNT_RESOLVE_PROXY;
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_EFFECTIVE_URL, &url);
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_HTTP_CONNECTCODE, &code);
    if (trouble != FETCH_UNREACHABLE || !url || !proxy_of(url, proxy, sizeof proxy)) return false;
    if (code >= 300)
        snprintf(text, size,
                 "the proxy %s answers %ld to CONNECT: let it pass this server, or name the server in no_proxy",
                 proxy, code);
    else if (is_unreached)
        snprintf(text, size, "the proxy %s: %s; start it, mend the variable, or name the server in no_proxy",
                 proxy, curl_easy_strerror(fetch->result));
    return is_unreached || code >= 300;
}

static void tell_end(struct fetch *fetch)
{
    char of_proxy[FETCH_TEXT + 200];
    enum fetch_trouble trouble = trouble_of(fetch);
    /* curl's own text of a server that is away has milliseconds in it: each would be another line of the log. */
    const bool has_text = fetch->text[0] && trouble != FETCH_UNREACHABLE;
    const char *said = has_text ? fetch->text : curl_easy_strerror(fetch->result);
    if (is_of_proxy(fetch, trouble, of_proxy, sizeof of_proxy)) {
        trouble = FETCH_PROXY;
        said = of_proxy;
    }
    const struct fetch_answer answer = {.trouble = trouble,
                                        .status = status_of(fetch),
                                        .retry_after_s = retry_after_of(fetch),
                                        .body = fetch->in ? fetch->in : "",
                                        .size = fetch->in_size,
                                        .date_s = date_of(fetch),
                                        .certificate_end_s = certificate_end_of(fetch),
                                        .text = fetch->is_too_long ? "the answer is too long" : said};
    fetch->done(fetch->context, &answer);
}

static void deliver(struct fetch *fetch)
{
    if (!fetch->is_cancelled && fetch->data && fetch->in_size) {
        const size_t size = fetch->in_size;
        fetch->in_size = 0;
        fetch->data(fetch->context, status_of(fetch), fetch->in, size);
    }
    if (!fetch->is_cancelled && fetch->has_ended) {
        fetch->is_cancelled = true;
        tell_end(fetch);
    }
}

static void collect_ends(struct fetcher *fetcher)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(fetcher->multi, &left)) != NULL;) {
        struct fetch *fetch = NULL;
        if (m->msg != CURLMSG_DONE) continue;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&fetch);
        fetch->has_ended = true;
        fetch->result = m->data.result;
    }
}

static void on_after(uv_check_t *check)
{
    struct fetcher *fetcher = check->data;
    uv_idle_stop(&fetcher->go_on);
    collect_ends(fetcher);
    fetcher->is_busy = true;
    for (struct fetch *fetch = fetcher->first; fetch; fetch = fetch->after) deliver(fetch);
    fetcher->is_busy = false;
    for (struct fetch *fetch = fetcher->first, *after; fetch; fetch = after) {
        after = fetch->after;
        if (fetch->is_cancelled) discard(fetch);
    }
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle; /* that it is active keeps the loop from waiting */
}

static void deliver_soon(struct fetcher *fetcher)
{
    if (!fetcher->is_freed) uv_idle_start(&fetcher->go_on, on_idle);
}

/* ---- libcurl's callbacks ---- */

static size_t on_bytes(char *bytes, size_t one, size_t count, void *context)
{
    struct fetch *fetch = context;
    const size_t size = one * count, needed = fetch->in_size + size + 1;
    if (needed > FETCH_BODY_MAX) {
        fetch->is_too_long = true;
        return 0;
    }
    if (needed > fetch->in_room) {
        const size_t room = 2 * needed;
        char *in = realloc(fetch->in, room);
        if (!in) return 0;
        fetch->in = in;
        fetch->in_room = room;
    }
    memcpy(fetch->in + fetch->in_size, bytes, size);
    fetch->in_size += size;
    fetch->in[fetch->in_size] = '\0';
    deliver_soon(fetch->by);
    return size;
}

static void act(struct fetcher *fetcher, curl_socket_t fd, int events)
{
    int running;
    (void)curl_multi_socket_action(fetcher->multi, fd, events, &running);
    deliver_soon(fetcher);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    const struct polled *polled = poll->data;
    const int happened = status < 0 ? CURL_CSELECT_ERR
                                    : (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
                                          (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);
    act(polled->by, polled->fd, happened);
}

static void on_timer(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout_wanted(CURLM *multi, long timeout_ms, void *context)
{
    struct fetcher *fetcher = context;
    (void)multi;
    if (fetcher->is_freed) return 0;
    if (timeout_ms < 0)
        uv_timer_stop(&fetcher->timer);
    else
        uv_timer_start(&fetcher->timer, on_timer, (uint64_t)timeout_ms, 0);
    return 0;
}

static struct polled *polled_new(struct fetcher *fetcher, curl_socket_t fd)
{
    struct polled *polled = calloc(1, sizeof *polled);
    if (!polled) return NULL;
    polled->by = fetcher;
    polled->fd = fd;
    if (uv_poll_init(fetcher->loop, &polled->poll, fd) != 0) {
        free(polled);
        return NULL;
    }
    polled->poll.data = polled;
    fetcher->handles++;
    (void)curl_multi_assign(fetcher->multi, fd, polled);
    return polled;
}

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *context, void *assigned)
{
    struct fetcher *fetcher = context;
    struct polled *polled = assigned;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (!polled) return 0;
        (void)curl_multi_assign(fetcher->multi, fd, NULL);
        uv_poll_stop(&polled->poll);
        uv_close((uv_handle_t *)&polled->poll, on_polled_closed);
        return 0;
    }
    if (!polled) polled = polled_new(fetcher, fd);
    if (!polled) return -1;
    uv_poll_start(&polled->poll,
                  (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0), on_poll);
    return 0;
}

/* ---- Beginning ---- */

static bool set_headers(struct fetch *fetch, const struct fetch_request *r)
{
    for (const char *const *header = r->headers; header && *header; header++) {
        struct curl_slist *more = curl_slist_append(fetch->headers, *header);
        if (!more) return false;
        fetch->headers = more;
    }
    struct curl_slist *more = curl_slist_append(fetch->headers, "Expect:"); /* bodies go out at once */
    if (more) fetch->headers = more;
    return more && curl_easy_setopt(fetch->easy, CURLOPT_HTTPHEADER, fetch->headers) == CURLE_OK;
}

static void set_body(struct fetch *fetch, const struct fetch_request *r)
{
    if (r->body) {
        (void)curl_easy_setopt(fetch->easy, CURLOPT_POSTFIELDS, fetch->body);
        (void)curl_easy_setopt(fetch->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->size);
    }
    if (r->method) (void)curl_easy_setopt(fetch->easy, CURLOPT_CUSTOMREQUEST, r->method);
}

static void set_pem(const struct fetch *fetch, CURLoption option, const char *pem)
{
    struct curl_blob blob = {
        .data = (void *)(uintptr_t)pem, .len = pem ? strlen(pem) : 0, .flags = CURL_BLOB_NOCOPY};
    if (pem) (void)curl_easy_setopt(fetch->easy, option, &blob);
}

static void set_tls(const struct fetch *fetch)
{
    const struct fetch_tls *tls = &fetch->by->tls;
    if (tls->ca) (void)curl_easy_setopt(fetch->easy, CURLOPT_CAINFO, tls->ca);
    if (tls->ca || tls->ca_pem)
        (void)curl_easy_setopt(fetch->easy, CURLOPT_CAPATH, NULL); /* that one and no other */
    set_pem(fetch, CURLOPT_CAINFO_BLOB, tls->ca_pem);
    set_pem(fetch, CURLOPT_SSLCERT_BLOB, tls->certificate_pem);
    set_pem(fetch, CURLOPT_SSLKEY_BLOB, tls->key_pem);
    if (tls->certificate) (void)curl_easy_setopt(fetch->easy, CURLOPT_SSLCERT, tls->certificate);
    if (tls->key) (void)curl_easy_setopt(fetch->easy, CURLOPT_SSLKEY, tls->key);
    (void)curl_easy_setopt(fetch->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

static bool set_up(struct fetch *fetch, const struct fetch_request *r)
{
    CURL *easy = fetch->easy;
    const uint64_t connect_ms = r->connect_ms ? r->connect_ms : r->timeout_ms;
    bool is_good = curl_easy_setopt(easy, CURLOPT_URL, r->url) == CURLE_OK && set_headers(fetch, r);
    is_good = is_good && curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_S);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_S);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    if (connect_ms) (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->text);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, fetch);
    if (r->asks_certificate) { /* a connection that is used again tells none */
        (void)curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    set_tls(fetch);
    set_body(fetch, r);
    return is_good;
}

struct fetch *fetch_begin(struct fetcher *fetcher, const struct fetch_request *r)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch) return NULL;
    fetch->by = fetcher;
    fetch->context = r->context;
    fetch->data = r->data;
    fetch->asks_certificate = r->asks_certificate;
    fetch->done = r->done;
    fetch->after = fetcher->first;
    if (fetch->after) fetch->after->before = fetch;
    fetcher->first = fetch;
    fetch->easy = curl_easy_init();
    fetch->body = r->body ? malloc(r->size + 1) : NULL;
    if (fetch->body) memcpy(fetch->body, r->body, r->size);
    if (!fetch->easy || (r->body && !fetch->body) || !set_up(fetch, r) ||
        curl_multi_add_handle(fetcher->multi, fetch->easy) != CURLM_OK) {
        fetch_cancel(fetch);
        return NULL;
    }
    return fetch;
}

/* ---- The fetcher ---- */

struct fetcher *fetcher_new(uv_loop_t *loop, const struct fetch_tls *tls)
{
    struct fetcher *fetcher = calloc(1, sizeof *fetcher);
    if (!fetcher || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(fetcher);
        return NULL;
    }
    fetcher->loop = loop;
    fetcher->multi = curl_multi_init();
    if (!fetcher->multi) {
        free(fetcher);
        return NULL;
    }
    if (tls) fetcher->tls = *tls;
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_SOCKETDATA, fetcher);
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_TIMERFUNCTION, on_timeout_wanted);
    (void)curl_multi_setopt(fetcher->multi, CURLMOPT_TIMERDATA, fetcher);
    fetcher->timer.data = fetcher->after.data = fetcher->go_on.data = fetcher;
    (void)uv_timer_init(loop, &fetcher->timer); /* these cannot fail */
    (void)uv_check_init(loop, &fetcher->after);
    (void)uv_idle_init(loop, &fetcher->go_on);
    (void)uv_check_start(&fetcher->after, on_after);
    fetcher->handles = 3;
    return fetcher;
}

void fetcher_free(struct fetcher *fetcher)
{
    if (!fetcher) return;
    for (struct fetch *fetch = fetcher->first, *after; fetch; fetch = after) {
        after = fetch->after;
        discard(fetch);
    }
    fetcher->is_freed = true;
    (void)curl_multi_cleanup(fetcher->multi);
    uv_close((uv_handle_t *)&fetcher->timer, on_handle_closed);
    uv_close((uv_handle_t *)&fetcher->after, on_handle_closed);
    uv_close((uv_handle_t *)&fetcher->go_on, on_handle_closed);
}
