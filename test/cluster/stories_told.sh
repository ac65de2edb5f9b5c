# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# What an operator is told, and that it is true: who counts, why a leader ended, what the log says, what any agent can be asked.

doctor() { "$ELECTOR" doctor --config "$(conf "$1")" > "$dir/doctor-$1" 2>&1; } # MEMBER
doctor_says() {                                                                 # MEMBER PATTERN
    doctor "$1" || true
    grep -qE -e "$2" "$dir/doctor-$1"
}
votes() { status "$1" work | grep -oE '"votes":[0-9]+,"votes_counted":[0-9]+'; } # MEMBER
has_votes() { [ "$(votes "$1")" = "\"votes\":3,\"votes_counted\":$2" ]; }         # MEMBER COUNT
metric() { # MEMBER NAME: its value, over HTTP
    local address
    address=$(sed -n "s/.*HTTP at \([^\"]*\)\".*/\1/p" "$dir/$1.log" | tail -n 1)
    curl -s --max-time 10 "http://$address/metrics" | sed -n "s/^$2 //p"
}
is_metric() { [ "$(metric "$1" "$2")" = "$3" ]; }

# c has another lease for one group: it counts in others, but not there.
story_other_settings() {
    found 3
    printf '%s\n' '[group work]' 'lease = 3s' >> "$(conf a)"
    printf '%s\n' '[group work]' 'lease = 3s' >> "$(conf b)"
    printf '%s\n' '[group work]' 'lease = 2s' >> "$(conf c)"
    start a b c
    work a b c # c's stands for ever: nobody votes for it
    await_leader
    await 30 "a counts two of three: $(votes a)" has_votes a 2
    await 30 "c counts itself alone" has_votes c 1
    await 30 "doctor at a names the key: $(cat "$dir/doctor-a" 2> /dev/null)" doctor_says a \
        '^WRONG +member c .*does not count where it differs: lease of \[group work\] is 3s here and 2s there'
    doctor_says a '^ok +majority +2 of 3 votes count' || fail "$(cat "$dir/doctor-a")"
    ! doctor a || fail "doctor at a finds all well"
    await 30 "doctor at c: $(cat "$dir/doctor-c" 2> /dev/null)" doctor_says c '^WRONG +majority +1 of 3 votes count'
    await_log a 'level=warn.*c does not count where it differs: lease of \[group work\] is 3s here and 2s there'
    "$ELECTOR" status work --url "$(url a)" > "$dir/status" 2>&1 || true
    grep -q ' 2 of 3 ' "$dir/status" || fail "status: $(cat "$dir/status")"
    "$ELECTOR" members --url "$(url a)" > "$dir/members" 2>&1 || true
    if ! grep -qE '^c .* DIFFERS ' "$dir/members" || ! grep -q '2 of 3 votes count; 2 elect; 0 more may fail' "$dir/members" ||
        ! grep -q '^pending: c does not count where it differs: lease of \[group work\] is 3s here and 2s there; ' "$dir/members"; then fail "$(cat "$dir/members")"; fi
    await 30 "a metric for c" is_metric a 'elector_network_peer_differs{from="c"}' 1
    is_metric a 'elector_network_peer_differs{from="b"}' 0 || fail "b differs by the metric"
    members_say c '^1 of 3 votes count in all groups; 2 elect; nobody can be elected in \[group work\] until 1 more counts there; elsewhere 3 count$' ||
        fail "$(cat "$dir/members")"
    grep -qE '^WRONG +majority +1 of 3 votes count in \[group work\]: nobody can be elected there until there are 2; elsewhere 3 count$' "$dir/doctor-c" ||
        fail "$(cat "$dir/doctor-c")"
    await_log c 'level=warn.*no majority: 1 of 3 votes count, others are heard but differ; nobody is elected or renews a lease where they differ until there are 2'
    local first=$token at=$leader other=b
    [ "$at" = a ] || other=a
    kill -STOP "${agent[$other]}" # one of two that count: c is no help
    await_log "$at" "level=warn group=\"work\" msg=\"leadership lost here: no-quorum; no majority has renewed the lease for [0-9]* ms: $other silent for [0-9]* ms, c does not count"
    await_log "$at" 'level=warn.*lost the majority: 1 of 3 votes count, others are heard but differ; nobody is elected'
    kill -CONT "${agent[$other]}"
    await_log "$at" 'level=info.*the majority is back after [0-9]* ms: 2 of 3 votes count'
    await_leader "$first"
    await_told "$at" "^Before, $at led with token $first for .*, until no majority renewed its lease \($other silent for [0-9]+ ms, c does not count\)"
    await_told "$at" 'c is heard, but does not count: its settings differ'
    kill -TERM "${agent[c]}"
    await_exit "${agent[c]}" 0 c
    sed -i 's/^lease = 2s/lease = 3s/' "$(conf c)"
    start c
    await 30 "all count again" has_votes a 3
    await_log a 'level=info.*c has the same settings and members'
    await 30 "the metric is 0 again" is_metric a 'elector_network_peer_differs{from="c"}' 0
    no_errors a b c
    judge
}

