/*
 * elector init: writes a folder for each member, with all that its agent needs. It includes the state file,
 * so that an agent that finds none knows that it was lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/config/config.h"
#include "agent/state/record.h"
#include "algorithms/quorum/quorum.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/cli.h"

enum { HOST_MAX = 150, PLACE_MAX = 150 }; /* so that each line of a configuration has room */

struct newcomer {
    char name[CONFIG_NAME_MAX + 1];
    char address[HOST_MAX + 10];
    enum config_role role;
    uint8_t secret[SEAL_KEY], public_key[SEAL_KEY];
    bool made; /* we created its folder, so undo() may remove it */
};

struct founding {
    const char *members, *witness, *observer, *candidate, *cluster, *out, *state, *socket,
        *tokens_above; /* as typed */
    uint64_t floor;    /* all tokens are above it */
    uint8_t cluster_id[SEAL_CLUSTER_ID], cluster_key[SEAL_KEY];
    struct newcomer newcomers[CONFIG_MEMBERS_MAX];
    uint32_t count;
    bool here; /* all members are on this host */
};

static const char *const files[] = {"elector.conf", "member.key", "cluster.key", "elector.state"};

static void write_help(void)
{
    fputs(
        "Usage: elector init --members NAME=HOST:PORT,… --out FOLDER [options]\n\n"
        "Writes the files of a new cluster: for each member a folder with its configuration, its secret key, the\n"
        "cluster's key, and a new state file. Run it once, then copy each folder to its host. Do not lose the state\n"
        "file: an agent without one treats its promises as lost, and grants nothing until the others have answered.\n\n"
        "  --members LIST     NAME=HOST:PORT,… or HOST:PORT,… if the host's name is the member's; ids are assigned in\n"
        "                     this order, from 1. NAME=dynamic for a candidate behind a NAT or without a fixed address\n"
        "  --witness NAME,…   these members vote but never lead\n"
        "  --observer NAME,…  these members learn who leads, and do not vote\n"
        "  --candidate NAME,… these members may lead, and do not vote\n"
        "  --cluster NAME     the cluster's name (elector)\n"
        "  --out FOLDER       where to write the folders; nothing is overwritten\n"
        "  --state FILE       path of the state file on the member's host; %n stands for the member's name\n"
        "  --socket FILE      path of the agent's socket on the member's host, likewise\n"
        "  --tokens-above N   tokens of quorum begin above N, and above the wall clock in ms x 1024. The latter is above\n"
        "                     all tokens that locks (file:) and clusters have given, if no clock was far ahead\n\n"
        "If all members are on this host (127.0.0.1, ::1, localhost), state and socket lie next to the configuration;\n"
        "otherwise they are /var/lib/elector/elector.state and /run/elector/agent.sock.\n\n"
        "Examples:\n"
        "  elector init --members a=127.0.0.1:7401,b=127.0.0.1:7402,c=127.0.0.1:7403 --out cluster\n"
        "  elector init --members a=10.0.0.1:7400,b=10.0.0.2:7400,c=10.0.0.3:7400 --witness c --cluster shop --out shop\n",
        stdout);
}

/* ---- Options ---- */

/* Copies the next item of a list, up to its comma, into `word`. False at the end, or if the item is too
 * long: then *list stays. */
static bool next_word(const char **list, char *word, size_t size)
{
    const size_t length = strcspn(*list, ",");
    if (**list == '\0' || length >= size) return false;
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length + ((*list)[length] == ',');
    return true;
}

static bool is_here(const char *host, const char *address)
{
    struct sockaddr_storage found;
    char reason[200];
    if (strcmp(host, "localhost") == 0) return true;
    /* A host with letters is a name, which this host need not resolve; a host with colons is IPv6. */
    if (!strchr(host, ':') && strspn(host, "0123456789.") != strlen(host)) return false;
    return config_address(address, &found, reason, sizeof reason) && config_is_loopback(&found);
}

static bool is_dynamic(const struct newcomer *member)
{
    return strcmp(member->address, "dynamic") == 0;
}

