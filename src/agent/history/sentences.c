/* Events as sentences, with members by name. */
#include <inttypes.h>
#include <stdio.h>

#include "agent/history/internal.h"
#include "algorithms/quorum/quorum.h"
#include "base/clock.h"

const char *history_end_word(enum history_end end)
{
    static const char *const words[] = {
        [HISTORY_GOES_ON] = "leads",           [HISTORY_FOLLOWED] = "followed",
        [HISTORY_LOST_SIGHT] = "lost sight",   [HISTORY_LET_GO] = "let go",
        [HISTORY_RAN_OUT] = "lease ran out",   [HISTORY_RELEASED] = "released",
        [HISTORY_OBITUARY] = "obituary",       [HISTORY_RESIGNS] = "resigned",
        [HISTORY_WORKER_GONE] = "worker gone", [HISTORY_TRANSFERS] = "handed over",
        [HISTORY_DEPOSED] = "deposed",         [HISTORY_NO_QUORUM] = "no-quorum",
        [HISTORY_AGENT_ENDED] = "agent ended"};
    return words[end];
}

const char *history_beginning_word(enum history_beginning beginning)
{
    static const char *const words[] = {[HISTORY_SEEN] = "seen",
                                        [HISTORY_ELECTED] = "elected",
                                        [HISTORY_PUSHED] = "pushed",
                                        [HISTORY_HANDED_OVER] = "handed over"};
    return words[beginning];
}

const char *history_kind_word(enum history_what what)
{
    switch (what) {
    case HISTORY_LEADER: return "leader";
    case HISTORY_NOTE: return "machine";
    case HISTORY_HEARD: return "vote";
    case HISTORY_WRITTEN: return "disk";
    case HISTORY_LAST_HEARD:
    case HISTORY_NO_MAJORITY: return "link";
    default: return "office";
    }
}

static const char *name(const struct config *config, el_node member)
{
    return member && member <= config->member_count ? config->members[member - 1].name : "nobody";
}

static void tell_leader(const struct config *config, const struct history_entry *e, char *text)
{
    const char *who = name(config, e->who), *whom = name(config, e->whom);
    if (e->who)
        snprintf(text, HISTORY_TEXT, "%s leads, with token %" PRIu64, who, e->token);
    else if (e->ended == HISTORY_LOST_SIGHT && e->more != UINT64_MAX)
        snprintf(text, HISTORY_TEXT, "%s has been silent for %" PRIu64 " ms: nobody is known to lead", whom,
                 e->more / NS_PER_MS);
    else if (e->ended == HISTORY_LET_GO)
        snprintf(text, HISTORY_TEXT, "%s no longer claims to lead: no leader", whom);
    else if (e->ended == HISTORY_LOST_SIGHT && e->whom)
        snprintf(text, HISTORY_TEXT,
                 "the agent of %s starts again, and does not know yet whether %s still leads",
                 name(config, config->self), whom);
    else if (e->ended == HISTORY_AGENT_ENDED)
        snprintf(text, HISTORY_TEXT, "the agent of %s has ended meanwhile, and starts again", whom);
    else if (e->ended == HISTORY_RAN_OUT)
        snprintf(text, HISTORY_TEXT, "the lease of %s has run out, less its margin: no leader", whom);
    else
        snprintf(text, HISTORY_TEXT, "%s no longer leads: no leader", whom);
}

static void tell_vote(const struct config *config, const struct history_entry *e, char *text)
{
    const char *who = name(config, e->who), *self = name(config, config->self);
    if (e->note == QUORUM_GRANT && e->flags & QUORUM_JOIN)
        snprintf(text, HISTORY_TEXT, "%s supports %s, though its term %" PRIu64 " is low", who, self, e->token);
    else if (e->note == QUORUM_GRANT)
        snprintf(text, HISTORY_TEXT, "%s votes for %s, in term %" PRIu64, who, self, e->token);
    else if (e->flags & QUORUM_SILENT)
        snprintf(text, HISTORY_TEXT, "%s refuses %s: it has just started, and may have forgotten a promise",
                 who, self);
    else if (e->flags & QUORUM_TOO_LOW)
        snprintf(text, HISTORY_TEXT, "%s refuses %s: it has granted a term above %" PRIu64, who, self,
                 e->token);
    else
        snprintf(text, HISTORY_TEXT, "%s refuses %s: it has promised the group to %s%s", who, self,
                 name(config, e->whom), e->flags & QUORUM_ACTIVE ? ", who leads" : "");
}