# A voter that has just started, or has lost its record, grants nothing for one promise: all say so, and count it afterwards.
story_votes_after_a_restart() {
    local m
    found 3 '[group work]' 'lease = 8s'
    start a b c
    work a
    await_leader
    for m in a b c; do await 30 "$m counts all" members_say "$m" '^3 of 3 votes count; 2 elect; 1 more may fail$'; done
    kill -KILL "${agent[b]}"
    start b
    await 30 "b knows it" members_say b '^pending: b has just started, and grants nothing for [0-9]\.[0-9] s more$'
    await 30 "a knows it" members_say a '^pending: b has just started, and grants nothing for [0-9]\.[0-9] s more$'
    grep -q '^2 of 3 votes count; 2 elect; 0 more may fail$' "$dir/members" || fail "$(cat "$dir/members")"
    has_votes a 2 || fail "status at a: $(votes a)"
    doctor_says a '^warn +vote of b +it has just started, and grants nothing for [0-9]+ ms more$' || fail "$(cat "$dir/doctor-a")"
    grep -qE '^ok +majority +2 of 3 votes count' "$dir/doctor-a" || fail "$(cat "$dir/doctor-a")"
    for m in a b c; do await 30 "$m counts all again" members_say "$m" '^3 of 3 votes count; 2 elect; 1 more may fail$'; done
    has_votes a 3 || fail "status at a: $(votes a)"
    kill -KILL "${agent[b]}"
    await 30 "b is gone" has_ended "${agent[b]}"
    rm "$dir/c/b/elector.state"
    start b
    await 30 "b has no record" members_say b '^pending: b has no record of its promises, and grants nothing '
    await 30 "a knows it" members_say a '^pending: b has no record of its promises, and grants nothing '
    for m in a b c; do await 30 "$m counts all at last" members_say "$m" '^3 of 3 votes count; 2 elect; 1 more may fail$'; done
    judge
}

# c lists a fourth member, so it counts nowhere.
story_other_members_are_told() {
    found 3
    printf '[member d]\nid = 4\naddress = %s.4:%s\nkey = %s\n' "$prefix" "$port" "$(head -c 32 /dev/urandom | base64)" >> "$(conf c)"
    start a b c
    work a b
    await_leader
    await 30 "doctor at a names the member: $(cat "$dir/doctor-a" 2> /dev/null)" doctor_says a \
        '^WRONG +member c .*does not count where it differs: member d is none here and id=4 role=voter there'
    await 30 "a counts two of three" has_votes a 2
    await_log a 'level=warn.*c does not count where it differs: member d'
    await 30 "a metric for c" is_metric a 'elector_network_peer_differs{from="c"}' 1
    no_errors a b c
    judge
}

past_of() { "$ELECTOR" history work --output json --url "$(url "$1")"; } # MEMBER
tenure() {                                                               # MEMBER TOKEN: what does not depend on the clock of that host
    past_of "$1" | grep -oE "\"leader\":\"[a-z]\",\"token\":$2,[^}]*" | sed -E 's/"(at|age_us)":[^,]*,?//g; s/("ended":null,)"led_us":[0-9]+,/\1/'
}
same_tenures() { # TOKEN...: all agents tell the same of them
    local t m first
    for t in "$@"; do
        first=$(tenure a "$t")
        [ -n "$first" ] || return 1
        for m in b c; do [ "$(tenure "$m" "$t")" = "$first" ] || return 1; done
    done
}
failover_is_that_of_history() { # MEMBER TOKEN: the only failover that it counts lasted as long as its history tells
    local us sum
    us=$(past_of "$1" | grep -oE "\"token\":$2,[^}]*" | grep -oE '"nobody_us":[0-9]+' | cut -d: -f2)
    is_metric "$1" elector_failover_seconds_count 1 || return 1
    sum=$(metric "$1" elector_failover_seconds_sum)
    [ "$(awk -v s="$sum" 'BEGIN { printf "%d", s * 1000000 }')" = "$us" ]
}

