/* HTTP for tests of adapters: requests wait until the test answers them. To be included once, in place of fetch/fetch.c. */
#ifndef ELECTOR_TEST_LIB_ENGINES_FAKE_FETCH_H
#define ELECTOR_TEST_LIB_ENGINES_FAKE_FETCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/fetch/fetch.h"

enum { FAKE_FETCHES = 16 };

struct fetch {
    bool is_open;
    char url[256], body[4096], authorization[64];
    struct fetch_request request;
};
static struct fetch fake_fetches[FAKE_FETCHES];
static unsigned fake_begun; /* how many there were */

static inline struct fetch *fake_fetch(unsigned number)
{
    return &fake_fetches[number % FAKE_FETCHES];
}

/* The last one that was begun. */
static inline struct fetch *fake_last(void)
{
    return fake_fetch(fake_begun - 1);
}

struct fetch *fetch_begin(struct fetcher *fetcher, const struct fetch_request *request)
{
    struct fetch *fetch = fake_fetch(fake_begun++);
    (void)fetcher;
    *fetch = (struct fetch){.is_open = true, .request = *request};
    snprintf(fetch->url, sizeof fetch->url, "%s", request->url);
    snprintf(fetch->body, sizeof fetch->body, "%s", request->body ? request->body : "");
    for (const char *const *each = request->headers; each && *each; each++)
        if (strncmp(*each, "Authorization: ", 15) == 0)
            snprintf(fetch->authorization, sizeof fetch->authorization, "%s", *each + 15);
    return fetch;
}

void fetch_cancel(struct fetch *fetch)
{
    if (fetch) fetch->is_open = false;
}

static inline void fake_answer(struct fetch *fetch, int status, const char *body)
{
    const struct fetch_answer answer = {
        .trouble = FETCH_ANSWERED, .status = status, .body = body, .size = strlen(body), .text = ""};
    if (!fetch->is_open) return;
    fetch->is_open = false;
    fetch->request.done(fetch->request.context, &answer);
}

static inline void fake_fail(struct fetch *fetch, enum fetch_trouble trouble, const char *text)
{
    const struct fetch_answer answer = {.trouble = trouble, .text = text, .body = ""};
    if (!fetch->is_open) return;
    fetch->is_open = false;
    fetch->request.done(fetch->request.context, &answer);
}

static inline void fake_send(struct fetch *fetch, const char *bytes)
{
    if (fetch->is_open) fetch->request.data(fetch->request.context, 200, bytes, strlen(bytes));
}

#endif
