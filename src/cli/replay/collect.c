/* Collects the events of a recording while it is replayed. */
#include <stdlib.h>
#include <string.h>

#include "cli/replay/recordings.h"

struct ear {
    struct recordings_story *story;
    uint32_t run;
};

/* Makes room for one more; NULL if memory ran out. */
static void *more(struct recordings_story *story, void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room) return list;
    const size_t wanted = *room ? 2 * *room : 256;
    void *grown = realloc(list, wanted * size);
    if (grown)
        *room = wanted;
    else
        story->is_out_of_memory = true;
    return grown;
}

static struct recordings_event *add(struct recorder_listener *l, enum recordings_what what, el_node peer)
{
    const struct ear *ear = l->context;
    struct recordings_story *story = ear->story;
    struct recordings_event *grown =
        more(story, story->events, story->event_count, &story->event_room, sizeof *story->events);
    if (!grown) return NULL;
    story->events = grown;
    struct recordings_event *event = &story->events[story->event_count++];
    *event = (struct recordings_event){.at = l->at, .run = ear->run, .what = (uint8_t)what, .peer = peer};
    return event;
}

/* ---- Payloads and their messages ---- */

static bool is_told(const struct recordings_story *story, const struct payload_entry *entry)
{
    if (entry->type == PAYLOAD_SESSION) return story->beats;
    return (entry->type == PAYLOAD_MESSAGE || entry->type == PAYLOAD_LINKED) && entry->group == story->group &&
           !(entry->flags & PAYLOAD_DETECTOR);
}

static void add_messages(struct recorder_listener *l, enum recordings_what what, el_node peer, size_t of,
                         const uint8_t *payload, size_t size)
{
    struct recordings_story *story = ((struct ear *)l->context)->story;
    struct payload_entry entry;
    for (struct payload_place at = PAYLOAD_FIRST; payload_next(payload, size, &at, &entry) == PAYLOAD_ENTRY;) {
        if (story->group == 0 || !is_told(story, &entry)) continue;
        struct recordings_event *event = add(l, what, peer);
        if (!event) return;
        event->kind = entry.msg.kind;
        event->subject = entry.msg.subject;
        event->values[0] = entry.msg.epoch;
        event->values[1] = entry.msg.aux;
        event->pair = of;
    }
}

static void add_payload(struct recorder_listener *l, bool hears, el_node peer, const uint8_t *payload,
                        size_t size)
{
    struct recordings_story *story = ((struct ear *)l->context)->story;
    uint64_t digest;
    const size_t place = story->event_count;
    struct recordings_event *event = add(l, hears ? RECORDINGS_HEARS : RECORDINGS_SENDS, peer);
    if (!event || !payload_head(payload, size, &digest)) return;
    event->number = el_fingerprint(payload, size).low;
    add_messages(l, hears ? RECORDINGS_HEARS_MESSAGE : RECORDINGS_SENDS_MESSAGE, peer, place, payload, size);
}

static void on_sent(struct recorder_listener *l, el_node to, const uint8_t *payload, size_t size)
{
    add_payload(l, false, to, payload, size);
}

static void look_for_obituaries(const struct recorder_listener *l, el_node from, const uint8_t *payload,
                                size_t size)
{
    struct recordings_story *story = ((struct ear *)l->context)->story;
    struct payload_entry entry;
    if (!payload_may_pass(payload, size, true)) return;
    for (struct payload_place at = PAYLOAD_FIRST; payload_next(payload, size, &at, &entry) == PAYLOAD_ENTRY;) {
        if (story->obituary_count == RECORDINGS_OBITUARIES_MAX) return;
        const bool is_all = entry.type == PAYLOAD_OBITUARY;
        story->obituaries[story->obituary_count++] =
            (struct recordings_obituary){.who = from,
                                         .incarnation = is_all ? entry.dead : entry.incarnation,
                                         .group = is_all ? 0 : entry.group,
                                         .term = is_all ? 0 : entry.released};
    }
}