# The leader's voters are frozen for 4 s. It has not resigned: it lost its majority, and all tell so.
story_majority_lost() {
    local first m account
    found 3 '[group work]' 'lease = 3s' # so that a busy machine changes no leader by itself
    start a b c
    work a
    await_leader
    first=$token
    work b
    await 30 "b stands" candidates_at b
    kill -STOP "${agent[b]}" "${agent[c]}"
    await_log a 'level=warn group="work" msg="leadership lost here: no-quorum; no majority has renewed the lease for [0-9]* ms: b silent for [0-9]* ms, c silent for'
    await_log a 'level=warn.*lost b: not heard for'
    await_log a 'level=warn.*lost c: not heard for'
    await_log a 'level=warn.*lost the majority: 1 of 3 votes count; nobody is elected'
    kill -CONT "${agent[b]}" "${agent[c]}"
    await_leader "$first"
    await_log a 'level=info.*b is back: heard again after'
    await_log a 'level=info.*the majority is back after'
    await 30 "doctor at b tells that it was late: $(cat "$dir/doctor-b" 2> /dev/null)" doctor_says b \
        '^warn +lateness +the agent ran up to [0-9]{4,}\.[0-9] ms late in the last hour, and [0-9.]+ ms stop work'
    [ "$(metric b 'elector_loop_late_seconds_bucket{le="1"}')" -lt "$(metric b elector_loop_late_seconds_count)" ] ||
        fail "no lateness above 1 s in the metrics of b"
    for m in a b c; do
        await_log "$m" "level=info group=\"work\" msg=\"leader changed: $leader leads with token $token"
        await_told "$m" "^Before, a led with token $first for .*, until no majority renewed its lease \(b silent for [0-9]+ ms, c silent for"
    done
    await_told a '^ +0 +[bc] is heard for the last time'
    await_told a 'no majority has renewed the lease of a for [0-9]+ ms: b, c silent'
    await 30 "all tell the same: $(for m in a b c; do tenure "$m" "$first"; tenure "$m" "$token"; done)" same_tenures "$first" "$token"
    [[ $(tenure c "$first") == *'"ended":"no-quorum"'* ]] || fail "history: $(past_of c)"
    for m in a b c; do await_log "$m" 'level=info group="work" msg="leader change in full: '"$leader with token $token"; done
    account=$(in_full a "$token")
    [[ $account == *', elected; a: no-quorum; nobody led for '* ]] || fail "in full: $account"
    [[ $(in_full b "$token")/$(in_full c "$token") == "$account/$account" ]] || fail "in full: $account; $(in_full b "$token"); $(in_full c "$token")"
    for m in a b c; do await 30 "$m counts what its history tells: $(past_of "$m")" failover_is_that_of_history "$m" "$token"; done
    no_errors a b c
    judge
}
nobody_overlaps() { # MEMBER: no tenure of its history ends after the next one begins
    past_of "$1" | grep -oE '"age_us":[0-9]+|"led_us":[0-9]+' | cut -d: -f2 | paste - - |
        awk 'NR > 1 && began - led < $1 { exit 1 } { began = $1; led = $2 } END { if (NR < 2) exit 1 }'
}

# The leader's agent is frozen for longer than its lease. When it is back, it states that it led until its lease ended, and not
# until it noticed; and it blames nobody else.
story_frozen_leader() {
    local first m
    found 3 '[group work]' 'lease = 3s' # so that a busy machine changes no leader by itself
    start a b c
    work a
    await_leader
    first=$token
    work b
    await 30 "b stands" candidates_at b
    kill -STOP "${agent[a]}"
    await_leader "$first"
    await_log b "level=info group=\"work\" msg=\"leader change in full: b with token $token" # 3 s after it
    kill -CONT "${agent[a]}"
    await_log a 'leadership lost here: no-quorum; no majority has renewed the lease for [0-9]* ms: the agent of a stood still for [0-9]* ms"'
    for m in a b c; do
        await_told "$m" "^Before, a led with token $first for .*, until no majority renewed its lease \(the agent of a stood still for [0-9]+ ms\)"
    done
    await_told a '^ +0 +the agent of a stands still, for [0-9]+ ms'
    await_told a 'no majority has renewed the lease of a for [0-9]+ ms: its agent stood still$'
    await 30 "all tell the same: $(for m in a b c; do tenure "$m" "$first"; tenure "$m" "$token"; done)" same_tenures "$first" "$token"
    for m in a b c; do nobody_overlaps "$m" || fail "two led at once, says $m: $(past_of "$m")"; done
    await_log a "level=info group=\"work\" msg=\"leader change in full: b with token $token"
    for m in a b c; do await 30 "$m counts what its history tells: $(past_of "$m")" failover_is_that_of_history "$m" "$token"; done
    no_errors a b c
    judge
}

