/* Records in words. */
#include "sim/output/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends, and truncates at the end of the buffer. */
__attribute__((format(printf, 2, 3))) static void add(char text[SIM_TEXT], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, SIM_TEXT - used, format, arguments);
    va_end(arguments);
}

static unsigned long long id_of(const struct sim_plan *plan, el_node node)
{
    return node >= 1 && node <= plan->cluster.count ? el_id(&plan->cluster, node) : 0;
}

const char *sim_message_text(const struct sim_plan *plan, const struct sim_record *record, char text[SIM_TEXT])
{
    snprintf(text, SIM_TEXT, "%s", plan->algorithm->kinds[record->kind]);
    if (!(plan->algorithm->set_kinds >> record->kind & 1u) || record->what != SIM_SENT) {
        add(text, " %llu", id_of(plan, record->subject));
        return text;
    }
    const char *separator = " {";
    for (el_node node = 1; node <= plan->cluster.count && node <= 64; node++) {
        if (!(record->values[1] & el_bit(node))) continue;
        add(text, "%s%llu", separator, id_of(plan, node));
        separator = ",";
    }
    add(text, "}");
    return text;
}

static void say_declined(const struct sim_record *r, char text[SIM_TEXT])
{
    const char *what = r->values[0] == EL_RESIGN     ? "to resign"
                       : r->values[0] == EL_TRANSFER ? "to hand over"
                                                     : "to call an election";
    add(text, "declines %s: %s", what, el_answer_text((enum el_answer)r->values[1]));
}

const char *sim_note_text(const struct sim_plan *plan, const struct sim_record *record, char text[SIM_TEXT])
{
    text[0] = '\0';
    if (record->note == EL_NOTE_DECLINED) {
        say_declined(record, text);
        return text;
    }
    for (const char *p = el_note_text(plan->algorithm, record->note); *p; p++) {
        const bool value = (*p == '@' || *p == '#') && (p[1] == '1' || p[1] == '2');
        if (!value) {
            add(text, "%c", *p);
            continue;
        }
        const uint64_t number = record->values[p[1] - '1'];
        add(text, "%llu", *p == '@' ? id_of(plan, (el_node)number) : (unsigned long long)number);
        p++;
    }
    return text;
}

static void say_dropped(const struct sim_plan *plan, const struct sim_record *r, char text[SIM_TEXT])
{
    char message[SIM_TEXT];
    const char *fate = r->reason == SIM_DEAD  ? "finds it dead"
                       : r->reason == SIM_CUT ? "meets a cut link"
                                              : "is lost";
    add(text, "%llu ⇢ %llu  %s %s", id_of(plan, r->peer), id_of(plan, r->node),
        sim_message_text(plan, r, message), fate);
}

static void say_view(const struct sim_plan *plan, const struct sim_record *r, char text[SIM_TEXT])
{
    if (r->peer == EL_NOBODY) {
        add(text, "%llu no longer knows a leader", id_of(plan, r->node));
    } else if (r->peer == r->node) {
        add(text, "%llu LEADS", id_of(plan, r->node));
    } else {
        add(text, "%llu follows %llu", id_of(plan, r->node), id_of(plan, r->peer));
    }
}

static void say_jump(const struct sim_plan *plan, const struct sim_record *r, char text[SIM_TEXT])
{
    const int64_t leap = (int64_t)r->number;
    char time[SIM_TIME_TEXT];
    if (leap >= 0) {
        add(text, "%llu's clock leaps forward by %s", id_of(plan, r->node),
            sim_time_text(plan, (sim_time)leap, time));
    } else {
        add(text, "%llu's clock loses %s", id_of(plan, r->node), sim_time_text(plan, (sim_time)-leap, time));
    }
}

