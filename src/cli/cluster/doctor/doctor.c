/* elector doctor: checks what a member needs, and prints one line for each: what, where, what to do. Changes
 * nothing. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/peer/udp.h"
#include "cli/cli.h"
#include "cli/cluster/doctor/doctor.h"
#include "cli/cluster/status.h"
#include "client/engine.h"

static void write_help(void)
{
    fputs(
        "Usage: elector doctor [--config FILE | --url URL] [--output text|json]\n\n"
        "Checks what a member needs: configuration, keys, state file, clocks, address, HTTP. Then asks its agent how\n"
        "late it ran in the last hour, which members it hears and who leads. Prints one line each: ok, warn, WRONG and\n"
        "what to do, or ? if it cannot tell.\n"
        "Changes nothing, and does not disturb a running agent. Best run as the agent's user.\n"
        "Of a store (elector help engines), also behind the socket of `elector agent --engine`: servers, majority,\n"
        "our rights, times asked and granted, certificates, clocks.\n\n"
        "  --config FILE    the configuration (/etc/elector/elector.conf)\n"
        "  --url URL        unix:PATH, an agent's or engine's socket; or a store, such as etcd://HOST/PREFIX\n"
        "                   ($ELECTOR_URL)\n"
        "  --output text|json\n"
        "                   json: one object with `checks`; each has verdict (ok, warning, wrong, unknown), what, text\n"
        "  --help           this text\n\n"
        "Exit codes: 0 all is well; 1 something is wrong; 2 usage; 3 cannot tell, for instance because no agent runs.\n",
        stdout);
}

/* Control characters are replaced. */
void doctor_say(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
{
    static const char *const words[] = {"ok", "warn", "WRONG", "?"}, *const names[] = {"ok", "warning", "wrong",
                                                                                       "unknown"};
    char text[1024], head[96];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    d->found[verdict] = true;
    if (d->lines) {
        json_array_append_new(d->lines,
                              json_pack("{ss ss* ss*}", "verdict", names[verdict], "what", what, "text", text));
        return;
    }
    snprintf(head, sizeof head, "%-6s %-14s ", words[verdict], what);
    for (char *c = head; *c; c++) putchar((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
    for (char *c = text; *c; c++) putchar((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
    putchar('\n');
}

const struct config_member *doctor_self(const struct config *config)
{
    return &config->members[config->self - 1];
}

/* ---- The agent ---- */

/* ---- The agent ---- */

static void ask(struct doctor *d, struct json_lines *w, const char *path)
{
    elector_status status = json_lines_open(w, path);
    if (status == ELECTOR_OK) {
        char engine[64] = "";
        status = cli_ask_engine(w, engine, sizeof engine);
        if (status == ELECTOR_OK && !engine[0]) status = cli_ask_status(w, NULL, &d->status);
        json_lines_close(w);
        if (status == ELECTOR_OK && json_is_true(json_object_get(d->status, "ok"))) return;
        json_decref(d->status);
        d->status = NULL;
        if (engine[0])
            doctor_say(d, WRONG, "agent",
                       "%s is served by an engine of %s, not by this member's agent; check `socket`, or ask "
                       "`elector doctor --url unix:%s` about that one",
                       path, engine, path);
        else
            doctor_say(d, WRONG, "agent", "%s", status == ELECTOR_OK ? "does not tell its status" : w->reason);
    } else if (d->in_use && status != ELECTOR_REFUSED) {
        doctor_say(d, WRONG, "agent", "%s; its state file is in use, so it seems to hang: restart it",
                   w->reason);
    } else {
        doctor_say(d, CANNOT_TELL, "agent", "%s", w->reason);
    }
}

/* True if the agent that answered is the configured member. */
static bool is_ours(const struct doctor *d)
{
    if (!d->config) return false;
    const char *name = json_lines_text(d->status, "member", 255),
               *cluster = json_lines_text(d->status, "cluster", 255);
    return name && cluster && strcmp(name, doctor_self(d->config)->name) == 0 &&
           strcmp(cluster, d->config->cluster) == 0;
}

static void check_agent(struct doctor *d)
{
    const bool is_socket = strncmp(d->url, "unix:", 5) == 0;
    const char *path =
        d->config ? d->config->socket : (is_socket ? d->url : ENGINE_DEFAULT_URL) + strlen("unix:");
    struct json_lines *w = calloc(1, sizeof *w);
    if (w) ask(d, w, path);
    free(w);
    if (!d->status) return;
    const char *name = json_lines_text(d->status, "member", 255),
               *cluster = json_lines_text(d->status, "cluster", 255);
    if (!d->config || is_ours(d))
        doctor_say(d, FINE, "agent", "%s answers for member %s of %s", path, name ? name : "?",
                   cluster ? cluster : "?");
    else
        doctor_say(
            d, WRONG, "agent", "%s answers for member %s of %s, not for %s of %s; check `socket` and `self`",
            path, name ? name : "?", cluster ? cluster : "?", doctor_self(d->config)->name, d->config->cluster);
}

static void check_address(struct doctor *d)
{
    char address[CONFIG_PLACE_TEXT], text[512];
    struct udp udp;
    if (!d->is_whole) return;
    if (doctor_self(d->config)->is_dynamic) {
        doctor_say(d, FINE, "address",
                   "dynamic: the system chooses the port, and voters answer to where it came from");
        return;
    }
    config_write_place(d->config, d->config->self, address, sizeof address);
    if (d->status && is_ours(d)) {
        doctor_say(d, FINE, "address", "%s is the agent's", address);
        return;
    }
    if (d->in_use) { /* an agent is starting, hangs or listens elsewhere: do not take its address */
        doctor_say(d, WARN, "address", "%s was not tried, because somebody uses the state file", address);
        return;
    }
    if (!udp_open(&udp, d->config, text, sizeof text)) {
        doctor_say(d, WRONG, "address", "%s", text);
        return;
    }
    udp_close(&udp);
    doctor_say(d, FINE, "address", "%s is free for an agent", address);
}

static void check_http(struct doctor *d)
{
    char text[512];
    if (!d->is_whole || (d->in_use && !d->status)) return;
    const bool runs = d->status && is_ours(d);
    const char *error = runs ? json_lines_text(d->status, "http_error", sizeof text - 1) : NULL;
    const enum verdict verdict = doctor_http(d->config, runs, error, text, sizeof text);
    doctor_say(d, verdict, "http", "%s", text);
}

/* ---- The verb ---- */

static void check_member(struct doctor *d)
{
    if (!d->has_url) doctor_check_config(d);
    if (d->config) doctor_check_state(d);
    doctor_check_clocks(d);
    check_agent(d);
    check_address(d);
    check_http(d);
    if (d->status && is_ours(d)) doctor_check_realtime(d);
    if (d->status && is_ours(d)) doctor_check_lateness(d);
    if (d->status) doctor_check_cluster(d);
}

static int examine(struct doctor *d)
{
    if (d->is_named || doctor_behind(d, d->url) != BEHIND_STORE) check_member(d);
    json_decref(d->status);
    if (d->config) config_wipe(d->config);
    free(d->config);
    int code = CLI_YES;
    if (d->found[CANNOT_TELL]) code = CLI_CANNOT_TELL;
    if (d->found[WRONG]) code = CLI_NO;
    if (d->lines) {
        static const char *const verdicts[] = {"ok", "wrong", "usage", "unknown"};
        json_t *all = json_pack("{ss so}", "verdict", verdicts[code], "checks", d->lines);
        cli_put_json(all, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(all);
    }
    return cli_finish("doctor", stdout, code);
}

int cli_doctor(int argc, char **argv)
{
    struct doctor d = {.path = "/etc/elector/elector.conf", .url = engine_usual_url()};
    bool json = false;
    for (int at = 1; at < argc; at++) {
        const char *value = NULL;
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            write_help();
            return cli_finish("doctor", stdout, CLI_YES);
        }
        if (cli_option(argc, argv, &at, "output", &value)) {
            if (!cli_output("doctor", value, &json)) return CLI_USAGE;
            continue;
        }
        if (cli_option(argc, argv, &at, "url", &value)) {
            if (!value || !*value)
                return cli_usage_error("doctor", "--url needs unix:PATH or the URL of a store");
            d.url = value;
            d.has_url = true;
            continue;
        }
        if (!cli_option(argc, argv, &at, "config", &value)) return cli_unknown("doctor", cli_doctor, argv[at]);
        if (!value || !*value) return cli_usage_error("doctor", "--config needs the name of a file");
        d.path = value;
        d.is_named = true;
    }
    if (d.is_named && d.has_url) return cli_usage_error("doctor", "--config or --url: one of them is enough");
    if (!d.is_named && engine_url_flaw(d.url))
        return cli_usage_error("doctor", "'%.200s': %s", d.url, engine_url_flaw(d.url));
    if (!d.is_named && !engine_speaks_lines(d.url))
        return cli_usage_error(
            "doctor",
            "%.200s is a lock on this host, which needs no examination: name a member with --config FILE",
            d.url);
    if (json) d.lines = json_array();
    return examine(&d);
}