/* "a=" in front of the address, or the host's name. */
static int name_member(struct newcomer *made, const char *name, size_t length, const char *address)
{
    snprintf(made->name, sizeof made->name, "%.*s", (int)length, name);
    if (length <= CONFIG_NAME_MAX && config_is_member_name(made->name)) return CLI_YES;
    return cli_usage_error(
        "init", "--members: '%s' needs a name of 1 to 63 letters, digits and ._-, as in a=%s", name, address);
}

static int place_member(struct founding *f, struct newcomer *made, const char *word, const char *equals)
{
    const char *address = equals ? equals + 1 : word;
    char host[HOST_MAX], reason[300];
    uint16_t port = 0;
    if (equals && strcmp(address, "dynamic") == 0) {
        snprintf(made->address, sizeof made->address, "dynamic");
        f->here = false;
        return name_member(made, word, (size_t)(equals - word), address);
    }
    if (!config_split_address(address, host, sizeof host, &port, reason, sizeof reason))
        return cli_usage_error("init", "--members: %s", reason);
    if (strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%") != strlen(host))
        return cli_usage_error("init", "--members: '%s' is no host", host);
    const bool bracket = strchr(host, ':') != NULL;
    snprintf(made->address, sizeof made->address, "%s%s%s:%u", bracket ? "[" : "", host, bracket ? "]" : "",
             port);
    f->here = f->here && is_here(host, address);
    return equals ? name_member(made, word, (size_t)(equals - word), address)
                  : name_member(made, host, strlen(host), address);
}

static int add_member(struct founding *f, const char *word)
{
    struct newcomer *made = &f->newcomers[f->count];
    if (f->count == CONFIG_MEMBERS_MAX)
        return cli_usage_error("init", "a cluster has at most %d members", CONFIG_MEMBERS_MAX);
    const int status = place_member(f, made, word, strchr(word, '='));
    if (status) return status;
    for (const struct newcomer *other = f->newcomers; other < made; other++)
        if (strcmp(other->name, made->name) == 0 ||
            (!is_dynamic(made) && strcmp(other->address, made->address) == 0))
            return cli_usage_error("init", "--members: '%s' and '%s=%s' share their name or their address",
                                   word, other->name, other->address);
    f->count++;
    return CLI_YES;
}

static int read_members(struct founding *f)
{
    const char *list = f->members;
    char word[CONFIG_NAME_MAX + HOST_MAX];
    f->here = true;
    while (next_word(&list, word, sizeof word)) {
        const int status = add_member(f, word);
        if (status) return status;
    }
    if (*list) return cli_usage_error("init", "--members: '%.40s…' is too long for a member", list);
    return f->count ? CLI_YES : cli_usage_error("init", "--members names nobody; write NAME=HOST:PORT,…");
}

static struct newcomer *named(struct founding *f, const char *name)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (strcmp(f->newcomers[i].name, name) == 0) return &f->newcomers[i];
    return NULL;
}

static int assign(struct founding *f, const char *list, enum config_role role, const char *option)
{
    char word[CONFIG_NAME_MAX + 1];
    while (list && next_word(&list, word, sizeof word)) {
        struct newcomer *found = named(f, word);
        if (!found) return cli_usage_error("init", "--%s: '%s' is none of --members", option, word);
        if (found->role != CONFIG_VOTER)
            return cli_usage_error("init", "--%s: '%s' has a role already; give it one", option, word);
        found->role = role;
    }
    if (list && *list) return cli_usage_error("init", "--%s: '%.40s…' is none of --members", option, list);
    return CLI_YES;
}

static int check_place(const struct founding *f, const char *place, const char *option)
{
    if (!place) return CLI_YES;
    if (!*place || strlen(place) > PLACE_MAX || strpbrk(place, "\n;") || strchr(" \t", *place) ||
        strchr(" \t", place[strlen(place) - 1]))
        return cli_usage_error(
            "init", "--%s is the name of a file, at most %d characters, without ';' or blanks around it",
            option, PLACE_MAX);
    if (f->here && f->count > 1 && !strstr(place, "%n"))
        return cli_usage_error(
            "init", "--%s: all members are on this host, so write %%n where the member's name goes", option);
    return CLI_YES;
}