/* As its own obituary would name it. */
static uint64_t incarnation_of(const struct host *host)
{
    struct payload payload;
    struct payload_entry entry;
    struct payload_place at = PAYLOAD_FIRST;
    if (!host_obituary(host, &payload)) return 0;
    return payload_next(payload.bytes, payload.size, &at, &entry) == PAYLOAD_ENTRY ? entry.dead : 0;
}

/* ---- Requests ---- */

static void on_called(struct recorder_listener *l, const struct host_call *call)
{
    const struct recordings_story *story = ((struct ear *)l->context)->story;
    const bool is_ours = story->group && call->group == story->group;
    struct recordings_event *event;
    uint64_t digest;
    if (call->what == HOST_RECEIVES) {
        const uint64_t from = call->numbers[0];
        if (from == 0 || from > CONFIG_MEMBERS_MAX || !payload_head(call->bytes, call->size, &digest)) return;
        add_payload(l, true, (el_node)from, call->bytes, call->size);
        look_for_obituaries(l, (el_node)from, call->bytes, call->size);
    } else if (call->what == HOST_SAVED) {
        (void)add(l, RECORDINGS_WRITES, EL_NOBODY);
    } else if (is_ours && (call->what == HOST_RESIGNS || call->what == HOST_TRANSFERS)) {
        event = add(l, RECORDINGS_ASKED, (el_node)call->numbers[0]);
        if (event) event->kind = call->what == HOST_RESIGNS ? EL_RESIGN : EL_TRANSFER;
    } else if (is_ours && (call->what == HOST_CAMPAIGNS || (call->what == HOST_STANDS && call->numbers[0]))) {
        (void)add(l, RECORDINGS_CALLED, EL_NOBODY);
    }
}

static void on_noted(struct recorder_listener *l, struct host_group *group, const struct host_note *note)
{
    const struct recordings_story *story = ((struct ear *)l->context)->story;
    if (!group || host_key(group) != story->group || note->by != host_algorithm(group)) return;
    struct recordings_event *event = add(l, RECORDINGS_NOTES, EL_NOBODY);
    if (!event) return;
    event->note = note->number;
    memcpy(event->values, note->values, sizeof event->values);
}

/* ---- Leaderships ---- */

/* Searches from the last, the most likely one. */
static struct recordings_claim *open_claim(const struct recordings_story *story, uint32_t run, uint64_t group)
{
    for (size_t i = story->claim_count; i > 0 && story->claims[i - 1].run == run; i--)
        if (story->claims[i - 1].group == group)
            return story->claims[i - 1].is_open ? &story->claims[i - 1] : NULL;
    return NULL;
}

static uint64_t deadline_of(const struct recordings_story *story, const struct recordings_claim *claim)
{
    return claim->cell == HOST_NO_CELL ? claim->deadline : story->runs[claim->run].cells[claim->cell];
}

static void end_claim(const struct recordings_story *story, struct recordings_claim *claim, uint64_t at)
{
    const uint64_t deadline = deadline_of(story, claim);
    claim->is_open = false;
    claim->ended = deadline < at ? deadline : at;
}

static void lead(const struct recorder_listener *l, struct host_group *group, const struct host_view *view)
{
    const struct ear *ear = l->context;
    struct recordings_story *story = ear->story;
    struct recordings_claim *claim = open_claim(story, ear->run, host_key(group));
    if (claim && claim->token != view->token) {
        end_claim(story, claim, l->at);
        claim = NULL;
    }
    if (!claim) {
        struct recordings_claim *grown =
            more(story, story->claims, story->claim_count, &story->claim_room, sizeof *claim);
        if (!grown) return;
        story->claims = grown;
        claim = &story->claims[story->claim_count++];
        *claim = (struct recordings_claim){
            .group = host_key(group), .token = view->token, .began = l->at, .run = ear->run, .is_open = true};
        snprintf(claim->name, sizeof claim->name, "%s", host_name(group));
    }
    story->runs[ear->run].incarnation = incarnation_of(l->host);
    claim->deadline = view->deadline_ns;
    claim->cell = host_cell(group);
    if (claim->cell != HOST_NO_CELL) story->runs[ear->run].cells[claim->cell] = view->deadline_ns;
}

