/* Running a recording again: see replay.h. */
#include "agent/recorder/replay.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "agent/recorder/reader.h"
#include "algorithms/registry.h"
#include "base/clock.h"

#define TIME_MAX (UINT64_C(1) << 62) /* no clock of ours gets there, and sums do not overflow below */
enum { DEPTH_MAX = 64 };             /* of calls from within calls, which take stack; leaderships make a few */

static const char *const words[] = {
    [HOST_BEGINS] = "begin",       [HOST_TICKS] = "tick",         [HOST_RECEIVES] = "receive",
    [HOST_SAVED] = "saved",        [HOST_FINDS] = "find",         [HOST_STANDS] = "stand",
    [HOST_WAITS] = "be patient",   [HOST_WISHES] = "wish",        [HOST_RESIGNS] = "resign",
    [HOST_TRANSFERS] = "transfer", [HOST_PROCLAIMS] = "proclaim", [HOST_CAMPAIGNS] = "campaign",
    [HOST_HOLDS] = "hold",         [HOST_RELEASES] = "release",
};

struct replay {
    const struct recorder_reader *tape;
    struct record *record;
    struct host *host;
    struct recorder_listener *listener;
    struct recorder_report *report;
    struct recorder_bytes frames; /* of the entry that is run */
    enum host_called what;        /* its call */
    uint64_t at, noted;
    uint32_t how;   /* as of recorder_replay() */
    uint32_t depth; /* of calls from within calls */
    bool is_over;   /* nothing is compared any more */
    bool may_end;   /* the call did not return, so its frames end somewhere */
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
        r->is_over = true; /* it went no further then */
        return false;
    }
    const uint64_t found = recorder_get(&r->frames, 1);
    if (!r->frames.failed && found == (uint64_t)tag) return true;
    say(r, RECORDER_DIVERGES, "%s, which it did not", what);
    return false;
}

static void expect_sum(struct replay *r, enum recorder_tag tag, uint32_t sum, const char *what)
{
    if (!expect(r, tag, what)) return;
    const uint64_t recorded = recorder_get(&r->frames, 4);
    if (r->frames.failed || recorded != sum) say(r, RECORDER_DIVERGES, "%s, but not as it did", what);
}

static struct recorder_listener *tell(struct replay *r)
{
    r->listener->at = r->at;
    r->listener->host = r->host;
    return r->is_over ? NULL : r->listener;
}

/* ---- Calls ---- */

/* As a string; false: it is none. */
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
            say(r, RECORDER_DAMAGED, "that is no value");
        break;
    case HOST_CAMPAIGNS: host_campaign(group); break;
    default: break;
    }
}

static void find(struct replay *r, const struct host_call *call)
{
    char name[CONFIG_NAME_MAX + 1], reason[200];
    if (text_of(call, name, sizeof name) && group_name_is_valid(name) && !host_known(r->host, name))
        (void)host_find(r->host, name, reason, sizeof reason);
    else
        say(r, RECORDER_DAMAGED, "that is no group's name, or not a new one's");
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
    host_release(r->host);
}

/* Whoever listens is told of no others, either. */
static bool is_of_members(const struct replay *r, const struct host_call *call)
{
    const struct config *config = &r->tape->config;
    const uint64_t who = call->numbers[0];
    if (call->what != HOST_RECEIVES && call->what != HOST_TRANSFERS) return true;
    return who >= 1 && who <= config->member_count && (call->what != HOST_RECEIVES || who != config->self);
}

