# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Agents of this version and of an earlier one in one cluster: what they say to each other has not changed.

earlier=f6327004dfd2becd131db9363595c509734401c7 # the last commit before the tree was divided into rooms

# Builds the program of the earlier version, once for all builds: sets earlier_program.
build_earlier() {
    local folder
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

# Two members are of the earlier version, then one after the other is upgraded. A leader of either is followed by one of either.
story_mixed_versions() {
    local m
    build_earlier
    found 3
    start_earlier a b
    start c
    work_by_library a
    await_leader
    await 60 "all name one leader" agree
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