static void follow(const struct recorder_listener *l, struct host_group *group, const struct host_view *view)
{
    const struct ear *ear = l->context;
    struct recordings_story *story = ear->story;
    struct recordings_claim *claim = open_claim(story, ear->run, host_key(group));
    if (claim) end_claim(story, claim, l->at);
    if (view->leader == EL_NOBODY) return;
    struct recordings_name *grown =
        more(story, story->names, story->name_count, &story->name_room, sizeof *story->names);
    if (!grown) return;
    story->names = grown;
    story->names[story->name_count++] =
        (struct recordings_name){host_key(group), view->token, l->at, ear->run, view->leader};
}

static void on_changed(struct recorder_listener *l, struct host_group *group)
{
    const struct host_view view = host_view_of(group);
    const struct recordings_story *story = ((struct ear *)l->context)->story;
    if (strcmp(host_algorithm(group)->name, "quorum") == 0) {
        if (view.role == EL_LEADER)
            lead(l, group, &view);
        else
            follow(l, group, &view);
    }
    if (host_key(group) != story->group) return;
    struct recordings_event *event = add(l, RECORDINGS_VIEWS, view.leader);
    if (!event) return;
    event->role = (uint8_t)view.role;
    event->number = view.token;
}

static void on_renewed(struct recorder_listener *l, uint32_t cell)
{
    const struct ear *ear = l->context;
    if (cell < HOST_CELLS_MAX) ear->story->runs[ear->run].cells[cell] = host_cell_deadline(l->host, cell);
}

/* ---- All of it ---- */

static void on_ended(struct recorder_listener *l)
{
    struct recordings_story *story = ((struct ear *)l->context)->story;
    struct host_group *group = host_next(l->host, NULL);
    if (group && !story->known[0]) snprintf(story->known, sizeof story->known, "%s", host_name(group));
    if (story->wanted && host_known(l->host, story->wanted)) story->has_wanted = true;
}

/* At the end of a recording a leadership counts until its deadline, unless an obituary ended it. */
static void end_all(struct recordings_story *story, uint32_t run)
{
    const struct recordings_run *r = &story->runs[run];
    const bool is_known = !(r->report.flags & RECORDER_FULL) && r->report.verdict == RECORDER_AGREES;
    for (size_t i = 0; i < story->claim_count; i++) {
        struct recordings_claim *claim = &story->claims[i];
        if (claim->run == run && claim->is_open)
            end_claim(story, claim, is_known ? UINT64_MAX : r->report.ended);
    }
}

void recordings_replay_run(struct recordings_story *story, uint32_t run, uint32_t how)
{
    struct recordings_run *r = &story->runs[run];
    struct ear ear = {story, run};
    struct recorder_listener listener = {.context = &ear,
                                         .called = on_called,
                                         .sent = on_sent,
                                         .changed = on_changed,
                                         .renewed = on_renewed,
                                         .noted = on_noted,
                                         .ended = on_ended};
    const size_t first = story->event_count;
    (void)add(&listener, RECORDINGS_BEGAN, EL_NOBODY);
    if (!recorder_replay(r->tape, &listener, how, &r->report)) story->is_out_of_memory = true;
    if (story->event_count > first) story->events[first].at = r->report.began;
    listener.at = r->report.ended;
    if (!(r->report.flags & RECORDER_FULL)) (void)add(&listener, RECORDINGS_ENDED, EL_NOBODY);
    end_all(story, run);
}

void recordings_story_free(struct recordings_story *story)
{
    for (uint32_t i = 0; i < story->run_count; i++) recorder_reader_free(story->runs[i].tape);
    free(story->events);
    free(story->claims);
    free(story->names);
}
