/* The words for what the core counts. */
#include "elector/core.h"

const char *el_note_text(const struct el_algorithm *algorithm, uint32_t note)
{
    if (note == EL_NOTE_MALFORMED) return "drops a malformed message (kind #1, from #2)";
    if (note == EL_NOTE_DECLINED) return "declines a request that this algorithm does not know";
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
    case EL_FAULTS_END: break;
    }
    return "?";
}
