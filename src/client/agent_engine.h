/* Shared by the two halves of the engine that speaks to an agent: requests, and what the agent says. */
#ifndef ELECTOR_CLIENT_AGENT_ENGINE_H
#define ELECTOR_CLIENT_AGENT_ENGINE_H

#include "client/engine.h"
#include "client/event_queue.h"
#include "client/json_lines.h"

struct agent {
    struct engine base;
    struct json_lines json_lines;
    uint64_t asked;              /* the id of the last request */
    uint64_t hello;              /* the id of a hello without an answer; 0: none */
    struct queued *first, *last; /* tickets without an answer, in the order of their ids */
    uint64_t heard_ns;           /* since when the agent owes an answer and has said nothing */
    bool has_page;               /* deadlines are read from the deadline page, and no lease events come */
};

/* Ends the connection, for the reason in json_lines. */
elector_status agent_lost(struct agent *);
/* Sends a request, and steals it. It gets the next id. */
elector_status agent_post(struct agent *, json_t *request);
elector_status agent_greet(struct agent *, bool wants_page);
/* Reads one line. 1: got one; 0: none yet; -1: the connection ended. */
int agent_hear(struct agent *);
bool agent_owes_answer(const struct agent *);

#endif
