/* elector status --members: the members of the cluster, as one agent knows them. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cluster/status.h"
#include "cli/table.h"

/* How long ago; "never" if it was not heard since the agent began. */
static const char *heard_of(const json_t *member, bool is_self, char *text, size_t size)
{
    uint64_t ms;
    if (is_self) return "this agent";
    if (!json_lines_number(member, "heard_ms", 0, &ms)) return "never";
    if (ms < 10000)
        snprintf(text, size, "%" PRIu64 " ms ago", ms);
    else
        snprintf(text, size, "%" PRIu64 " s ago", ms / 1000);
    return text;
}

static const char *text_of(const json_t *member, const char *name)
{
    const char *text = json_lines_text(member, name, 255);
    return text ? text : "-";
}

int cli_write_members(const json_t *status)
{
    static const char *const heads[] = {"MEMBER", "ID", "ROLE", "STATE", "HEARD", "VERSION", "KEY", "ADDRESS"};
    const char *self = json_lines_text(status, "member", 255);
    struct cli_table table = {.columns = sizeof heads / sizeof *heads};
    size_t i, votes = 0, present = 0;
    json_t *member;
    cli_table_add(&table, heads);
    json_array_foreach(json_object_get(status, "members"), i, member)
    {
        char heard[32], number[24] = "-";
        uint64_t id;
        const char *role = text_of(member, "role");
        const bool is_self = self && strcmp(text_of(member, "name"), self) == 0;
        const bool differs = json_object_get(member, "differs") != NULL;
        const bool is_unknown = json_is_null(json_object_get(member, "reachable")); /* they have no session */
        const bool is_there = !differs && (is_self || json_is_true(json_object_get(member, "reachable")));
        const char *state = differs ? "DIFFERS" : is_there ? "here" : is_unknown ? "-" : "SILENT";
        if (json_lines_number(member, "id", 1, &id)) snprintf(number, sizeof number, "%" PRIu64, id);
        const bool has_vote = strcmp(role, "observer") != 0 && strcmp(role, "candidate") != 0;
        votes += has_vote;
        present += is_there && has_vote;
        cli_table_add(&table,
                      (const char *[]){text_of(member, "name"), number, role, state,
                                       is_unknown ? "-" : heard_of(member, is_self, heard, sizeof heard),
                                       text_of(member, "version"), text_of(member, "key"),
                                       text_of(member, "address")});
    }
    if (!cli_table_write(&table)) return cli_out_of_memory("status");
    printf("%zu of %zu votes count; %zu elect\n", present, votes, votes / 2 + 1);
    return 2 * present > votes ? CLI_YES : CLI_NO;
}
