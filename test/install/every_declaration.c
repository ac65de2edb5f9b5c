/* Uses every declaration of elector.h, in C and in C++. It is compiled, never run; test/install compares the names. */
#include <elector.h>

static elector_callback *callback;

/* $ELECTOR_URL is of the environment. */
static uint64_t use_constants(void)
{
    const uint64_t numbers[] = {
        (uint64_t)ELECTOR_BUSY,
        (uint64_t)ELECTOR_CALL_CAMPAIGN,
        (uint64_t)ELECTOR_CALL_CANDIDATES,
        (uint64_t)ELECTOR_CALL_CHANGE,
        (uint64_t)ELECTOR_CALL_HAND_OVER,
        (uint64_t)ELECTOR_CALL_NONE,
        (uint64_t)ELECTOR_CALL_OBSERVE,
        (uint64_t)ELECTOR_CALL_PROCLAIM,
        (uint64_t)ELECTOR_CALL_RESIGN,
        (uint64_t)ELECTOR_CALL_TRANSFER,
        (uint64_t)ELECTOR_CALL_UNOBSERVE,
        (uint64_t)ELECTOR_CLOSED,
        (uint64_t)ELECTOR_CONNECTED,
        (uint64_t)ELECTOR_DISCONNECTED,
        (uint64_t)ELECTOR_DONE,
        (uint64_t)ELECTOR_ELECTED,
        (uint64_t)ELECTOR_GROUP_MAX,
        (uint64_t)ELECTOR_INTERRUPTED,
        (uint64_t)ELECTOR_INVALID,
        (uint64_t)ELECTOR_LOST,
        (uint64_t)ELECTOR_LOST_OFFICE,
        (uint64_t)ELECTOR_NAME_MAX,
        (uint64_t)ELECTOR_NEVER,
        (uint64_t)ELECTOR_NEW_LEADER,
        (uint64_t)ELECTOR_NOT_LEADING,
        (uint64_t)ELECTOR_NO_MEMORY,
        (uint64_t)ELECTOR_OK,
        (uint64_t)ELECTOR_REASON_DEADLINE,
        (uint64_t)ELECTOR_REASON_DISCONNECTED,
        (uint64_t)ELECTOR_REASON_DISK,
        (uint64_t)ELECTOR_REASON_FORCED,
        (uint64_t)ELECTOR_REASON_LEAVING,
        (uint64_t)ELECTOR_REASON_LOCK_REMOVED,
        (uint64_t)ELECTOR_REASON_REMOVED,
        (uint64_t)ELECTOR_REASON_NONE,
        (uint64_t)ELECTOR_REASON_NOT_TRANSFERRED,
        (uint64_t)ELECTOR_REASON_NO_QUORUM,
        (uint64_t)ELECTOR_REASON_OTHER,
        (uint64_t)ELECTOR_REASON_PREEMPTED,
        (uint64_t)ELECTOR_REASON_RESIGNED,
        (uint64_t)ELECTOR_REASON_SUPERSEDED,
        (uint64_t)ELECTOR_REASON_TRANSFERRED,
        (uint64_t)ELECTOR_REASON_WATCHDOG,
        (uint64_t)ELECTOR_REFUSED,
        (uint64_t)ELECTOR_STOP,
        (uint64_t)ELECTOR_TIMEOUT,
        (uint64_t)ELECTOR_UNAVAILABLE,
        (uint64_t)ELECTOR_VALUE_MAX,
    };
    return numbers[0] + numbers[sizeof numbers / sizeof *numbers - 1];
}

static uint64_t use_leader(const elector_leader *l)
{
    return l->size + l->token + (uint64_t)l->is_me + (uint64_t)l->name[0] + (uint64_t)l->value[0];
}

static void use_event(void *context, const elector_event *event)
{
    uint64_t *sum = (uint64_t *)context;
    const elector_event_type type = event->type;
    const elector_reason reason = event->reason;
    const elector_call call = event->call;
    const elector_status status = event->status;
    *sum += event->size + (uint64_t)type + (uint64_t)reason + (uint64_t)call + (uint64_t)status;
    *sum += event->token + event->deadline_ns + (uint64_t)event->group[0] + (uint64_t)event->text[0];
    if (event->leader) *sum += use_leader(event->leader);
    for (size_t i = 0; i < event->candidate_count; i++) {
        const elector_candidate *one = event->candidates[i];
        *sum += one->size + one->priority + (uint64_t)one->member[0];
    }
    if (event->data && ELECTOR_HAS(event, candidate_count)) *sum += 1;
}

int main(void)
{
    elector *e;
    elector_options options;
    const elector_leader *leader;
    uint64_t token = 0, sum = use_constants();
    elector_options_init(&options, sizeof options);
    options.priority = options.preempt_after_ms = options.stop_within_ms = options.watchdog_ms = 1;
    options.value = "v";
    callback = use_event;
    /* NOLINTBEGIN(clang-analyzer-deadcode.DeadStores): only the types matter */
    elector_status status = elector_open(NULL, &e);
    elector_on_event(e, callback, &sum);
    elector_set_reconnect(e, 1000);
    if (elector_set_data(e, "g", &sum) != ELECTOR_OK || elector_data(e, "g") != &sum) return 1;
    status = elector_campaign(e, "g", &options, 0, &token);
    status = elector_change(e, "g", &options);
    status = elector_transfer(e, "g", "b");
    status = elector_hand_over(e, "g", "b");
    status = elector_proclaim(e, "g", "v");
    status = elector_stopped(e, "g");
    status = elector_alive(e);
    status = elector_observe(e, NULL);
    status = elector_unobserve(e, NULL);
    status = elector_candidates(e, "g");
    status = elector_leader_of(e, "g", 0, &leader);
    status = elector_resign(e, "g");
    sum += elector_token(e, "g") + elector_deadline(e, "g") + (uint64_t)elector_is_leader(e, "g");
    sum += (uint64_t)elector_fd(e) + (uint64_t)elector_timeout_ms(e);
    status = elector_dispatch(e);
    status = elector_wait(e, 0);
    /* NOLINTEND(clang-analyzer-deadcode.DeadStores) */
    elector_wakeup(e);
    sum += (uint64_t)elector_message(e)[0] + (uint64_t)elector_member(e)[0] + (uint64_t)elector_cluster(e)[0];
    sum += (uint64_t)elector_status_name(status)[0] + (uint64_t)elector_reason_name(ELECTOR_REASON_NONE)[0];
    sum += (uint64_t)elector_version()[0];
    elector_close(e);
    return sum == 0;
}
