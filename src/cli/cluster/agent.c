/* elector agent: runs a member of a cluster on this host. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/log/log.h"
#include "cli/cli.h"
#include "cli/cluster/bounds.h"
#include "client/engine.h"
#include "client/program.h"

enum { RETRY_S = 1 };

static const char help[] =
    "Usage: elector agent --config FILE [options]\n\n"
    "Runs this host's member of a cluster. On SIGTERM it hands over the groups it leads, then exits. On SIGHUP it\n"
    "reloads keys, rights, logging and new groups, and logs what needs a restart. `elector init` writes a configuration.\n\n"
    "  --config FILE     the configuration, elector.conf(5)\n"
    "  --check-config    read the configuration, explain it, and exit\n"
    "  --verbose         also log the steps of the state machines\n"
    "  --engine URL      instead of a cluster: elect on a store for all of this host: etcd://HOST:PORT/PREFIX,\n"
    "                    zookeeper://HOST:PORT/PATH, kubernetes:///NAMESPACE\n"
    "  --socket PATH     with --engine: where clients connect (default /run/elector/agent.sock)\n"
    "  --help            this text\n\n"
    "Exit codes: 0 stopped by a signal; 2 usage; 69 a resource it needs is unavailable; 74 its disk failed;\n"
    "78 the configuration is invalid.\n";

static void tell_unresolved(void *context, const char *text)
{
    (void)context;
    log_event(LOG_WARN_LEVEL, NULL, "%s", text);
}

/* Waits until this member's own name is found: at boot there may be no name server yet. The names of the others are looked
 * up while the agent runs. */
static bool read_patiently(struct config *config, const char *path, bool waits, char *text, size_t size)
{
    bool has_told = false;
    while (config_read_patiently(config, path, text, size)) {
        const struct config_member *self = &config->members[config->self - 1];
        log_set(config->log == CONFIG_LOG_JSON, config->verbose);
        if (waits && !has_told) config_each_unresolved(config, tell_unresolved, NULL);
        if (!waits || !self->is_unresolved) return true;
        if (!has_told)
            log_event(LOG_WARN_LEVEL, NULL,
                      "this member's own host is not found: waiting for it, and not listening yet");
        has_told = true;
        nanosleep(&(struct timespec){.tv_sec = RETRY_S}, NULL);
    }
    return false;
}

static int run(const char *path, bool check, bool verbose)
{
    struct config *config = calloc(1, sizeof *config);
    char text[512];
    int code = 0;
    if (!config) return cli_out_of_memory("agent");
    if (!read_patiently(config, path, !check, text, sizeof text)) {
        fprintf(stderr, "elector agent: %s\n", text);
        free(config);
        return AGENT_BAD_CONFIG;
    }
    if (check) {
        config_describe(config, stdout);
    } else {
        config->verbose |= verbose;
        (void)setenv("UV_THREADPOOL_SIZE", "1", 0); /* the pool writes the state file and does nothing else */
        log_set(config->log == CONFIG_LOG_JSON, config->verbose);
        code = agent_run(config, "/proc/self/exe", bounds_shortest_stall); /* a program that knows `guardian` */
    }
    config_wipe(config);
    free(config);
    return check ? cli_finish("agent", stdout, code) : code;
}

/* The engine is a program of its own, since it needs libraries that nothing else here does. */
static int become_engine(char *url, const char *socket, bool verbose)
{
    char path[PROGRAM_PATH], text[512], name[] = "elector-engine", to[] = "--socket", more[] = "--verbose";
    char *const words[] = {name, to, (char *)(uintptr_t)socket, url, verbose ? more : NULL, NULL};
    if (!program_find(path, text, sizeof text)) {
        fprintf(stderr, "elector agent: %s\n", text);
        return AGENT_CANNOT_START;
    }
    (void)execv(path, words);
    fprintf(stderr, "elector agent: cannot start %s: %s\n", path, strerror(errno));
    return AGENT_CANNOT_START;
}

int cli_agent(int argc, char **argv)
{
    const char *path = NULL, *value = NULL, *engine = NULL, *socket = NULL;
    bool check = false, verbose = false;
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            fputs(help, stdout);
            return cli_finish("agent", stdout, CLI_YES);
        }
        if (cli_option(argc, argv, &at, "config", &value)) {
            if (!value) return cli_usage_error("agent", "--config needs a file name");
            path = value;
        } else if (cli_option(argc, argv, &at, "engine", &value)) {
            if (!value)
                return cli_usage_error("agent", "--engine needs the URL of a store: etcd://HOST:PORT/PREFIX");
            engine = value;
        } else if (cli_option(argc, argv, &at, "socket", &value)) {
            if (!value || !*value) return cli_usage_error("agent", "--socket needs a path");
            socket = value;
        } else if (strcmp(argv[at], "--check-config") == 0) {
            check = true;
        } else if (strcmp(argv[at], "--verbose") == 0) {
            verbose = true;
        } else {
            return cli_unknown("agent", cli_agent, argv[at]);
        }
    }
    if (engine && (path || check))
        return cli_usage_error("agent", "--engine elects on a store: without --config and --check-config");
    if (socket && !engine)
        return cli_usage_error("agent",
                               "--socket goes with --engine; else `socket` of the configuration says it");
    if (engine)
        return become_engine((char *)(uintptr_t)engine,
                             socket ? socket : &ENGINE_DEFAULT_URL[sizeof "unix:" - 1], verbose);
    if (!path) return cli_usage_error("agent", "which configuration? --config FILE; `elector init` writes one");
    return run(path, check, verbose);
}
