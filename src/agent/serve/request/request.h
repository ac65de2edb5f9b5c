/* The requests of clients, for the files of this room: what a handler gets, and how it answers. */
#ifndef ELECTOR_AGENT_SERVE_REQUEST_REQUEST_H
#define ELECTOR_AGENT_SERVE_REQUEST_REQUEST_H

#include "agent/serve/internal.h"

/* The present request. Its handler answers exactly once. */
struct request {
    struct connection *from;
    struct serve *serve;
    const json_t *object, *id;
    const char *group; /* NULL: none was named */
};

/* fields.c. Answers: */
void request_refuse(const struct request *, const char *error, const char *message);
void request_agree(const struct request *);
void request_answer_as(const struct request *, enum leadership_answer);
json_t *request_begin_answer(const struct request *);   /* of a request that is granted; NULL: out of memory */
void request_say(const struct request *, json_t *line); /* adds the request's id; steals the reference */

/* Reads a string field; *text is NULL if it is optional and missing. jansson accepts no zero byte in it. False: it is no
 * string. Nothing was answered. */
bool request_read_text(const struct request *, const char *name, bool is_needed, const char **text);
/* The same for a whole number below 2^53; 0 if it is missing. */
bool request_read_number(const struct request *, const char *name, bool is_needed, uint64_t *number);

/* These four refuse the request before they return false or NULL. */
bool request_read_value(const struct request *, bool is_needed, const char **value);
bool request_is_permitted(const struct request *, enum config_right);
bool request_is_affordable(const struct request *, enum user_good, uint64_t more); /* to the client's user */
/* The leadership of the request's group, if the client has the right, or needs none because this is its own. */
struct leadership *request_find_leadership(const struct request *, enum config_right,
                                           bool (*is_own)(const struct leadership *, const void *client));

/* candidates.c */
void request_on_campaign(const struct request *);
void request_on_change(const struct request *);
void request_on_resign(const struct request *);
void request_on_transfer(const struct request *);
void request_on_stopped(const struct request *);
void request_on_proclaim(const struct request *);
void request_on_forget(const struct request *);
void request_on_work(const struct request *);

/* readers.c */
void request_on_observe(const struct request *);
void request_on_unobserve(const struct request *);
void request_on_status(const struct request *);
void request_on_members(const struct request *);
void request_on_renewals(const struct request *);
void request_on_history(const struct request *);
void request_on_why(const struct request *);

#endif