const char *sim_record_text(const struct sim_plan *plan, const struct sim_record *r, char text[SIM_TEXT])
{
    char part[SIM_TEXT];
    const unsigned long long node = id_of(plan, r->node), peer = id_of(plan, r->peer);
    text[0] = '\0';
    switch ((enum sim_what)r->what) {
    case SIM_CAMPAIGNED: add(text, "%llu calls an election", node); break;
    case SIM_SENT: add(text, "%llu → %llu  %s", node, peer, sim_message_text(plan, r, part)); break;
    case SIM_DELIVERED: add(text, "%llu ← %llu  %s", node, peer, sim_message_text(plan, r, part)); break;
    case SIM_DROPPED: say_dropped(plan, r, text); break;
    case SIM_COPIED:
        add(text, "%llu ⇉ %llu  %s arrives twice", peer, node, sim_message_text(plan, r, part));
        break;
    case SIM_RETURNED: add(text, "%llu is told that %llu was not reached", node, peer); break;
    case SIM_TIMED_OUT:
        add(text, "%llu: its timer '%s' runs out", node, plan->algorithm->timers[r->kind]);
        break;
    case SIM_SUSPECTED: add(text, "%llu suspects %llu", node, peer); break;
    case SIM_TRUSTED: add(text, "%llu trusts %llu again", node, peer); break;
    case SIM_NOTED: add(text, "%llu %s", node, sim_note_text(plan, r, part)); break;
    case SIM_VIEWED: say_view(plan, r, text); break;
    case SIM_CRASHED: add(text, "%llu CRASHES", node); break;
    case SIM_RESTARTED:
        add(text, "%llu comes back with an empty memory%s", node, r->number ? ", and its record is lost" : "");
        break;
    case SIM_PAUSED: add(text, "%llu stands still", node); break;
    case SIM_RESUMED: add(text, "%llu goes on", node); break;
    case SIM_PARTED: add(text, "the network breaks: %s", plan->breaks[r->number].text); break;
    case SIM_HEALED: add(text, "the network heals: %s", plan->breaks[r->number].text); break;
    case SIM_SAVED: add(text, "%llu saves its record", node); break;
    case SIM_REQUESTED:
        add(text, "%llu is asked to %s", node, r->kind == EL_RESIGN ? "resign" : "hand over");
        if (r->kind == EL_TRANSFER) add(text, " to %llu", peer);
        break;
    case SIM_TOLD:
        if (plan->algorithm->membership && r->kind == plan->algorithm->record_fact) {
            add(text, "%llu is told of record %llu", node,
                (unsigned long long)(r->number & ((UINT64_C(1) << EL_RECORD_SHIFT) - 1)));
            break;
        }
        add(text, "%llu is told that its %s is %llu", node, plan->algorithm->facts[r->kind],
            (unsigned long long)r->number);
        break;
    case SIM_ADMITTED:
        add(text, "the resource admits %llu with the token %llu", node, (unsigned long long)r->number);
        break;
    case SIM_REFUSED:
        if (r->number)
            add(text, "the resource REFUSES %llu: its token %llu is stale", node,
                (unsigned long long)r->number);
        else
            add(text, "the resource REFUSES %llu: it has no token", node);
        break;
    case SIM_JUMPED: say_jump(plan, r, text); break;
    case SIM_LOOPED: add(text, "the loop begins"); break;
    case SIM_STARTED: add(text, "%llu leads when the story begins", node); break;
    case SIM_DID_NOTHING:
    case SIM_RESTED:
    case SIM_VIOLATED: break;
    }
    return text;
}

const char *sim_violation_text(const struct sim_plan *plan, const struct sim_violation *violation,
                               char text[SIM_TEXT])
{
    char time[SIM_TIME_TEXT];
    snprintf(text, SIM_TEXT, "%s at %s", el_violation_name(violation->kind),
             sim_time_text(plan, violation->time, time));
    for (uint32_t i = 0; i < violation->node_count; i++)
        add(text, "%s%llu", i ? ", " : ": ", id_of(plan, violation->nodes[i]));
    if (violation->total > violation->node_count)
        add(text, " and %u more", violation->total - violation->node_count);
    return text;
}

const char *sim_violation_meaning(enum el_violation kind)
{
    switch (kind) {
    case EL_TWO_LEADERS: return "these lead at the same time";
    case EL_DISAGREEMENT: return "these do not name the leader that the others name, or one that does not lead";
    case EL_NO_LEADER: return "these know of no leader";
    case EL_DEAD_LEADER: return "these follow a dead leader";
    case EL_NOT_BEST: return "this one is alive and ranks above the leader";
    case EL_ENDLESS: return "the run does not come to rest";
    case EL_SAME_TERM: return "these led in the same term";
    case EL_DEMOTED: return "this one led, lives, and leads no more";
    case EL_TOKEN_FELL: return "this one took office in a term not above every earlier one";
    case EL_TWO_DECISIONS: return "this one holds something else for decided under a number than another did";
    case EL_OUT_OF_TURN: return "this one took office while the store had another before it";
    case EL_VIOLATIONS_END: break;
    }
    return "";
}

const char *sim_violation_told(const struct sim_violation *violation, char text[SIM_TEXT])
{
    if (violation->step == 0) return sim_violation_meaning(violation->kind);
    snprintf(text, SIM_TEXT, "the run is where it was at step %llu: it can go round for ever",
             (unsigned long long)violation->step);
    return text;
}
