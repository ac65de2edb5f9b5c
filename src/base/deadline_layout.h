/*
 * The deadline page: memory in which the agent publishes until when each of its clients leads. Clients map it
 * read-only, so elector_is_leader() costs a few loads and a clock reading, and a renewal sends nothing. The
 * agent writes it (agent/serve/deadline_page.h), the library reads it (client/deadline_view.h), and
 * docs/socket-protocol.md says how a client gets it.
 *
 * A *cell* is a deadline. A *slot* is a leadership that a client holds: its token, and the number of the cell
 * that has its deadline. Cell N belongs to slot N. The cells after those are shared by slots whose deadlines
 * move together, so that one store renews them all.
 *
 * Rules of the writer (W), which is the agent's one thread, and of readers (R). Every load is an acquire and
 * every store a release, so each side sees the other's steps in the order given here.
 * W1. Occupy: store the deadline into the cell, the cell's number into the slot, then the token into the slot.
 * W2. Vacate: store token 0 before any other change, and before anyone is told that the term has ended.
 * W3. Freeze, after a stop request: store the deadline that the client was told into the slot's own cell, then
 *     that cell's number into the slot. The shared cell may move on only after that.
 * W4. No token is used twice in a slot. A slot belongs to one group until that group is dropped. The next group has it only
 *     with tokens above all those of dropped groups.
 * R.  To read token T's deadline: load token, cell number, deadline, cell number, token. If either token is not
 *     T, it no longer leads. If the cell numbers differ, start again. Read the clock last.
 *
 * Why this is safe:
 * - The first token is T, so by W1 the cell number and the deadline are not older than T's term.
 * - The second token is T. A deadline of a later term was stored after the 0 of W2, so a reader that saw this
 *   deadline would now see that 0 or a later token, and by W4 never T again.
 * - The cell numbers are equal. A deadline that a shared cell got after the slot had left it was stored after
 *   the number of W3, so a reader that saw this deadline would now see that number.
 * - So the deadline belongs to this term and was in force at some instant of the reading. The clock is read
 *   later: a reader that is preempted in between compares an older deadline with a newer clock, which is safe.
 * - If the agent hangs or dies between any two stores, no deadline moves on.
 */
#ifndef ELECTOR_BASE_DEADLINE_LAYOUT_H
#define ELECTOR_BASE_DEADLINE_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    DEADLINE_VERSION = 1,
    DEADLINE_SLOTS = 1048576,
    DEADLINE_SHARED_CELLS = 1024,
    DEADLINE_CELLS = DEADLINE_SLOTS + DEADLINE_SHARED_CELLS
};

#define DEADLINE_MAGIC "ELECTOR" /* with its terminating zero */

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

/* The mapped memory, 25 MiB. It is sparse: only the pages of slots in use take memory. */
struct deadline_map {
    struct deadline_header header;
    _Atomic uint64_t cells[DEADLINE_CELLS]; /* CLOCK_BOOTTIME in ns; 0: expired */
    struct deadline_slot slots[DEADLINE_SLOTS];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "readers cannot write, so they cannot take a lock either");
_Static_assert(sizeof(struct deadline_header) == 64 && sizeof(struct deadline_slot) == 16, "no hidden padding");

#endif
