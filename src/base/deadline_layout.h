/*
 * The deadline page: one piece of memory in which an agent tells the processes of its host until when each of them leads.
 * Clients map it read-only, so asking before every write costs a few loads and a clock reading, and a renewal sends nothing.
 * The agent writes it (agent/serve/deadline_page.h), the library reads it (client/deadline_view.h); docs/socket-protocol.md
 * says how a client gets it.
 *
 * A *cell* is a deadline. A *slot* is an leadership that is held: its token, and which cell says until when. Cell N belongs to
 * slot N; those behind are for slots whose deadlines move together, so that one word renews them all.
 *
 * Rules of the writer (W), the agent's one thread, and of readers (R). Every load acquires and every store releases, so
 * each side's steps are seen in the order in which they are written down here.
 * W1. To occupy: the deadline into the cell, the cell's number into the slot, the token into the slot.
 * W2. To vacate: 0 for the token before anything else, and before a word of it is told to anybody.
 * W3. To freeze, when stop was said: the deadline that was told into the slot's own cell, then that cell's number into the
 *     slot. The shared cell may move on after that, not before.
 * W4. A slot is one group's for the life of the page, and no token is given twice in a group.
 * R.  To know until when token T leads: read token, cell number, deadline, cell number, token. Either token is not T: it
 *     leads no more. The numbers differ: begin anew. Then the clock, last of all.
 *
 * Why it is right. The first token is T, so by W1 number and deadline are not older than T's tenure. The second is T
 * too: a deadline of a later tenure was stored after the 0 of W2, so whoever had read it would now see that 0, or a later token,
 * and by W4 never T again. The numbers are equal: a deadline that a shared cell got after the slot had left was stored
 * after the number of W3, so whoever had read it would now see that number. What is left is a deadline of this tenure,
 * which was in force at some instant of the reading; and since the clock is read later, who dozes off in between errs
 * on the safe side. An agent that hangs or dies, between any two stores, moves no deadline on.
 */
#ifndef ELECTOR_BASE_DEADLINE_LAYOUT_H
#define ELECTOR_BASE_DEADLINE_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    DEADLINE_VERSION = 1,
    DEADLINE_SLOTS = 131072,
    DEADLINE_SHARED_CELLS = 1024,
    DEADLINE_CELLS = DEADLINE_SLOTS + DEADLINE_SHARED_CELLS
};

#define DEADLINE_MAGIC "ELECTOR" /* with its zero */

struct deadline_header {
    char magic[8];
    uint32_t version, size; /* of this header */
    uint32_t cell_count, slot_count;
    uint32_t spare[10];
};

struct deadline_slot {
    _Atomic uint64_t token; /* 0: vacant */
    _Atomic uint32_t cell;
    uint32_t spare;
};

/* What is mapped. Nearly all of it is a hole: memory is taken where somebody leads. */
struct deadline_map {
    struct deadline_header header;
    _Atomic uint64_t cells[DEADLINE_CELLS]; /* CLOCK_BOOTTIME in ns; 0: over */
    struct deadline_slot slots[DEADLINE_SLOTS];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a reader has no right to write, so not to a lock either");
_Static_assert(sizeof(struct deadline_header) == 64 && sizeof(struct deadline_slot) == 16, "no hidden padding");

#endif