static void perform(struct replay *r, const struct host_call *call)
{
    r->report->inputs++;
    if (!is_of_members(r, call)) {
        say(r, RECORDER_DAMAGED, "there is no such member, or it is this one");
        return;
    }
    if (tell(r) && r->listener->called) r->listener->called(r->listener, call);
    switch (call->what) {
    case HOST_BEGINS: say(r, RECORDER_DAMAGED, "it has begun before"); break;
    case HOST_TICKS: (void)host_tick(r->host); break;
    case HOST_RECEIVES: host_receive(r->host, (el_node)call->numbers[0], call->bytes, call->size); break;
    case HOST_SAVED: saved(r, call); break;
    case HOST_FINDS: find(r, call); break;
    case HOST_HOLDS: host_hold(r->host); break;
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

/* ---- What the host needs, and says ---- */

static uint64_t now(void *context)
{
    return ((const struct replay *)context)->at;
}

static uint64_t draws(void *context)
{
    struct replay *r = context;
    return expect(r, RECORDER_RANDOM, "it draws a number") ? recorder_get(&r->frames, 8) : 0;
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
    snprintf(what, sizeof what, "it sends to %s", r->tape->config.members[to - 1].name);
    if (!expect(r, RECORDER_SENT, what)) return;
    const uint64_t recorded = recorder_get(&r->frames, 1), sum = recorder_get(&r->frames, 4);
    if (r->frames.failed || recorded != to || sum != recorder_sum(payload, size)) {
        say(r, RECORDER_DIVERGES, "%s, but not what it did", what);
        return;
    }
    r->report->sent++;
    if (tell(r) && r->listener->sent) r->listener->sent(r->listener, to, payload, size);
}

static void saves(void *context, struct record_image *image)
{
    struct replay *r = context;
    expect_sum(r, RECORDER_SAVES, recorder_sum(image->bytes, image->size), "it writes its record");
    free(image);
}

/* The host does not expect to be told of time, datagrams and the disk while it tells somebody of a change. */
static bool may_come_from_within(enum host_called what)
{
    return what != HOST_TICKS && what != HOST_RECEIVES && what != HOST_SAVED;
}

/* Whoever was told then may have called back. */
static void call_back(struct replay *r)
{
    struct host_call call;
    r->depth++;
    while (!r->is_over && r->frames.at < r->frames.end && *r->frames.at < RECORDER_RANDOM) {
        if (r->depth <= DEPTH_MAX && recorder_get_call(&r->frames, r->at, false, &call) &&
            may_come_from_within(call.what))
            perform(r, &call);
        else
            say(r, RECORDER_DAMAGED, "it was called in a way that is none");
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
        expect_sum(r, RECORDER_RETURNED_NOTED, noted, "it is done, and says why");
    else
        (void)expect(r, RECORDER_RETURNED, "it is done");
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

/* ---- Beginnings ---- */

static void begin(struct replay *r)
{
    struct host_hooks mine = hooks;
    mine.context = r;
    r->host = host_new(&r->tape->config, r->record, mine);
    r->is_no_room = !r->host;
}

static bool has_unchecked_groups(struct host *host)
{
    struct host_group *group = host ? host_next(host, NULL) : NULL;
    while (group && host_algorithm(group) == &el_quorum) group = host_next(host, group);
    return group;
}

/* In the middle of a life. Whoever listens is told what there is. */
static void begin_from(struct replay *r, const struct recorder_part *part)
{
    struct recorder_bytes state = {.at = part->state, .end = part->state + part->state_size};
    r->at = r->report->began = r->report->ended = part->at;
    r->is_over = true; /* that it begins is not in the recording */
    begin(r);
    const bool trusts = r->how & RECORDER_TRUSTS;
    const bool is_good = r->host && host_unpack(r->host, &state, trusts) && state.at == state.end;
    r->is_over = false;
    if (!is_good) {
        const bool is_unchecked = !trusts && has_unchecked_groups(r->host);
        say(r, RECORDER_DAMAGED,
            is_unchecked
                ? "it begins in the middle of a group of another algorithm than quorum, whose state nobody can check: "
                  "--trusted, if you know whose it is"
                : "the state that it begins with makes no sense");
        return;
    }
    for (struct host_group *group = host_next(r->host, NULL); group; group = host_next(r->host, group))
        if (tell(r) && r->listener->changed) r->listener->changed(r->listener, group);
}

/* The state that was recorded must be the one that it has come to. */
static void compare_with(struct replay *r, const struct recorder_part *part)
{
    uint8_t *bytes = malloc(part->state_size + 1);
    r->is_no_room = !bytes;
    if (!bytes) return;
    struct recorder_bytes state = {.at = bytes, .end = bytes + part->state_size + 1};
    if (!r->host || !host_pack(r->host, &state) || (size_t)(state.at - bytes) != part->state_size ||
        memcmp(bytes, part->state, part->state_size) != 0)
        say(r, RECORDER_DIVERGES, "its state is another than it was");
    free(bytes);
}

/* ---- All of it ---- */

static void run_entry(struct replay *r)
{
    struct host_call call;
    if (!recorder_get_call(&r->frames, r->at, true, &call) || call.at > TIME_MAX) {
        say(r, RECORDER_DAMAGED, "what follows is no call");
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
        say(r, RECORDER_DAMAGED, "nothing has begun yet");
    }
    if (!r->is_over && r->frames.at != r->frames.end)
        say(r, RECORDER_DIVERGES, "it is done, and then did more");
}

/* What there is of a call that did not return. */
static void run_unfinished(struct replay *r)
{
    const struct recorder_part *part = &r->tape->parts[r->tape->part_count - 1];
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
            say(r, RECORDER_DAMAGED, "what follows is damaged");
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
    const struct recorder_reader *tape = r->tape;
    if (tape->parts[0].state_size) begin_from(r, &tape->parts[0]);
    run_part(r, &tape->parts[0]);
    if (tape->part_count == 2 && !r->is_over) {
        if (tape->parts[1].has_beginning) compare_with(r, &tape->parts[1]);
        run_part(r, &tape->parts[1]);
    }
    run_unfinished(r);
}

bool recorder_replay(const struct recorder_reader *tape, struct recorder_listener *listener, uint32_t how,
                     struct recorder_report *report)
{
    struct recorder_listener nobody = {0};
    struct replay r = {.tape = tape, .listener = listener ? listener : &nobody, .report = report, .how = how};
    *report = (struct recorder_report){.flags = tape->parts[tape->part_count - 1].flags};
    r.record = record_restore(tape->parts[0].record, tape->parts[0].record_size);
    if (r.record)
        run(&r);
    else
        say(&r, RECORDER_DAMAGED, "the record that it began with is damaged");
    r.listener->host = r.host;
    if (r.host && r.listener->ended) r.listener->ended(r.listener);
    host_free(r.host);
    record_close(r.record);
    return !r.is_no_room;
}