# More groups than fit in any answer, at a real agent: all are told, and counted.
story_many_groups() {
    local count=20000
    [ -z "${ELECTOR_SANITIZED-}" ] || count=5000
    found 1
    start a
    "$lib/cluster-crowd" "$(url a)" $count > "$dir/crowd.log" 2>&1 &
    runner[a]=$!
    await 120 "one leads $count groups: $(cat "$dir/crowd.log")" grep -qx "leads $count" "$dir/crowd.log"
    "$ELECTOR" status --url "$(url a)" > "$dir/status" 2>&1 || fail "status: $(tail -n 1 "$dir/status")"
    [ "$(grep -cE '^crowd-[0-9]+ +a +[0-9]{16} ' "$dir/status")" -eq $count ] || fail "status lists $(grep -c ^crowd "$dir/status")"
    [ "$(grep -oE '^crowd-[0-9]+ ' "$dir/status" | sort -u | wc -l)" -eq $count ] || fail "status lists a group twice"
    [ "$(status a | grep -oE '"group": *"crowd-[0-9]+"' | sort -u | wc -l)" -eq $count ] || fail "status as JSON leaves groups out"
    doctor_says a "^ok +groups +$count: $count led, 0 " || fail "doctor: $(cat "$dir/doctor-a")"
    kill -TERM "${runner[a]}"
    await 60 "the candidate ends" has_ended "${runner[a]}"
    await 60 "doctor: $(cat "$dir/doctor-a")" doctor_says a "groups +$count: 0 led, "
}

# An agent that does not answer is suspected to hang, and only that one.
story_frozen_agent() {
    found 1
    start a
    kill -STOP "${agent[a]}"
    ! "$ELECTOR" status --url "$(url a)" > "$dir/status" 2>&1 || fail "a frozen agent answers: $(cat "$dir/status")"
    grep -q 'does not answer; does it hang?' "$dir/status" || fail "status: $(cat "$dir/status")"
    doctor a || true
    grep -q 'does it hang?' "$dir/doctor-a" || fail "doctor: $(cat "$dir/doctor-a")"
    kill -CONT "${agent[a]}"
    await 30 "it answers again" answers a
    "$ELECTOR" status --url "$(url a)" > "$dir/status" 2>&1 || true
    ! grep -q 'does it hang' "$dir/status" || fail "status: $(cat "$dir/status")"
    kill -TERM "${agent[a]}"
    await 30 "it ends" has_ended "${agent[a]}"
    ! "$ELECTOR" status --url "$(url a)" > "$dir/status" 2>&1 || fail "one that has ended answers: $(cat "$dir/status")"
    ! grep -q 'does it hang' "$dir/status" || fail "one that has ended hangs: $(cat "$dir/status")"
}

# All agents end, and nobody hears how the last tenure ended. When they are back, its leader's agent tells it.
story_told_after_restart() {
    local first last m
    found 3 '[group work]' 'lease = 2s'
    start a b c
    work a b c
    await_leader
    first=$leader last=$token
    for m in a b c; do await 30 "the history of $m is in its file" test -s "$dir/c/$m/elector.state.history"; done
    for m in $(others "$first"); do kill -STOP "${agent[$m]}"; done
    kill -TERM "${agent[$first]}"
    await 60 "the agent of $first ends" has_ended "${agent[$first]}"
    for m in $(others "$first"); do kill -KILL "${agent[$m]}"; done
    for m in $(others "$first"); do await 60 "the agent of $m ends" has_ended "${agent[$m]}"; done
    start a b c
    await_leader "$last"
    await 30 "all tell the same: $(for m in a b c; do tenure "$m" "$last"; done)" same_tenures "$last" "$token"
    ! [[ $(tenure a "$last") == *led_at_most* ]] || fail "it is not known how long it led: $(tenure a "$last")"
    m=$(others "$leader" | sed -n 1p)
    kill -KILL "${agent[$m]}" # it comes back, and tells since when the others have had a leader
    await 60 "the agent of $m ends" has_ended "${agent[$m]}"
    rm "$dir/c/$m/elector.state.history"
    start "$m"
    await 60 "$m knows when the leader began: $(age "$m" "$token"), $(age "$leader" "$token")" same_age "$m" "$leader" "$token"
    judge
}
age() { past_of "$1" | grep -oE "\"token\":$2,[^}]*" | grep -oE '"age_us":[0-9]+' | cut -d: -f2; } # MEMBER TOKEN
same_age() { # MEMBER MEMBER TOKEN: to 150 ms; the restart takes longer
    local one other
    one=$(age "$1" "$3") other=$(age "$2" "$3")
    [ -n "$one" ] && [ -n "$other" ] && [ $((one - other)) -lt 150000 ] && [ $((other - one)) -lt 150000 ]
}
in_full() { sed -n "s/.*leader change in full: \(.* with token $2, .*\)\".*/\1/p" "$dir/$1.log"; } # MEMBER TOKEN
candidates_at() { [ "$(field "$1" work candidates)" = 1 ]; } # MEMBER

