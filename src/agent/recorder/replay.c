/* See replay.h. */
#include "agent/recorder/replay.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "agent/recorder/reader.h"
#include "algorithms/registry.h"
#include "base/clock.h"

#define TIME_MAX (UINT64_C(1) << 62) /* above every real clock; sums below it do not overflow */
enum { DEPTH_MAX = 64 };             /* of calls within calls, which take stack; an agent makes a few */

static const char *const words[] = {
    [HOST_BEGINS] = "begin",        [HOST_TICKS] = "tick",
    [HOST_RECEIVES] = "receive",    [HOST_SAVED] = "saved",
    [HOST_FINDS] = "find",          [HOST_STANDS] = "stand",
    [HOST_WAITS] = "preempt after", [HOST_WISHES] = "hand-over target",
    [HOST_RESIGNS] = "resign",      [HOST_TRANSFERS] = "transfer",
    [HOST_PROCLAIMS] = "proclaim",  [HOST_CAMPAIGNS] = "campaign",
    [HOST_HOLDS] = "hold",          [HOST_RELEASES] = "release",
    [HOST_FORGETS] = "forget",
};

struct replay {
    const struct recorder_reader *reader;
    struct record *record;
    struct host *host;
    struct recorder_listener *listener;
    struct recorder_report *report;
    struct recorder_bytes frames; /* of the present entry */
    enum host_called what;        /* its call */
    uint64_t at, noted;
    uint32_t how;   /* see recorder_replay() */
    uint32_t depth; /* of calls within calls */
    bool is_over;   /* stop comparing */
    bool may_end;   /* the call did not return: its frames may end anywhere */
    bool is_no_room;
};

/* ---- What differs ---- */

