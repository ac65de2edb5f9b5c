/* Checks of `elector doctor` on what the agent tells of its cluster: members, votes and groups. */
#include <inttypes.h>
#include <string.h>

#include "cli/cluster/doctor/doctor.h"
#include "client/json_lines.h"

/* "lease of [group work] is 1s here and 2s there; ..." */
static void write_differences(const json_t *list, char *text, size_t size)
{
    size_t i, used = 0;
    json_t *one;
    text[0] = '\0';
    json_array_foreach(list, i, one)
    {
        const char *what = json_lines_text(one, "what", 255), *ours = json_lines_text(one, "ours", 255),
                   *theirs = json_lines_text(one, "theirs", 255);
        if (used >= size) break;
        if (ours && theirs)
            used += (size_t)snprintf(text + used, size - used, "%s%s is %s here and %s there", i ? "; " : "",
                                     what ? what : "?", ours, theirs);
        else
            used += (size_t)snprintf(text + used, size - used,
                                     "the %s differs, and its agent is too old to say how", what ? what : "?");
    }
}

static void check_member(struct doctor *d, const json_t *member, size_t *votes, size_t *heard)
{
    const char *name = json_lines_text(member, "name", 255), *self = json_lines_text(d->status, "member", 255);
    const char *role = json_lines_text(member, "role", 64), *address = json_lines_text(member, "address", 255);
    const bool is_self = name && self && strcmp(name, self) == 0;
    const bool has_vote = !role || (strcmp(role, "observer") != 0 && strcmp(role, "candidate") != 0);
    const bool reachable = is_self || json_is_true(json_object_get(member, "reachable"));
    char what[80];
    uint64_t ms;
    const json_t *differs = json_object_get(member, "differs");
    char differences[700];
    *votes += has_vote;
    const char *speaks = json_lines_text(member, "speaks", 64);
    const bool is_lost = json_is_true(json_object_get(member, "lost_record"));
    uint64_t silent = 0;
    const bool is_silent = json_lines_number(member, "silent_ms", 1, &silent) || is_lost;
    *heard += has_vote && reachable && !differs && !speaks && !is_silent;
    if (is_silent) {
        snprintf(what, sizeof what, "vote of %.63s", name ? name : "?");
        if (is_lost)
            doctor_say(
                d, WARN, what,
                "it has no record of its promises, and grants nothing until enough voters have told it what it may have "
                "promised");
        else
            doctor_say(d, WARN, what, "it has just started, and grants nothing for %" PRIu64 " ms more",
                       silent);
    }
    if (is_self || json_is_null(json_object_get(member, "reachable"))) return; /* they have no session */
    snprintf(what, sizeof what, "member %.63s", name ? name : "?");
    if (!address) address = "?";
    const bool ever = json_lines_number(member, "heard_ms", 0, &ms);
    write_differences(differs, differences, sizeof differences);
    if (speaks)
        doctor_say(
            d, WRONG, what,
            "%s, it does not count: it speaks version %s of the messages between agents, which this agent does not; "
            "install the same version of elector on both",
            address, speaks);
    else if (differs)
        doctor_say(
            d, WRONG, what,
            "%s, heard, but it does not count where it differs: %s; make the files the same, and restart the agent",
            address, differences);
    else if (reachable && ever)
        doctor_say(d, FINE, what, "%s, heard %" PRIu64 " ms ago", address, ms);
    else if (ever)
        doctor_say(d, has_vote ? WRONG : WARN, what,
                   "%s, not heard for %" PRIu64 " ms; does its agent run, and does UDP get through both ways?",
                   address, ms);
    else
        doctor_say(
            d, has_vote ? WRONG : WARN, what,
            "%s, never heard; does its agent run, with the same keys and cluster, and does UDP get through both ways?",
            address);
}

enum { GROUPS_SHOWN_MAX = 20 }; /* of each verdict; all are counted */

