/* Names of the core's enum values, and lookup by name. */
#include "core/machine.h"

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

const struct el_algorithm *el_find(const struct el_algorithm *const *table, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (same(table[i]->name, name)) return table[i];
    return NULL;
}

const char *el_note_text(const struct el_algorithm *algorithm, uint32_t note)
{
    if (note == EL_NOTE_MALFORMED) return "drops a malformed message (kind #1, from #2)";
    if (note == EL_NOTE_DECLINED) return "declines a request";
    return note < algorithm->note_count ? algorithm->notes[note].text : "?";
}

const char *el_violation_name(enum el_violation violation)
{
    switch (violation) {
    case EL_TWO_LEADERS: return "two-leaders";
    case EL_DISAGREEMENT: return "disagreement";
    case EL_NO_LEADER: return "no-leader";
    case EL_DEAD_LEADER: return "dead-leader";
    case EL_NOT_BEST: return "not-best";
    case EL_ENDLESS: return "endless";
    case EL_SAME_TERM: return "same-term";
    case EL_DEMOTED: return "demoted";
    case EL_TOKEN_FELL: return "token-fell";
    case EL_TWO_DECISIONS: return "two-decisions";
    case EL_OUT_OF_TURN: return "out-of-turn";
    case EL_VIOLATIONS_END: break;
    }
    return "?";
}

const char *el_fault_name(enum el_fault fault)
{
    switch (fault) {
    case EL_CRASHES: return "crash";
    case EL_UNNOTICED: return "unnoticed crash";
    case EL_RESTARTS: return "restart";
    case EL_LOSSES: return "loss";
    case EL_DUPLICATES: return "duplication";
    case EL_REORDERS: return "reordering";
    case EL_PARTITIONS: return "partition";
    case EL_PAUSES: return "pause";
    case EL_CLOCKS: return "clock rate";
    case EL_LATENESS: return "late message";
    case EL_FALSE_SUSPICIONS: return "false suspicion";
    case EL_NEEDLESS_CALLS: return "needless call";
    case EL_DRIFTS: return "clock outside the bound";
    case EL_WIPES: return "lost record";
    case EL_UNGUARDED: return "guard switched off";
    case EL_FAULTS_END: break;
    }
    return "?";
}

const char *el_answer_text(enum el_answer answer)
{
    switch (answer) {
    case EL_PERFORMED: return "performed";
    case EL_UNKNOWN_HERE: return "this algorithm has no such operation";
    case EL_NOT_LEADING: return "only the leader can do this";
    case EL_NOT_ELIGIBLE: return "the named member may not lead, or leads already";
    case EL_OUT_OF_TOUCH: return "the leader is out of touch with the named member";
    case EL_UNDER_WAY: return "another hand-over is not finished";
    }
    return "?";
}

const char *el_part_name(const struct el_algorithm *algorithm, const struct el_part *part)
{
    if (part->of == EL_OF_ROUND_TRIP) return "round trip";
    if (part->of == EL_OF_TRANSMIT) return "transmission";
    return algorithm->options[part->of].name;
}