static void say(struct replay *r, enum recorder_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(struct replay *r, enum recorder_verdict verdict, const char *format, ...)
{
    char what[180];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is begun in the line above
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (r->is_over) return;
    r->is_over = true;
    r->report->verdict = verdict;
    snprintf(r->report->text, sizeof r->report->text, "input %llu (%s, %llu.%06llu s): %s",
             (unsigned long long)r->report->inputs, words[r->what], (unsigned long long)(r->at / NS_PER_S),
             (unsigned long long)(r->at / NS_PER_US % 1000000), what);
}

/* Whether the next frame is this one. */
static bool expect(struct replay *r, enum recorder_tag tag, const char *what)
{
    if (r->is_over) return false;
    if (r->may_end && r->frames.at == r->frames.end) {
        r->is_over = true; /* the recording ends here */
        return false;
    }
    const uint64_t found = recorder_get(&r->frames, 1);
    if (!r->frames.failed && found == (uint64_t)tag) return true;
    say(r, RECORDER_DIVERGES, "%s, but the recording has something else here", what);
    return false;
}

static void expect_sum(struct replay *r, enum recorder_tag tag, uint32_t sum, const char *what)
{
    if (!expect(r, tag, what)) return;
    const uint64_t recorded = recorder_get(&r->frames, 4);
    if (r->frames.failed || recorded != sum) say(r, RECORDER_DIVERGES, "%s, but not as recorded", what);
}

static struct recorder_listener *tell(struct replay *r)
{
    r->listener->at = r->at;
    r->listener->host = r->host;
    return r->is_over ? NULL : r->listener;
}

/* ---- Calls ---- */

/* Copies the bytes as a string. False: they are not one. */
static bool text_of(const struct host_call *call, char *text, size_t room)
{
    if (call->size >= room || memchr(call->bytes, '\0', call->size)) return false;
    memcpy(text, call->bytes, call->size);
    text[call->size] = '\0';
    return true;
}

static void ask(struct replay *r, struct host_group *group, const struct host_call *call)
{
    char value[HOST_VALUE_MAX + 1];
    switch (call->what) {
    case HOST_STANDS: host_stand(group, call->numbers[0] != 0, call->numbers[1]); break;
    case HOST_WAITS: host_be_patient(group, (uint32_t)call->numbers[0]); break;
    case HOST_WISHES: (void)host_handover_target(group); break;
    case HOST_RESIGNS: (void)host_resign(group); break;
    case HOST_TRANSFERS: (void)host_transfer(group, (el_node)call->numbers[0]); break;
    case HOST_PROCLAIMS:
        if (text_of(call, value, sizeof value))
            host_proclaim(group, value);
        else
            say(r, RECORDER_DAMAGED, "not a valid value");
        break;
    case HOST_CAMPAIGNS: host_campaign(group); break;
    case HOST_FORGETS: (void)host_forget(group); break;
    default: break;
    }
}

static void find(struct replay *r, const struct host_call *call)
{
    char name[CONFIG_NAME_MAX + 1], reason[200];
    if (text_of(call, name, sizeof name) && group_name_is_valid(name) && !host_known(r->host, name))
        (void)host_find(r->host, name, reason, sizeof reason);
    else
        say(r, RECORDER_DAMAGED, "not a valid group name, or a known group");
}

static void saved(struct replay *r, const struct host_call *call)
{
    if (!host_is_saving(r->host)) {
        say(r, RECORDER_DIVERGES, "nothing is being written");
        return;
    }
    host_saved(r->host, call->numbers[0], (int)(call->numbers[1] != 0));
}

static void release(struct replay *r)
{
    if (host_holds(r->host) == 0) {
        say(r, RECORDER_DAMAGED, "nothing is held");
        return;
    }
    host_batch_end(r->host);
}

/* Whether the member that the call names exists. Checked before the listener is called. */
static bool is_of_members(const struct replay *r, const struct host_call *call)
{
    const struct config *config = &r->reader->config;
    const uint64_t who = call->numbers[0];
    if (call->what != HOST_RECEIVES && call->what != HOST_TRANSFERS) return true;
    return who >= 1 && who <= config->member_count && (call->what != HOST_RECEIVES || who != config->self);
}

static void perform(struct replay *r, const struct host_call *call)
{
    r->report->inputs++;
    if (!is_of_members(r, call)) {
        say(r, RECORDER_DAMAGED, "no such member, or this member itself");
        return;
    }
    if (tell(r) && r->listener->called) r->listener->called(r->listener, call);
    switch (call->what) {
    case HOST_BEGINS: say(r, RECORDER_DAMAGED, "the host begins twice"); break;
    case HOST_TICKS: (void)host_tick(r->host); break;
    case HOST_RECEIVES: host_receive(r->host, (el_node)call->numbers[0], call->bytes, call->size); break;
    case HOST_SAVED: saved(r, call); break;
    case HOST_FINDS: find(r, call); break;
    case HOST_HOLDS: host_batch_begin(r->host); break;
    case HOST_RELEASES: release(r); break;
    default: {
        struct host_group *group = host_by_key(r->host, call->group);
        if (group)
            ask(r, group, call);
        else
            say(r, RECORDER_DIVERGES, "there is no such group");
    }
    }
}

/* ---- The host's hooks ---- */

static uint64_t now(void *context)
{
    return ((const struct replay *)context)->at;
}

static uint64_t draws(void *context)
{
    struct replay *r = context;
    return expect(r, RECORDER_RANDOM, "it draws a random number") ? recorder_get(&r->frames, 8) : 0;
}

static uint64_t wall(void *context)
{
    struct replay *r = context;
    return expect(r, RECORDER_WALL, "it asks for the time of day") ? recorder_get_number(&r->frames) : 0;
}

static void sends(void *context, el_node to, const uint8_t *payload, size_t size)
{
    struct replay *r = context;
    char what[CONFIG_NAME_MAX + 16];
    snprintf(what, sizeof what, "it sends to %s", r->reader->config.members[to - 1].name);
    if (!expect(r, RECORDER_SENT, what)) return;
    const uint64_t recorded = recorder_get(&r->frames, 1), sum = recorder_get(&r->frames, 4);
    if (r->frames.failed || recorded != to || sum != recorder_sum(payload, size)) {
        say(r, RECORDER_DIVERGES, "%s, but not what was recorded", what);
        return;
    }
    r->report->sent++;
    if (tell(r) && r->listener->sent) r->listener->sent(r->listener, to, payload, size);
}

static void saves(void *context, struct record_image *image)
{
    struct replay *r = context;
    expect_sum(r, RECORDER_SAVES, recorder_sum(image->bytes, image->size), "it writes its state");
    free(image);
}

/* From a hook the agent never calls the host about time, datagrams or the disk, and the host does not expect
 * it. */
static bool may_come_from_within(enum host_called what)
{
    return what != HOST_TICKS && what != HOST_RECEIVES && what != HOST_SAVED;
}

/* Runs the calls that the agent made from within the hook. */
static void call_back(struct replay *r)
{
    struct host_call call;
    r->depth++;
    while (!r->is_over && r->frames.at < r->frames.end && *r->frames.at < RECORDER_RANDOM) {
        if (r->depth <= DEPTH_MAX && recorder_get_call(&r->frames, r->at, false, &call) &&
            may_come_from_within(call.what))
            perform(r, &call);
        else
            say(r, RECORDER_DAMAGED, "not a valid call from within a hook");
    }
    r->depth--;
}

static void changed(void *context, struct host_group *group)
{
    struct replay *r = context;
    expect_sum(r, RECORDER_CHANGED, recorder_sum_view(group), "its view of a group changes");
    if (tell(r) && r->listener->changed) r->listener->changed(r->listener, group);
    call_back(r);
}

static void renewed(void *context, uint32_t cell)
{
    struct replay *r = context;
    expect_sum(r, RECORDER_RENEWED, cell, "a deadline is renewed");
    if (tell(r) && r->listener->renewed) r->listener->renewed(r->listener, cell);
    call_back(r);
}

static void notes(void *context, struct host_group *group, const struct host_note *note)
{
    struct replay *r = context;
    r->noted = recorder_sum_note(r->noted, group, note);
    if (tell(r) && r->listener->noted) r->listener->noted(r->listener, group, note);
}

static void warns(void *context, struct host_group *group, const char *text)
{
    (void)context, (void)group, (void)text;
}

static void returned(void *context)
{
    struct replay *r = context;
    const uint32_t noted = (uint32_t)r->noted;
    if (r->noted)
        expect_sum(r, RECORDER_RETURNED_NOTED, noted, "the call returns with notes");
    else
        (void)expect(r, RECORDER_RETURNED, "the call returns");
    r->noted = 0;
}

static const struct host_hooks hooks = {.now = now,
                                        .send = sends,
                                        .save = saves,
                                        .changed = changed,
                                        .note = notes,
                                        .warn = warns,
                                        .random = draws,
                                        .wall_ms = wall,
                                        .renewed = renewed,
                                        .returned = returned};

/* ---- The initial state ---- */

static void begin(struct replay *r)
{
    struct host_hooks mine = hooks;
    mine.context = r;
    r->host = host_new(&r->reader->config, r->record, mine);
    r->is_no_room = !r->host;
}

static bool has_unchecked_groups(struct host *host)
{
    struct host_group *group = host ? host_next(host, NULL) : NULL;
    while (group && host_algorithm(group) == &el_quorum) group = host_next(host, group);
    return group;
}

/* Begins in the middle of an agent's run, from a recorded state. The listener is told of every group. */
static void begin_from(struct replay *r, const struct recorder_part *part)
{
    struct recorder_bytes state = {.at = part->state, .end = part->state + part->state_size};
    r->at = r->report->began = r->report->ended = part->at;
    r->is_over = true; /* the host's beginning is not in this recording */
    begin(r);
    const bool trusts = r->how & RECORDER_TRUSTS;
    const bool is_good = r->host && host_unpack(r->host, &state, trusts) && state.at == state.end;
    r->is_over = false;
    if (!is_good) {
        const bool is_unchecked = !trusts && has_unchecked_groups(r->host);
        say(r, RECORDER_DAMAGED,
            is_unchecked
                ? "it begins in the middle of a group whose algorithm is not quorum, and whose state cannot be "
                  "checked: use --trusted if you trust the file"
                : "the initial state is inconsistent");
        return;
    }
    for (struct host_group *group = host_next(r->host, NULL); group; group = host_next(r->host, group))
        if (tell(r) && r->listener->changed) r->listener->changed(r->listener, group);
}

/* The state recorded at the beginning of the second half must equal the replayed one. */
static void compare_with(struct replay *r, const struct recorder_part *part)
{
    uint8_t *bytes = malloc(part->state_size + 1);
    r->is_no_room = !bytes;
    if (!bytes) return;
    struct recorder_bytes state = {.at = bytes, .end = bytes + part->state_size + 1};
    if (!r->host || !host_pack(r->host, &state) || (size_t)(state.at - bytes) != part->state_size ||
        memcmp(bytes, part->state, part->state_size) != 0)
        say(r, RECORDER_DIVERGES, "its state differs from the recorded one");
    free(bytes);
}

/* ---- Running ---- */

static void run_entry(struct replay *r)
{
    struct host_call call;
    if (!recorder_get_call(&r->frames, r->at, true, &call) || call.at > TIME_MAX) {
        say(r, RECORDER_DAMAGED, "not a valid call");
        return;
    }
    r->what = call.what;
    r->at = r->report->ended = call.at;
    if (r->host) {
        perform(r, &call);
    } else if (call.what == HOST_BEGINS) {
        r->report->began = call.at;
        begin(r);
    } else {
        say(r, RECORDER_DAMAGED, "a call before the host begins");
    }
    if (!r->is_over && r->frames.at != r->frames.end)
        say(r, RECORDER_DIVERGES, "the call returns, but the recording has more output");
}

/* Runs the recorded part of a call that did not return, if the caller wants that. */
static void run_unfinished(struct replay *r)
{
    const struct recorder_part *part = &r->reader->parts[r->reader->part_count - 1];
    uint8_t *entry = part->more_used ? part->more + part->more_used : part->bytes + part->used;
    if (part->pending <= RECORDER_ENTRY_HEAD || r->is_over) return;
    struct host_call call;
    r->frames = (struct recorder_bytes){.at = entry + RECORDER_ENTRY_HEAD, .end = entry + part->pending};
    struct recorder_bytes ahead = r->frames;
    if (!recorder_get_call(&ahead, r->at, true, &call)) return;
    r->report->unfinished = words[call.what];
    r->may_end = true;
    if ((r->how & RECORDER_UNFINISHED)) run_entry(r);
}

static void run_entries(struct replay *r, uint8_t *bytes, size_t at, size_t used, uint32_t *sum)
{
    while (at < used && !r->is_over && !r->is_no_room) {
        if (recorder_entry(bytes, used, &at, sum, &r->frames))
            run_entry(r);
        else
            say(r, RECORDER_DAMAGED, "the next entry is damaged");
    }
}

static void run_part(struct replay *r, const struct recorder_part *part)
{
    uint32_t sum = 0;
    run_entries(r, part->bytes, RECORDER_HEAD, part->used, &sum);
    run_entries(r, part->more, RECORDER_MORE_HEAD, part->more_used, &sum);
}

static void run(struct replay *r)
{
    const struct recorder_reader *reader = r->reader;
    if (reader->parts[0].state_size) begin_from(r, &reader->parts[0]);
    run_part(r, &reader->parts[0]);
    if (reader->part_count == 2 && !r->is_over) {
        if (reader->parts[1].has_beginning) compare_with(r, &reader->parts[1]);
        run_part(r, &reader->parts[1]);
    }
    run_unfinished(r);
}

bool recorder_replay(const struct recorder_reader *reader, struct recorder_listener *listener, uint32_t how,
                     struct recorder_report *report)
{
    struct recorder_listener nobody = {0};
    struct replay r = {
        .reader = reader, .listener = listener ? listener : &nobody, .report = report, .how = how};
    *report = (struct recorder_report){.flags = reader->parts[reader->part_count - 1].flags};
    r.record = record_restore(reader->parts[0].record, reader->parts[0].record_size);
    if (r.record)
        run(&r);
    else
        say(&r, RECORDER_DAMAGED, "the initial state file is damaged");
    r.listener->host = r.host;
    if (r.host && r.listener->ended) r.listener->ended(r.listener);
    host_free(r.host);
    record_close(r.record);
    return !r.is_no_room;
}