static void check_group(struct doctor *d, const json_t *group, size_t counts[CANNOT_TELL + 1])
{
    const char *name = json_lines_text(group, "group", 255), *leader = json_lines_text(group, "leader", 255);
    uint64_t token = 0, candidates = 0, ms = 0;
    char what[80];
    snprintf(what, sizeof what, "group %.63s", name ? name : "?");
    json_lines_number(group, "token", 0, &token);
    json_lines_number(group, "candidates", 0, &candidates);
    json_lines_number(d->status, "worst_failover_ms", 0, &ms);
    const enum verdict verdict = leader ? FINE : candidates == 0 ? WARN : WRONG;
    d->found[verdict] = true;
    if (++counts[verdict] > GROUPS_SHOWN_MAX) return;
    if (leader)
        doctor_say(d, FINE, what, "%s leads, token %" PRIu64, leader, token);
    else if (candidates == 0)
        doctor_say(d, WARN, what,
                   "nobody leads, and nobody stands here; `elector run` does, or one at another member");
    else
        doctor_say(d, WRONG, what,
                   "nobody leads, with %" PRIu64 " standing here; if so still after %" PRIu64
                   " ms, see the members above",
                   candidates, ms);
}

/* If only some sections differ, names those in which no majority counts. An agent of an earlier version does not tell. */
static void check_majority(struct doctor *d, size_t votes, size_t heard)
{
    const json_t *list = json_object_get(d->status, "differing"), *one;
    uint64_t elsewhere = heard, counted;
    size_t i, used = 0, lacking = 0, least = votes;
    char sections[400] = "";
    json_lines_number(d->status, "votes_elsewhere", 0, &elsewhere);
    json_array_foreach(list, i, one)
    {
        const char *name = json_lines_text(one, "section", 255);
        if (!json_lines_number(one, "votes_counted", 0, &counted) || counted * 2 > votes) continue;
        if (counted < least) least = (size_t)counted;
        if (used < sizeof sections)
            used += (size_t)snprintf(sections + used, sizeof sections - used, "%s[group %s]",
                                     lacking ? ", " : "", name ? name : "?");
        lacking++;
    }
    if (heard * 2 > votes)
        doctor_say(d, FINE, "majority", "%zu of %zu votes count: here or heard, with the same settings", heard,
                   votes);
    else if (elsewhere * 2 <= votes)
        doctor_say(d, WRONG, "majority", "%zu of %zu votes count: nobody can be elected until there are %zu",
                   heard, votes, votes / 2 + 1);
    else if (lacking)
        doctor_say(
            d, WRONG, "majority",
            "%zu of %zu votes count in %s: nobody can be elected there until there are %zu; elsewhere %" PRIu64
            " count",
            least, votes, sections, votes / 2 + 1, elsewhere);
    else
        doctor_say(d, WARN, "majority", "%zu of %zu votes count in all groups; in each group a majority does",
                   heard, votes);
}

void doctor_check_cluster(struct doctor *d)
{
    size_t i, votes = 0, heard = 0;
    json_t *each;
    json_array_foreach(json_object_get(d->status, "members"), i, each)
    {
        check_member(d, each, &votes, &heard);
    }
    check_majority(d, votes, heard);
    size_t counts[CANNOT_TELL + 1] = {0};
    json_array_foreach(json_object_get(d->status, "groups"), i, each)
    {
        check_group(d, each, counts);
    }
    doctor_say(
        d, counts[WRONG] ? WRONG : FINE, "groups",
        "%zu: %zu led, %zu without a leader and without candidates here, %zu without a leader though candidates stand here%s",
        i, counts[FINE], counts[WARN], counts[WRONG],
        counts[FINE] > GROUPS_SHOWN_MAX || counts[WARN] > GROUPS_SHOWN_MAX || counts[WRONG] > GROUPS_SHOWN_MAX
            ? "; the first 20 of each kind are above"
            : "");
}
