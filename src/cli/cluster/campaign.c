/* elector campaign: stands as a candidate, prints a line when elected, leads until a signal. */
#define _GNU_SOURCE /* signalfd */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "elector.h"

static void write_help(void)
{
    fputs(
        "Usage: elector campaign GROUP [--value V] [--priority N] [--url URL]\n\n"
        "Stands as a candidate for GROUP and prints a line when elected: the group and the token, which is higher than\n"
        "that of every earlier leader. Leads until SIGINT or SIGTERM, then resigns. If it is asked to stop, it gives up\n"
        "leadership at once, since it has no work to end first. After losing leadership it stays a candidate.\n\n"
        "  --value V       published to observers while it leads, at most 255 bytes: for example an address\n"
        "  --priority N    among equal members the higher priority is preferred (100, as for elector run)\n"
        "  --url URL       unix:PATH, an agent's socket; file:PATH, a lock on this host, no agent needed;\n"
        "                  etcd://HOST/PREFIX, zookeeper://HOST/PATH or kubernetes:///NAMESPACE, a store\n"
        "                  (elector help engines). Default:\n"
        "                  ($ELECTOR_URL, else unix:/run/elector/agent.sock)\n\n"
        "Exit codes: 0 resigned; 1 refused; 2 usage; 3 no agent, or the connection was lost.\n\n"
        "Examples:\n"
        "  elector campaign billing --value 10.0.0.1:9000\n"
        "  elector campaign nightly --url file:/var/lock/nightly\n",
        stdout);
}

struct campaign {
    const char *group, *url;
    elector_options options;
    elector *elector;
    bool has_resigned;
    elector_status declined; /* by the agent; ELECTOR_OK: it was not */
    char why[512];
};

static int read_words(struct campaign *c, int argc, char **argv)
{
    const char *value;
    for (int i = 1; i < argc; i++) {
        if (cli_option(argc, argv, &i, "value", &value)) {
            if (!value) return cli_usage_error("campaign", "--value needs a text");
            c->options.value = value;
        } else if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value) return cli_usage_error("campaign", "--url needs unix:PATH or file:PATH");
            c->url = value;
        } else if (cli_option(argc, argv, &i, "priority", &value)) {
            if (!value || !units_number(value, EL_EPOCH_MAX - 1, &c->options.priority))
                return cli_usage_error("campaign", "--priority %s: expected a whole number below 2^53",
                                       value ? value : "");
        } else if (argv[i][0] == '-' || c->group) {
            return cli_unknown("campaign", cli_campaign, argv[i]);
        } else {
            c->group = argv[i];
        }
    }
    return c->group ? CLI_YES : cli_usage_error("campaign", "for which group? Try: elector campaign billing");
}

static void write_end(const char *what, const elector_event *event)
{
    printf("%s %s token %" PRIu64 ": ", what, event->group, event->token);
    cli_put_plain(event->text);
    putchar('\n');
}

static void tell(void *context, const elector_event *event)
{
    struct campaign *c = context;
    if (event->type == ELECTOR_ELECTED) printf("elected %s token %" PRIu64 "\n", c->group, event->token);
    if (event->type == ELECTOR_STOP) {
        elector_stopped(c->elector, c->group);
        write_end("stopped", event);
    }
    if (event->type == ELECTOR_LOST_OFFICE) write_end("lost", event);
    if (event->type == ELECTOR_DONE && event->call == ELECTOR_CALL_RESIGN) c->has_resigned = true;
    if (event->type == ELECTOR_DONE && event->call == ELECTOR_CALL_CAMPAIGN && event->status != ELECTOR_OK) {
        c->declined = event->status;
        snprintf(c->why, sizeof c->why, "%s", event->text);
    }
    fflush(stdout);
}

/* A descriptor that becomes readable on SIGINT or SIGTERM; -1 on failure. */
static int listen_for_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return sigprocmask(SIG_BLOCK, &set, NULL) == 0 ? signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
}

/* Runs until a signal (ELECTOR_OK) or an error. */
static elector_status hold(struct campaign *c, int signals)
{
    elector_status status = elector_campaign(c->elector, c->group, &c->options, 0, NULL);
    if (status == ELECTOR_TIMEOUT) status = ELECTOR_OK; /* the campaign has begun */
    while (status == ELECTOR_OK) {
        struct pollfd wanted[2] = {{.fd = elector_fd(c->elector), .events = POLLIN},
                                   {.fd = signals, .events = POLLIN}};
        if (poll(wanted, 2, elector_timeout_ms(c->elector)) > 0 && wanted[1].revents) break;
        status = elector_dispatch(c->elector);
        if (c->declined != ELECTOR_OK) return c->declined;
    }
    return status;
}

static int fail(const struct campaign *c, elector_status status)
{
    fprintf(stderr, "elector campaign: %s\n", c->why[0] ? c->why : elector_message(c->elector));
    return cli_status_code(status);
}

int cli_campaign(int argc, char **argv)
{
    struct campaign c = {0};
    elector_options_init(&c.options, sizeof c.options);
    c.options.priority = CLI_PRIORITY;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("campaign", stdout, CLI_YES);
    }
    int status = read_words(&c, argc, argv);
    if (status != CLI_YES) return status;
    const int signals = listen_for_signals();
    if (signals < 0) return cli_usage_error("campaign", "cannot listen for signals: %s", strerror(errno));
    elector_status held = elector_open(c.url, &c.elector);
    if (held == ELECTOR_OK) {
        elector_on_event(c.elector, tell, &c);
        held = hold(&c, signals);
    }
    if (held != ELECTOR_OK) status = fail(&c, held);
    if (held == ELECTOR_OK && elector_resign(c.elector, c.group) == ELECTOR_OK)
        while (!c.has_resigned && elector_wait(c.elector, 1000) == ELECTOR_OK) {}
    elector_close(c.elector);
    close(signals);
    return cli_finish("campaign", stdout, status);
}
