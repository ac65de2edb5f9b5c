# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Disks that fail, and records that are lost.

# The leader's next record fails: an election by raft needs one. It steps down, says why, and leaves.
fails_at_work() { # INJECTION TEXT
    local old
    export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # which does not work beside a tracer
    begin 3 "[group another]" "algorithm = raft"
    old=$leader
    strace -f -p "${agent[$old]}" -o "$dir/strace.out" -e "inject=$1" 2> "$dir/strace.log" &
    await 30 "the tracer is attached" traces_or_cannot
    ! grep -q 'not permitted' "$dir/strace.log" || skip "no tracing here: $(head -n 1 "$dir/strace.log")"
    "$ELECTOR" campaign another --url "$(url "$old")" > "$dir/campaign.log" 2>&1 &
    await_exit "${agent[$old]}" 74 "the agent"
    log_says "$old" "cannot write .*$2.*resigning all groups" || fail "it does not say why it leaves"
    await_leader "$token"
    judge
}
traces_or_cannot() { grep -q -e attached -e 'not permitted' "$dir/strace.log"; }

story_disk_full_at_work() { fails_at_work 'pwrite64:error=ENOSPC' 'No space left'; }
story_fsync_fails_at_work() { fails_at_work 'fsync:error=EIO' 'Input/output error'; }

# A full disk from the start on: that it was started once more cannot be written down.
story_disk_full_at_start() {
    tell_apart "mounts of our own" --mount
    found 3
    mkdir "$dir/tiny"
    mount -t tmpfs -o size=32k none "$dir/tiny" 2> "$dir/mount.log" || skip "no tmpfs here: $(head -n 1 "$dir/mount.log")"
    cp --sparse=always -p "$dir/c/c/elector.state" "$dir/tiny/"
    sed -i "s|^state = .*|state = $dir/tiny/elector.state|" "$(conf c)"
    dd if=/dev/zero of="$dir/tiny/filler" bs=4k > "$dir/dd.log" 2>&1 || true
    start a b
    work a b
    await_leader
    "$ELECTOR" agent --config "$(conf c)" >> "$dir/c.log" 2>&1 &
    agent[c]=$!
    "$ELECTOR" campaign work --url "$(url c)" > "$dir/campaign.log" 2>&1 &
    await_exit "${agent[c]}" 74 "the agent"
    log_says c 'cannot write .*No space left' || fail "it does not say why it leaves"
    judge
}

# Comes back without its record, and is needed for a majority once it has learnt what it forgot.
comes_back() { # TEXT
    local back old
    back=$(others "$leader" | sed -n 1p)
    kill -KILL "${agent[$back]}"
    await 30 "$back is gone" has_ended "${agent[$back]}"
    "spoil_$1" "$dir/c/$back/elector.state"
    sed -i "s/^self = .*/&\nverbose = on/" "$(conf "$back")"
    start "$back"
    log_says "$back" 'grants nothing until' || fail "it does not say that it forgot"
    await 60 "it follows" sees "$back" "$leader"
    await_log "$back" 'has asked enough others'
    old=$token
    kill -KILL "${agent[$leader]}"
    await_leader "$old"
    judge
}
spoil_corrupt() { perl -e 'open(my $f, "+<", $ARGV[0]); binmode $f; my $size = -s $f; for (0, $size / 2) { seek($f, $_ + 20, 0); print $f "x" x 40 }' "$1"; }
spoil_missing() { rm "$1"; }

story_state_corrupt() {
    begin 3
    await 60 "all name one leader" agree
    comes_back corrupt
}

story_state_missing() {
    begin 3
    await 60 "all name one leader" agree
    comes_back missing
}

# Nobody has learnt: two of three forgot, so nobody may grant until the third is heard.
story_two_forget() {
    local m keeps
    begin 3
    await 60 "all name one leader" agree
    keeps=$leader
    kill -KILL "${agent[@]}"
    for m in $(others "$keeps"); do
        await 30 "$m is gone" has_ended "${agent[$m]}"
        rm "$dir/c/$m/elector.state"
    done
    # shellcheck disable=SC2046 # one word a member
    start $(others "$keeps")
    await 60 "the leases of before are over" has_ended "$worker"
    for m in $(others "$keeps"); do
        await 30 "$m knows of nobody" sees "$m" ''
    done
    start "$keeps"
    await_leader "$token"
    judge
}