static void tell_note(const struct config *config, const struct history_entry *e, char *text)
{
    const struct host_note note = {e->by, e->note, {e->token, e->more}};
    const int used = snprintf(text, HISTORY_TEXT, "%s ", name(config, config->self));
    host_note_text(config, &note, text + used, (size_t)(HISTORY_TEXT - used));
}

/* "no majority has renewed the lease of a for 640 ms: b and c are silent" */
static void tell_no_majority(const struct config *config, const struct history_entry *e, char *text)
{
    const char *self = name(config, config->self), *before = ": ";
    if (e->more == 0) {
        snprintf(text, HISTORY_TEXT, "the lease of %s was renewed too late for its worker", self);
        return;
    }
    size_t used =
        (size_t)snprintf(text, HISTORY_TEXT, "no majority has renewed the lease of %s for %" PRIu64 " ms", self,
                         e->more / NS_PER_MS);
    if (e->flags && used < HISTORY_TEXT) {
        used += (size_t)snprintf(text + used, HISTORY_TEXT - used, ": its agent stood still");
        before = "; ";
    }
    for (el_node member = 1; member <= config->member_count && used < HISTORY_TEXT; member++) {
        if (!(e->token >> (member - 1) & 1)) continue;
        used += (size_t)snprintf(text + used, HISTORY_TEXT - used, "%s%s", before, name(config, member));
        before = ", ";
    }
    if (used < HISTORY_TEXT)
        snprintf(text + used, HISTORY_TEXT - used, "%s",
                 e->token   ? " silent"
                 : e->flags ? ""
                            : ", though voters are heard");
}

/* Events of this member's leadership: the text before the member's name, and after it. */
static const char *const leadership_words[][2] = {
    [HISTORY_ENTERED] = {"a worker at ", " campaigns"},
    [HISTORY_GONE] = {"the worker at ", " is gone: its connection ended"},
    [HISTORY_RESIGNED] = {"the worker at ", " resigns: its work has ended"},
    [HISTORY_EXPELLED] = {"the agent of ", " disconnects the worker, which may work until its deadline"},
    [HISTORY_ASKED_TO_RESIGN] = {"", " is asked to resign: its worker is told to stop"},
    [HISTORY_ASKED_TO_LEAVE] = {"the agent of ", " shuts down: its worker is told to stop"},
    [HISTORY_ABANDONED] = {"the worker at ", " gives no sign of life: its lease is not renewed any more"},
    [HISTORY_STOPPED] = {"the worker at ", " says that its work has stopped"},
    [HISTORY_OVERDUE] = {"the worker at ", " has not stopped in time: its deadline has passed"},
    [HISTORY_TOLD_ELECTED] = {"the worker at ", " is told that it leads"},
};

void history_sentence(const struct config *config, const struct history_entry *e, char text[HISTORY_TEXT])
{
    const char *who = name(config, e->who), *self = name(config, config->self);
    switch ((enum history_what)e->what) {
    case HISTORY_LEADER: tell_leader(config, e, text); break;
    case HISTORY_NOTE: tell_note(config, e, text); break;
    case HISTORY_HEARD: tell_vote(config, e, text); break;
    case HISTORY_WRITTEN:
        snprintf(text, HISTORY_TEXT, "%s has written its state file, in %" PRIu64 ".%03" PRIu64 " ms", self,
                 e->token / NS_PER_MS, e->token / NS_PER_US % 1000);
        break;
    case HISTORY_NO_MAJORITY: tell_no_majority(config, e, text); break;
    case HISTORY_LAST_HEARD:
        if (e->who == config->self)
            snprintf(text, HISTORY_TEXT, "the agent of %s stands still, for %" PRIu64 " ms", self,
                     e->more / NS_PER_MS);
        else
            snprintf(text, HISTORY_TEXT,
                     e->flags ? "%s is heard, but does not count: its settings differ"
                              : "%s is heard for the last time",
                     who);
        break;
    case HISTORY_ASKED_TO_TRANSFER:
        snprintf(text, HISTORY_TEXT, "%s is asked to hand over to %s: its worker is told to stop", self, who);
        break;
    case HISTORY_TOLD_LOST:
        snprintf(text, HISTORY_TEXT, "the worker at %s is told that it no longer leads: %s", self,
                 e->reason ? e->reason : "lost");
        break;
    default:
        snprintf(text, HISTORY_TEXT, "%s%s%s", leadership_words[e->what][0], self,
                 leadership_words[e->what][1]);
        break;
    }
}
