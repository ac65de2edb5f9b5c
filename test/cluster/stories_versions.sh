# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Agents of this version and of an earlier one in one cluster: what they say to each other has not changed.

before_rooms=f6327004dfd2becd131db9363595c509734401c7 # the last commit before the tree was divided into rooms
before_members=b00d01ed3f67f1b8187b1f4fd2c1192d171b6afb # the last commit before members and roles could change: without candidates, records and features

# Builds the program of an earlier version, once for all builds: sets earlier_program.
build_earlier() { # COMMIT
    local earlier=$1 folder
    folder=$(dirname "$BUILD")/earlier/$earlier
    earlier_program=$folder/build/elector
    git cat-file -e "$earlier^{commit}" 2> /dev/null || skip "this clone has no history to build the earlier version from"
    mkdir -p "$folder"
    (
        flock 9
        [ ! -x "$earlier_program" ] || exit 0
        git archive "$earlier" | tar -x -C "$folder"
        cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DELECTOR_TESTS=OFF
        cmake --build "$folder/build" --target elector
    ) 9> "$folder/lock" > "$dir/earlier.log" 2>&1 || fail "the earlier version does not build: $(tail -n 1 "$dir/earlier.log")"
}

start_earlier() { # MEMBER...
    local ELECTOR=$earlier_program
    start "$@"
}

members_say() { "$ELECTOR" members --url "$(url "$1")" > "$dir/members" 2>&1 || true; grep -qE "$2" "$dir/members"; } # MEMBER PATTERN

# Two members are of the earlier version, then one after the other is upgraded. A leader of either is followed by one of either.
mix_versions() { # COMMIT
    local m
    build_earlier "$1"
    found 3
    start_earlier a b
    start c
    work_by_library a
    await_leader
    await 60 "all name one leader" agree
    for m in a c; do # the earlier one tells its members in another way
        await 30 "$m counts all" members_say "$m" '^3 of 3 votes count; 2 elect; 1 more may fail$'
        members_say "$m" '^b +2 +voter +here ' || fail "$(cat "$dir/members")"
    done
    work_by_library b c
    await 30 "a takes the request" "$ELECTOR" transfer work --to c --url "$(url a)" > "$dir/transfer.log" 2>&1 # once c's candidate is known
    await 60 "c leads" works_at c
    await 60 "all name one leader" agree
    await 30 "c takes the request" "$ELECTOR" transfer work --to b --url "$(url c)" > "$dir/transfer.log" 2>&1
    await 60 "b leads" works_at b
    for m in b a; do
        look
        kill -KILL "${agent[$m]}"
        wait "${agent[$m]}" 2> /dev/null || true
        [ "$leader" != "$m" ] || await_leader "$token"
        start "$m"
        await 60 "all name one leader" agree
    done
    no_errors a b c
    judge
}

story_mixed_versions() { mix_versions "$before_rooms"; }
story_mixed_versions_before_members() { mix_versions "$before_members"; }

# c is heard, but no word of it can be read: neither taken for silent nor counted. Once it speaks our version, it counts.
story_other_version() {
    local version
    found 3
    sed -i '/^key/d; /^cluster-key/d' "$(conf a)" "$(conf b)" "$(conf c)"
    start a b
    work a b
    await_leader
    for version in 3 1; do
        python3 test/cluster/parts/other_version.py "$prefix.3" "$port" 3 "$version" > "$dir/c.log" 2>&1 &
        agent[c]=$!
        await 30 "a knows that c speaks version $version" members_say a \
            "^pending: c does not count: it speaks version $version of the messages between agents, and this agent version 2; install"
        members_say a '^c +3 +voter +REFUSED ' || fail "$(cat "$dir/members")"
        members_say a '^2 of 3 votes count; 2 elect; 0 more may fail$' || fail "$(cat "$dir/members")"
        await_log a "level=warn.*c does not count: it speaks version $version of the messages between agents, and this one version 2; install"
        await 30 "the metric of c" is_metric a 'elector_network_peer_differs{from="c"}' 1
        "$ELECTOR" doctor --config "$(conf a)" > "$dir/doctor" 2>&1 || true
        grep -qE "^WRONG +member c .*it speaks version $version of the messages" "$dir/doctor" || fail "$(cat "$dir/doctor")"
        kill -TERM "${agent[c]}"
        wait "${agent[c]}" 2> /dev/null || true
    done
    start c
    await 30 "c counts" members_say a '^3 of 3 votes count; 2 elect; 1 more may fail$'
    await_log a 'level=info.*c and this one speak a version of messages in common now'
    members_say a '^nothing is pending$' || fail "$(cat "$dir/members")"
    no_errors a b c
    judge
}