static bool has_vote(const struct newcomer *member)
{
    return member->role == CONFIG_VOTER || member->role == CONFIG_WITNESS;
}

static int check(struct founding *f)
{
    uint32_t leaders = 0, votes = 0;
    int status = read_members(f);
    if (!status) status = assign(f, f->witness, CONFIG_WITNESS, "witness");
    if (!status) status = assign(f, f->observer, CONFIG_OBSERVER, "observer");
    if (!status) status = assign(f, f->candidate, CONFIG_CANDIDATE, "candidate");
    if (!status) status = check_place(f, f->state, "state");
    if (!status) status = check_place(f, f->socket, "socket");
    if (status) return status;
    for (uint32_t i = 0; i < f->count; i++) {
        const enum config_role role = f->newcomers[i].role;
        leaders += role == CONFIG_VOTER || role == CONFIG_CANDIDATE;
        votes += has_vote(&f->newcomers[i]);
        if (is_dynamic(&f->newcomers[i]) && role != CONFIG_CANDIDATE)
            return cli_usage_error("init",
                                   "--members: '%s=dynamic' is for candidates only; others need HOST:PORT",
                                   f->newcomers[i].name);
    }
    if (!leaders)
        return cli_usage_error("init", "no member may lead: at least one must be neither witness nor observer");
    if (!votes)
        return cli_usage_error("init", "no member votes: at least one must be neither observer nor candidate");
    if (!group_name_is_valid(f->cluster))
        return cli_usage_error("init", "--cluster: a name is 1 to 63 letters, digits and ._-:/, not '%s'",
                               f->cluster);
    return CLI_YES;
}

/* ---- The files ---- */

/* Writes the path of a file on the member's host. */
static void write_place(FILE *out, const char *place, const char *beside, const char *afar,
                        const struct founding *f, const struct newcomer *self)
{
    if (!place) place = f->here ? beside : afar;
    for (; *place; place++) {
        if (strncmp(place, "%n", 2) == 0) {
            fputs(self->name, out);
            place++;
        } else {
            fputc(*place, out);
        }
    }
}

static void write_conf(FILE *out, const struct founding *f, const struct newcomer *self)
{
    char text[128];
    fprintf(out, "# Member %s of cluster %s. All members share what is above [agent].\n[cluster]\nname = %s\n",
            self->name, f->cluster, f->cluster);
    fprintf(out, "id = %s\n", sodium_bin2hex(text, sizeof text, f->cluster_id, SEAL_CLUSTER_ID));
    for (uint32_t i = 0; i < f->count; i++) {
        const struct newcomer *member = &f->newcomers[i];
        sodium_bin2base64(text, sizeof text, member->public_key, SEAL_KEY, sodium_base64_VARIANT_ORIGINAL);
        fprintf(out, "\n[member %s]\nid = %u\naddress = %s\nrole = %s\nkey = %s\n", member->name, i + 1,
                member->address, config_role_name(member->role), text);
    }
    fprintf(out, "\n[agent]\nself = %s\nkey-file = member.key\ncluster-key-file = cluster.key\nsocket = ",
            self->name);
    write_place(out, f->socket, "agent.sock", "/run/elector/agent.sock", f, self);
    /* Members on one host already have different addresses. */
    fprintf(out, "\nhttp = %s", f->here ? self->address : "127.0.0.1:7480");
    fputs("\nstate = ", out);
    write_place(out, f->state, "elector.state", "/var/lib/elector/elector.state", f, self);
    fputs("\n\n[group *]\nalgorithm = quorum\n", out);
}

static void place_of(const struct founding *f, const struct newcomer *member, const char *file,
                     char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s%s%s", f->out, member->name, file ? "/" : "", file ? file : "");
}

