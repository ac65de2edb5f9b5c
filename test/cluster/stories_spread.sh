# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120,SC2004 # names are shared by the files that run.sh sources
# Many groups on few hosts: shared out evenly, again when a host goes or comes back, and never two at work for one.

shards=16

spread() { # MEMBER...
    local m
    for m in "$@"; do
        # shellcheck disable=SC2016 # for the shell below
        "$ELECTOR" run --url "$(url "$m")" --group "shard-{0..$((shards - 1))}" --spread -- \
            sh -c 'exec "$0" "$1/ticks-$ELECTOR_GROUP"' "$lib/cluster-worker" "$dir" >> "$dir/run-$m.log" 2>&1 &
        runner[$m]=$!
    done
}

# Who leads which, by what the agent says that is asked: "shard-0 a" and so on, in order.
shares() { # MEMBER
    "$ELECTOR" status --url "$(url "$1")" 2> /dev/null | awk '/^shard-/ { print $1, $2 }' | sort
}

# Who should lead which, as test/unit/cli/run/assignment.c has it: of three members, six, five and five; of two, eight and eight.
with_c=cbbccacbcaacabab
without_c=abbabaabaababbab

is_shared_as() { # MEMBER SHARES
    local i
    for ((i = 0; i < shards; i++)); do echo "shard-$i ${2:i:1}"; done | sort > "$dir/wanted"
    shares "$1" > "$dir/shares"
    cmp -s "$dir/wanted" "$dir/shares"
}

judge_all() {
    local i
    for ((i = 0; i < shards; i++)); do
        witness "$dir/ticks-shard-$i" || fail "the witness of shard-$i: $(head -n 1 "$dir/witness")"
    done
}

story_spread() {
    found 3 '[group shard-*]' 'lease = 5s' # so that a busy machine changes no leader by itself
    start a b c
    spread a b c
    await 120 "all are where they belong" is_shared_as a $with_c
    # A host goes: its shards go to the others, and one of the others' moves so that both have as many.
    kill -KILL "${agent[c]}"
    await 120 "the others have them all" is_shared_as a $without_c
    # It comes back, and has again what it had.
    start c
    await 120 "all are where they belonged" is_shared_as a $with_c
    kill -TERM "${runner[@]}"
    for m in a b c; do await_exit "${runner[$m]}" 143 "elector run of $m"; done
    judge_all
    no_errors a b
}

# A host that is cut off stops its work by itself, and has it again when it is heard again.
story_spread_cut() {
    local m
    make_net
    found 3 '[group shard-*]' 'lease = 5s'
    start a b c
    spread a b c
    await 120 "all are where they belong" is_shared_as a $with_c
    for m in a b; do cut_off c "$m" && cut_off "$m" c; done
    await 120 "the others have them all" is_shared_as a $without_c
    heal
    await 120 "all are where they belonged" is_shared_as a $with_c
    await 120 "the one that was cut off knows it" is_shared_as c $with_c
    kill -TERM "${runner[@]}"
    for m in a b c; do await_exit "${runner[$m]}" 143 "elector run of $m"; done
    judge_all
    no_errors a b c
}

# ---- Who is no good ----

checked() { # MEMBER...: a candidate that is well while there is a file of its name, and whose command fails while there is another
    local m
    for m in "$@"; do
        # shellcheck disable=SC2016 # for the shell below
        "$ELECTOR" run --url "$(url "$m")" --restart on-failure --health-cmd "test -e $dir/well-$m" --health-interval 0.1 --health-timeout 60 \
            --health-failures 2 work -- sh -c '[ ! -e "$1/bad-$2" ] || exit 3; exec "$0" "$1/ticks"' "$lib/cluster-worker" "$dir" "$m" \
            >> "$dir/run-$m.log" 2>&1 &
        runner[$m]=$!
    done
}

stands_with() { [[ $(status a work) == *"{\"member\":\"$1\",\"priority\":$2}"* ]]; } # MEMBER PRIORITY
run_says() { grep -q -e "$2" "$dir/run-$1.log"; }                                # MEMBER TEXT
does_not_stand() { [[ $(status a work) != *"{\"member\":\"$1\""* ]]; }

story_health() {
    local first second m
    found 3 '[group work]' 'lease = 5s' # so that a busy machine takes nobody's lease
    start a b c
    touch "$dir"/well-{a,b,c}
    checked a b c
    await_leader
    for m in a b c; do await 30 "$m stands" stands_with "$m" 100; done
    first=$leader
    rm "$dir/well-$first"
    await_leader "$token"
    second=$leader
    [ "$second" != "$first" ] || fail "$first leads on although it is not well"
    run_says "$first" "the health check fails; handing over to" || fail "$first does not say why"
    await 30 "$first does not stand" does_not_stand "$first"
    touch "$dir/well-$first"
    await 30 "$first stands behind the others" stands_with "$first" 0
    # Nobody else is there: who leads leads on, and says so.
    for m in $(others "$second"); do
        rm "$dir/well-$m"
        await 30 "$m does not stand" does_not_stand "$m"
    done
    rm "$dir/well-$second"
    await 30 "$second says that it is alone" run_says "$second" "the health check fails; leading on, since nobody else campaigns"
    look
    [ "$leader" = "$second" ] || fail "$leader leads, not $second"
    judge
    no_errors a b c
}

story_fails_again_and_again() {
    local first
    found 3 '[group work]' 'lease = 5s'
    start a b c
    touch "$dir"/well-{a,b,c}
    checked a b c
    await_leader
    first=$leader
    touch "$dir/bad-$first"
    kill -KILL "$worker"
    await_leader "$token"
    [ "$leader" != "$first" ] || fail "$first leads on although its command fails"
    await 30 "$first says why" run_says "$first" "the command failed 3 times within 10 s of its start; handing over to $leader"
    await 30 "$first stands behind the others" stands_with "$first" 0
    judge
    no_errors a b c
}