# Whichever agent is asked, the leader's answers.
story_ask_any_agent() {
    local m first asked
    begin 3
    for m in a b c; do await 30 "$m stands" candidates_at "$m"; done
    await 30 "all name one leader" agree
    for m in $(others "$leader"); do # to the one that is asked, which does not lead
        await 30 "transfer at $m" "$ELECTOR" transfer work --to "$m" --url "$(url "$m")" > "$dir/transfer.log" 2>&1
        await 60 "$m works" works_at "$m"
        await 30 "all name one leader" agree
    done
    asked=$(others "$leader" | sed -n 1p)
    first=$token
    "$ELECTOR" resign work --url "$(url "$asked")" > "$dir/resign.log" 2>&1 || fail "resign at $asked: $(cat "$dir/resign.log")"
    await_leader "$first"
    await_log "$asked" 'forced resign granted, by the leader'
    await 30 "all name one leader" agree
    asked=$(others "$leader" | sed -n 1p)
    one_line "to itself" "$leader, which leads, answers: that member leads already" 1 "$ELECTOR" transfer work --to "$leader" --url "$(url "$asked")"
    kill -STOP "${agent[$leader]}"
    one_line "frozen leader" "no answer from $leader, which leads, within 2 s" 3 "$ELECTOR" resign work --url "$(url "$asked")"
    kill -CONT "${agent[$leader]}"
    judge
}

# An observer passes nothing on, and is not heard if it does.
story_observers_depose_nobody() {
    local first m
    found 3
    for m in a b c; do sed -i '/^\[member c\]/,/^key/ s/^role = voter/role = observer/' "$(conf "$m")"; done
    start a b c
    work a b
    await_leader
    first=$token
    await 30 "c knows the leader" sees c "$leader"
    one_line "an observer" "$leader leads work, and an observer passes no requests on" 1 "$ELECTOR" resign work --url "$(url c)"
    look
    [ "$token" = "$first" ] || fail "the leader was deposed"
    judge
}

# The leader's agent is of an earlier version, and does not know the request.
story_ask_an_earlier_version() {
    build_earlier "$before_rooms"
    found 3
    start_earlier a
    start b c
    work_by_library a
    await_leader
    work_by_library b
    await 30 "b stands" candidates_at b
    await 30 "b knows the leader" sees b a
    one_line "an earlier version" "no answer from a, which leads, within 2 s; it may be cut off, or of an earlier version" 3 \
        "$ELECTOR" transfer work --to b --url "$(url b)"
    await 30 "a takes the request" "$ELECTOR" transfer work --to b --url "$(url a)" > "$dir/transfer.log" 2>&1
    await 60 "b leads" works_at b
    await 30 "all count" has_votes b 3
    no_errors b c
    judge
}

# A hundred changes at once are not a hundred lines.
story_log_has_a_budget() {
    found 1
    start a
    "$ELECTOR" run --url "$(url a)" --quiet --group 'g-{0..63}' --spread -- sleep 1000 > "$dir/run.log" 2>&1 &
    await_log a 'level=info msg="leaders changed: [0-9]* more, without a line for each"'
    [ "$(grep -c 'leader changed: a leads' "$dir/a.log")" -le 40 ] || fail "a line for each: $(grep -c 'leader changed' "$dir/a.log")"
    no_errors a
}

# A client that finds no place is in the log.
story_refused_client_is_logged() {
    [ "$(id -u)" = 0 ] || skip "only root can become somebody else"
    found 1
    sed -i 's/^self = a$/self = a\nsocket-per-user = 1\nsocket-mode = 0666/' "$(conf a)"
    start a
    chmod 0755 "$dir" "$dir/.." "$dir/c" "$dir/c/a"
    cp "$ELECTOR" "$dir/elector" # to where anybody may go
    setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/elector" observe work --url "$(url a)" > "$dir/observe.log" 2>&1 &
    await 30 "one observes" grep -q work "$dir/observe.log"
    ! setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/elector" status --url "$(url a)" > "$dir/said" 2>&1 || fail "a second finds a place"
    await_log a 'level=warn msg="refused a client: .*65534'
    no_errors a
}
