/* The bully's state and functions, shared with next-in-line, which holds a bully election when its list is
 * exhausted. */
#ifndef ELECTOR_ALGORITHMS_MESH_BULLY_H
#define ELECTOR_ALGORITHMS_MESH_BULLY_H

#include "algorithms/mesh/mesh.h"

struct bully {
    uint64_t run;
    el_node leader;
    uint32_t mode;
    /* the set of suspects follows */
};

enum { BULLY_IDLE, BULLY_HOLDING, BULLY_ELECTING, BULLY_WAITING, BULLY_SETTLING };
enum { BULLY_ELECTION = 1, BULLY_ANSWER, BULLY_COORDINATOR, BULLY_KINDS = BULLY_COORDINATOR };
enum { BULLY_T_ANSWER, BULLY_T_COORDINATOR, BULLY_T_SERIAL, BULLY_T_SETTLED, BULLY_TIMERS };
enum { BULLY_EXCLUDE_SUSPECTS, BULLY_SERIAL, BULLY_OPTIONS };
#define BULLY_NOTE_LIST(NOTE)                                                         \
    NOTE(BULLY_POLLS, "polls", "polls those above it (#1)")                           \
    NOTE(BULLY_WINS, "wins", "wins: nobody above it is left")                         \
    NOTE(BULLY_ANSWERS, "answers", "tells @1 that it is alive")                       \
    NOTE(BULLY_GIVES_WAY, "gives-way", "gives way to @1 and waits for a coordinator") \
    NOTE(BULLY_NO_ANSWER, "no-answer", "got no answer from above")                    \
    NOTE(BULLY_NO_COORDINATOR, "no-coordinator", "heard of no coordinator in time")   \
    NOTE(BULLY_LEARNS, "learns", "learns that @1 leads")                              \
    NOTE(BULLY_DISTRUSTS, "distrusts", "is told that @1 leads, but suspects it")      \
    NOTE(BULLY_OBJECTS, "objects", "outranks the coordinator @1, and objects")        \
    NOTE(BULLY_NOTICES, "notices", "notices that the leader @1 is gone")              \
    NOTE(BULLY_STALE, "stale", "ignores a late answer from @1")
enum { BULLY_NOTE_LIST(EL_NOTE_NAME) BULLY_NOTES };

/* The first rows of both algorithms' tables. */
#define BULLY_KIND_NAMES \
    [BULLY_ELECTION] = "Election", [BULLY_ANSWER] = "Answer", [BULLY_COORDINATOR] = "Coordinator"
#define BULLY_TIMER_NAMES                                                                                \
    [BULLY_T_ANSWER] = "answers", [BULLY_T_COORDINATOR] = "coordinator", [BULLY_T_SERIAL] = "line free", \
    [BULLY_T_SETTLED] = "settled"
#define BULLY_OPTION_ROWS                                                                 \
    [BULLY_EXCLUDE_SUSPECTS] =                                                            \
        {"exclude-suspects", EL_FLAG, 0, NULL, "off", "do not poll suspected processes"}, \
    [BULLY_SERIAL] = {"serial", EL_FLAG, 0, NULL, "off", "send Answer and Election one after the other"}

uint64_t *bully_suspects(struct bully *me);
void bully_stand(struct bully *me, const struct el_config *cfg, struct el_outbox *out);
/* Ends any election here and follows `leader`. */
void bully_follow(struct bully *me, const struct el_config *cfg, el_node leader, struct el_outbox *out);
bool bully_electing(const struct bully *me);

#endif
