/* The chronicle in plain sentences: members by name, one line each. */
#include <inttypes.h>
#include <stdio.h>

#include "agent/history/internal.h"
#include "algorithms/quorum/quorum.h"

const char *chronicle_end_word(enum chronicle_end end)
{
    static const char *const words[] = {
        [CHRONICLE_GOES_ON] = "leads",           [CHRONICLE_FOLLOWED] = "followed",
        [CHRONICLE_LOST_SIGHT] = "lost sight",   [CHRONICLE_LET_GO] = "let go",
        [CHRONICLE_RAN_OUT] = "lease ran out",   [CHRONICLE_RELEASED] = "released",
        [CHRONICLE_OBITUARY] = "obituary",       [CHRONICLE_RESIGNS] = "resigned",
        [CHRONICLE_WORKER_GONE] = "worker gone", [CHRONICLE_TRANSFERS] = "handed over",
        [CHRONICLE_DEPOSED] = "deposed"};
    return words[end];
}

const char *chronicle_beginning_word(enum chronicle_beginning beginning)
{
    static const char *const words[] = {[CHRONICLE_SEEN] = "seen",
                                        [CHRONICLE_ELECTED] = "elected",
                                        [CHRONICLE_PUSHED] = "pushed",
                                        [CHRONICLE_HANDED_OVER] = "handed over"};
    return words[beginning];
}

const char *chronicle_kind_word(enum chronicle_what what)
{
    switch (what) {
    case CHRONICLE_LEADER: return "leader";
    case CHRONICLE_NOTE: return "machine";
    case CHRONICLE_HEARD: return "vote";
    case CHRONICLE_WRITTEN: return "disk";
    case CHRONICLE_LAST_HEARD: return "link";
    default: return "office";
    }
}

static const char *name(const struct config *config, el_node member)
{
    return member && member <= config->member_count ? config->members[member - 1].name : "nobody";
}

static void tell_leader(const struct config *config, const struct chronicle_entry *e, char *text)
{
    const char *who = name(config, e->who), *whom = name(config, e->whom);
    if (e->who)
        snprintf(text, CHRONICLE_TEXT, "%s leads, with token %" PRIu64, who, e->token);
    else if (e->ended == CHRONICLE_LOST_SIGHT && e->more != UINT64_MAX)
        snprintf(text, CHRONICLE_TEXT, "%s has been silent for %" PRIu64 " ms: nobody is known to lead", whom,
                 e->more / 1000000);
    else if (e->ended == CHRONICLE_LET_GO)
        snprintf(text, CHRONICLE_TEXT, "%s says that it leads no more: nobody does", whom);
    else if (e->ended == CHRONICLE_RAN_OUT)
        snprintf(text, CHRONICLE_TEXT, "the time of %s is over, a margin before its lease: nobody leads", whom);
    else
        snprintf(text, CHRONICLE_TEXT, "%s leads no more: nobody does", whom);
}

static void tell_vote(const struct config *config, const struct chronicle_entry *e, char *text)
{
    const char *who = name(config, e->who), *self = name(config, config->self);
    if (e->note == QUORUM_GRANT && e->flags & QUORUM_JOIN)
        snprintf(text, CHRONICLE_TEXT, "%s stands by %s, though its term %" PRIu64 " is low", who, self,
                 e->token);
    else if (e->note == QUORUM_GRANT)
        snprintf(text, CHRONICLE_TEXT, "%s votes for %s, in term %" PRIu64, who, self, e->token);
    else if (e->flags & QUORUM_SILENT)
        snprintf(text, CHRONICLE_TEXT, "%s refuses %s: it began lately, and may have forgotten a promise", who,
                 self);
    else if (e->flags & QUORUM_TOO_LOW)
        snprintf(text, CHRONICLE_TEXT, "%s refuses %s: it has granted a term above %" PRIu64, who, self,
                 e->token);
    else
        snprintf(text, CHRONICLE_TEXT, "%s refuses %s: it has promised the group to %s%s", who, self,
                 name(config, e->whom), e->flags & QUORUM_ACTIVE ? ", who leads" : "");
}

static void tell_note(const struct config *config, const struct chronicle_entry *e, char *text)
{
    const struct host_note note = {e->by, e->note, {e->token, e->more}};
    const int used = snprintf(text, CHRONICLE_TEXT, "%s ", name(config, config->self));
    host_note_text(config, &note, text + used, (size_t)(CHRONICLE_TEXT - used));
}

/* What the office says of this member's worker: what goes before its name, and behind it. */
static const char *const office_words[][2] = {
    [CHRONICLE_ENTERED] = {"a worker at ", " stands for it"},
    [CHRONICLE_GONE] = {"the worker at ", " is gone: its connection ended"},
    [CHRONICLE_RESIGNED] = {"the worker at ", " resigns: its work is over"},
    [CHRONICLE_EXPELLED] = {"the agent of ", " hangs up on the worker: its time runs out"},
    [CHRONICLE_ASKED_TO_RESIGN] = {"", " is asked to resign: its worker is told to stop"},
    [CHRONICLE_ASKED_TO_LEAVE] = {"the agent of ", " is to end: its worker is told to stop"},
    [CHRONICLE_STOPPED] = {"the worker at ", " says that its work has stopped"},
    [CHRONICLE_OVERDUE] = {"the worker at ", " has not said so in time, and its time is over"},
    [CHRONICLE_TOLD_ELECTED] = {"the worker at ", " is told that it leads"},
};

void chronicle_sentence(const struct config *config, const struct chronicle_entry *e, char text[CHRONICLE_TEXT])
{
    const char *who = name(config, e->who), *self = name(config, config->self);
    switch ((enum chronicle_what)e->what) {
    case CHRONICLE_LEADER: tell_leader(config, e, text); break;
    case CHRONICLE_NOTE: tell_note(config, e, text); break;
    case CHRONICLE_HEARD: tell_vote(config, e, text); break;
    case CHRONICLE_WRITTEN:
        snprintf(text, CHRONICLE_TEXT, "%s has its record on disk, after %" PRIu64 ".%03" PRIu64 " ms", self,
                 e->token / 1000000, e->token / 1000 % 1000);
        break;
    case CHRONICLE_LAST_HEARD: snprintf(text, CHRONICLE_TEXT, "%s is heard for the last time", who); break;
    case CHRONICLE_ASKED_TO_TRANSFER:
        snprintf(text, CHRONICLE_TEXT, "%s is asked to hand over to %s: its worker is told to stop", self, who);
        break;
    case CHRONICLE_TOLD_LOST:
        snprintf(text, CHRONICLE_TEXT, "the worker at %s is told that it leads no more: %s", self,
                 e->reason ? e->reason : "lost");
        break;
    default:
        snprintf(text, CHRONICLE_TEXT, "%s%s%s", office_words[e->what][0], self, office_words[e->what][1]);
        break;
    }
}