/* Validates the configuration as the agent would, before any file is written. */
static int read_back(const struct founding *f, const struct newcomer *self)
{
    char path[PATH_MAX], text[512] = "out of memory", *bytes = NULL;
    size_t size = 0;
    struct config *config = calloc(1, sizeof *config);
    FILE *out = config ? open_memstream(&bytes, &size) : NULL;
    bool good = false;
    snprintf(path, sizeof path, "/etc/elector/elector.conf");
    if (f->here) place_of(f, self, files[0], path);
    if (out) {
        write_conf(out, f, self);
        if (fclose(out) == 0) good = config_parse(config, path, bytes, size, true, text, sizeof text);
    }
    free(bytes);
    free(config);
    return good ? CLI_YES : cli_usage_error("init", "an agent would refuse this configuration: %s", text);
}

static bool refuse(const char *path, const char *what)
{
    fprintf(stderr, "elector init: %s: cannot %s: %s\n", path, what, strerror(errno));
    return false;
}

static bool make_conf(const char *path, const struct founding *f, const struct newcomer *self)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out) {
        if (fd >= 0) close(fd);
        return refuse(path, "create it");
    }
    write_conf(out, f, self);
    const bool good = !ferror(out);
    return fclose(out) == 0 && good ? true : refuse(path, "write it");
}

/* The floor is a ceiling without an incarnation: up to it, terms may have been granted by others. */
static bool make_state(const char *path, const struct founding *f, uint64_t id)
{
    struct record_identity identity = {.member = id};
    const struct el_durable floor = {.word = {f->floor}};
    char text[PATH_MAX + 200];
    memcpy(identity.cluster_id, f->cluster_id, sizeof identity.cluster_id);
    if (record_found(path, &identity, seal_group_key(f->cluster_id, RECORD_ALL_SESSIONS), &floor, text,
                     sizeof text))
        return true;
    fprintf(stderr, "elector init: %s\n", text);
    return false;
}

static bool make_folder(const struct founding *f, struct newcomer *member)
{
    char path[PATH_MAX];
    place_of(f, member, NULL, path);
    member->made = mkdir(path, 0700) == 0;
    if (!member->made && errno == EEXIST) {
        fprintf(stderr, "elector init: %s: exists already, and nothing is overwritten; choose another --out\n",
                path);
        return false;
    }
    return member->made || refuse(path, "create it");
}

static bool fill_folder(const struct founding *f, uint32_t i)
{
    const struct newcomer *member = &f->newcomers[i];
    char path[PATH_MAX];
    place_of(f, member, files[0], path);
    if (!make_conf(path, f, member)) return false;
    place_of(f, member, files[1], path);
    if (!cli_write_key("init", path, member->secret)) return false;
    place_of(f, member, files[2], path);
    if (!cli_write_key("init", path, f->cluster_key)) return false;
    place_of(f, member, files[3], path);
    return make_state(path, f, i + 1);
}

/* Removes all folders again: half a cluster would block the next attempt. */
static void undo(const struct founding *f)
{
    char path[PATH_MAX];
    for (uint32_t i = 0; i < f->count; i++) {
        if (!f->newcomers[i].made) continue;
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            place_of(f, &f->newcomers[i], files[k], path);
            unlink(path);
        }
        place_of(f, &f->newcomers[i], NULL, path);
        rmdir(path);
    }
}

static bool make_files(struct founding *f)
{
    if (mkdir(f->out, 0700) != 0 && errno != EEXIST) return refuse(f->out, "create it");
    bool good = true;
    for (uint32_t i = 0; good && i < f->count; i++) good = make_folder(f, &f->newcomers[i]);
    for (uint32_t i = 0; good && i < f->count; i++) good = fill_folder(f, i);
    if (!good) undo(f);
    return good;
}

/* ---- What next ---- */

