/* Records in words, for transcript, explanation, diagram and exports. */
#ifndef ELECTOR_SIM_OUTPUT_TEXT_H
#define ELECTOR_SIM_OUTPUT_TEXT_H

#include "sim/world/world.h"

#define SIM_TEXT 256

/* "Election 80", or "Elect {3,4,5}" if the message carries a set. */
const char *sim_message_text(const struct sim_plan *plan, const struct sim_record *record, char text[SIM_TEXT]);
/* The note's text, with ids and numbers filled in. */
const char *sim_note_text(const struct sim_plan *plan, const struct sim_record *record, char text[SIM_TEXT]);
/* One clause without the time, "80 crashes" or "3 → 32  Election 3"; "" for records that have no text. */
const char *sim_record_text(const struct sim_plan *plan, const struct sim_record *record, char text[SIM_TEXT]);
/* "two-leaders at 7: 32, 80" */
const char *sim_violation_text(const struct sim_plan *plan, const struct sim_violation *violation,
                               char text[SIM_TEXT]);
/* The meaning of a violation in one sentence: of the kind, and of this one. */
const char *sim_violation_meaning(enum el_violation kind);
const char *sim_violation_told(const struct sim_violation *violation, char text[SIM_TEXT]);

#endif
