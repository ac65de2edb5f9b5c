# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# What agents recorded is run again: it agrees, and what was promised was kept.

replay() { # FORMAT: of all lives of all members
    "$ELECTOR" replay --output "$1" "$dir"/c/*/elector.state.flight* > "$dir/replay-$1" 2> "$dir/replay.err"
}

# The file of an agent that runs is up to a second behind.
tells() { replay report && grep -Eq "$1" "$dir/replay-report"; }    # PATTERN
crashes() { replay text && grep -q CRASHES "$dir/replay-text"; }
objects() { ! replay report && grep -Eq "$1" "$dir/replay-report"; } # PATTERN

story_flight_recorder() {
    local old
    begin 3 '[group work]' 'lease = 2s'
    old=$leader
    kill -KILL "${agent[$old]}"
    await_leader "$token"
    start "$old"
    await 60 "$old names $leader" sees "$old" "$leader"
    await 60 "the recordings tell of two terms, and agree" tells '^[2-9] terms of office: one leader to a token'
    [ "$(grep -c ': agrees' "$dir/replay-report")" = 4 ] || fail "not four lives: $(head -n 1 "$dir/replay-report")"
    await 60 "the agent that was killed crashes in the text, as its next life is recorded" crashes
    for old in text page jsonl mermaid shiviz svg; do
        replay "$old" || fail "no $old: $(head -n 1 "$dir/replay.err")"
        [ -s "$dir/replay-$old" ] || fail "an empty $old"
    done
    grep -q 'LEADS' "$dir/replay-text" || fail "nobody leads in the text"
    grep -q '^<script type="application/jsonl" id="opened" data-name="work" data-about="What agents of flight-recorder recorded of group work. 1 is a, 2 is b, 3 is c.">{"what":"run",' "$dir/replay-page" ||
        fail "the page opens no recording"
    judge
}

# Agents that count a lease from the answer recorded it, and the program as it is does another thing with the same inputs.
story_planted_recorded_by_other_code() {
    local right=$ELECTOR
    plant quorum-lease-from-the-answer
    begin 3
    await 60 "the work goes on" has_ticks "$token" 60
    replay report || fail "the code that recorded it disagrees with itself: $(head -n 1 "$dir/replay-report")"
    ELECTOR=$right
    await 60 "other code does something else" objects 'DIVERGES at input [0-9]* \('
}

# And where it broke what was promised, the same code agrees with the recording, and the judge does not.
story_planted_recorded_overlap() {
    plant quorum-speaks-at-once
    tell_quick_restarts
    expect_red
    await 60 "the recordings say that two were in office at once" objects '^VIOLATED: group work: '
}