static void tell(const struct founding *f)
{
    uint32_t votes = 0;
    for (uint32_t i = 0; i < f->count; i++) votes += has_vote(&f->newcomers[i]);
    printf("Cluster %s is in %s: %u members, %u votes, of which %u may fail.\n", f->cluster, f->out, f->count,
           votes, votes - (votes / 2 + 1));
    if (votes % 2 == 0)
        puts("An even number of votes survives no more than one vote less: consider a witness.");
    puts(f->here ? "\nAll members are on this host. Start each:"
                 : "\nOn the host of each, as the user that runs the agent:");
    for (uint32_t i = 0; i < f->count; i++) {
        const struct newcomer *member = &f->newcomers[i];
        if (f->here && !f->state) {
            printf("  elector agent --config %s/%s/elector.conf\n", f->out, member->name);
            continue;
        }
        if (f->here)
            printf("  %s: move %s/%s/elector.state to ", member->name, f->out, member->name);
        else
            printf("  %s (%s): copy what is in %s/%s to /etc/elector, move elector.state from there to\n    ",
                   member->name, member->address, f->out, member->name);
        write_place(stdout, f->state, "", "/var/lib/elector/elector.state", f, member);
        if (f->here)
            printf(", then elector agent --config %s/%s/elector.conf\n", f->out, member->name);
        else
            puts(", then elector agent --config /etc/elector/elector.conf");
    }
    if (!f->here)
        puts(
            "\nThe folders hold secrets: copy them over a safe channel, keep their modes, then delete them here.");
}

/* A lock begins at the wall clock in microseconds, a cluster that lost its state at milliseconds x 1024. A wall
 * clock that is not credible is ignored. */
static bool choose_floor(struct founding *f)
{
    const uint64_t ms = clock_wall_ns() / NS_PER_MS, most = quorum_counter(EL_EPOCH_MAX) / 2;
    uint64_t above = 0;
    if (f->tokens_above && !units_number(f->tokens_above, EL_EPOCH_MAX / 2, &above)) return false;
    f->floor = quorum_highest(ms < most ? quorum_whole(ms) : 0, above);
    return true;
}

static bool draw(struct founding *f)
{
    if (sodium_init() < 0) return false;
    randombytes_buf(f->cluster_id, sizeof f->cluster_id);
    randombytes_buf(f->cluster_key, sizeof f->cluster_key);
    for (uint32_t i = 0; i < f->count; i++)
        if (!seal_keygen(f->newcomers[i].secret, f->newcomers[i].public_key)) return false;
    return true;
}

static int found(struct founding *f)
{
    if (!f->members) return cli_usage_error("init", "which members? Give --members NAME=HOST:PORT,…");
    if (!f->out) return cli_usage_error("init", "where to? Give --out FOLDER");
    if (strlen(f->out) > PATH_MAX - 2 * CONFIG_NAME_MAX)
        return cli_usage_error("init", "--out is too long for a path");
    if (!choose_floor(f))
        return cli_usage_error("init", "--tokens-above %s: expected a whole number up to 2^52",
                               f->tokens_above);
    const int status = check(f);
    if (status) return status;
    if (!draw(f)) {
        fputs("elector init: the kernel returned no random bytes; try again\n", stderr);
        return CLI_CANNOT_TELL;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        const int refused = read_back(f, &f->newcomers[i]);
        if (refused) return refused;
    }
    if (!make_files(f)) return CLI_CANNOT_TELL;
    tell(f);
    return cli_finish("init", stdout, CLI_YES);
}

int cli_init(int argc, char **argv)
{
    struct founding *f = calloc(1, sizeof *f);
    if (!f) return cli_out_of_memory("init");
    f->cluster = "elector";
    const struct {
        const char *name, **value;
    } options[] = {{"members", &f->members},     {"witness", &f->witness}, {"observer", &f->observer},
                   {"candidate", &f->candidate}, {"cluster", &f->cluster}, {"out", &f->out},
                   {"state", &f->state},         {"socket", &f->socket},   {"tokens-above", &f->tokens_above}};
    int status = -1;
    for (int i = 1; i < argc && status < 0; i++) {
        const char *word = argv[i], *value = NULL;
        bool known = false;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            write_help();
            status = cli_finish("init", stdout, CLI_YES);
            break;
        }
        for (size_t k = 0; k < sizeof options / sizeof *options && !known; k++) {
            known = cli_option(argc, argv, &i, options[k].name, &value);
            if (known) *options[k].value = value;
        }
        if (!known)
            status = cli_unknown("init", cli_init, word);
        else if (!value || !*value)
            status = cli_usage_error("init", "%s needs a value", word);
    }
    if (status < 0) status = found(f);
    sodium_memzero(f, sizeof *f);
    free(f);
    return status;
}
