/*
 * The file of the history, STATE.history: what journal.h makes of it. It is read once, at the start. A thread of its own
 * writes what is new, at most once a second, so neither a frozen file system nor a full disk stops the agent: one write is under way at
 * a time, and what comes meanwhile goes with the next. Above 4 MB, and after a failure, the file is written anew, beside the old one,
 * and takes its place by rename().
 *
 * Nothing depends on it but what people are told, so it is not synced, and a file that is damaged is begun anew.
 */
#ifndef ELECTOR_AGENT_HISTORY_FILE_H
#define ELECTOR_AGENT_HISTORY_FILE_H

#include "agent/history/journal.h"

struct history_file;

/* Reads the file into a new history. `text` gets what an operator should know of it; "": nothing. NULL: out of memory. */
struct history_file *history_file_open(const char *path, struct history *, uint64_t members, char *text,
                                       size_t size);
/* Begins to write what is new, if the last write has ended. Call it once a second or more often. True: `text` says that it cannot be
 * written; once until it can. */
bool history_file_write(struct history_file *, struct history *, uint64_t now_ns, char *text, size_t size);
/* The same, and waits for it up to `wait_ms`. A write that has not ended by then ends with the process. */
void history_file_close(struct history_file *, struct history *, uint32_t wait_ms);

#endif
