# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Who may do what at an agent's socket, what the log keeps of it, and a reload that waits for a name server.

as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/elector" "$@" --url "$(url a)" > "$dir/said" 2>&1 || true; } # COMMAND...
says() { grep -q -e "$1" "$dir/said"; }                                                                                                # TEXT

story_rights_and_audit() {
    [ "$(id -u)" = 0 ] || skip "only root can become somebody else"
    found 1 'allow = uid:0' '[group open]' 'lease = 2s'
    sed -i 's/^\[agent\]/[agent]\nsocket-mode = 0666/' "$(conf a)"
    start a
    work a
    await_leader
    chmod 0755 "$dir" "$dir/.." "$dir/c" "$dir/c/a"
    cp "$ELECTOR" "$dir/elector"
    as_nobody campaign open # a section for a group's times does not open it
    says 'names neither this user' || fail "campaign by nobody: $(cat "$dir/said")"
    as_nobody resign work --force
    as_nobody resign work
    as_nobody status work
    says ' a ' || fail "status by nobody: $(cat "$dir/said")"
    await_log a 'level=info group="work" msg="client uid 0 pid [0-9]* (elector): campaign granted"'
    await_log a 'level=warn group="open" msg="client uid 65534 pid [0-9]* (elector): campaign refused: not-permitted"'
    await_log a 'level=warn group="work" msg="client uid 65534 pid [0-9]* (elector): .*resign refused: not-permitted"'

    sed -i 's/^allow = uid:0/allow = uid:0\nallow-read = uid:0/' "$(conf a)"
    kill -HUP "${agent[a]}"
    await_log a 'msg="reloaded '
    as_nobody status work
    says 'allow-read' || fail "status by nobody after a reload: $(cat "$dir/said")"
    as_nobody status
    ! says work || fail "a secret group was told: $(cat "$dir/said")"
    sees a a || fail "root reads it no more"

    sed -i 's/^lease = 2s/lease = 2s\nallow = everybody/' "$(conf a)"
    "$ELECTOR" agent --config "$(conf a)" --check-config > "$dir/said"
    says 'warning: \[group open\] lets everybody campaign, and \[group \*\] does not' || fail "check-config does not warn"
    "$ELECTOR" doctor --config "$(conf a)" > "$dir/said" || true
    says '^warn   rights .*\[group open\] lets everybody campaign' || fail "doctor does not warn"
    no_errors a
    judge
}

# A name server that takes questions and answers none.
hang_names() { # sets resolver
    python3 -c '
import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
print("ready", flush=True)
while True:
    server.recv(1500)
    print("asked", flush=True)' "$prefix.53" > "$dir/resolver.log" 2>&1 &
    resolver=$!
    printf 'nameserver %s.53\noptions timeout:30 attempts:5\n' "$prefix" > "$dir/resolv.conf"
    printf 'hosts: files dns\n' > "$dir/nsswitch.conf"
    await 30 "the name server is ready" grep -q ready "$dir/resolver.log"
}
answers_now() { "$ELECTOR" status work --url "$(url a)" > "$dir/said" 2>&1; }

story_reload_with_a_hanging_resolver() {
    tell_apart "mounts of our own" --mount
    found 3
    printf '127.0.0.1 localhost\n%s.3 slow.elector.test\n' "$prefix" > "$dir/hosts"
    hang_names
    local file
    for file in hosts resolv.conf nsswitch.conf; do
        [ -e "/etc/$file" ] || skip "there is no /etc/$file here"
        mount --bind "$dir/$file" "/etc/$file"
    done
    sed -i "s/^address = $prefix\.3:/address = slow.elector.test:/" "$(conf a)"
    begin_again
    local before=$token m
    printf '127.0.0.1 localhost\n' > "$dir/hosts"
    kill -HUP "${agent[a]}"
    await 60 "the name server was asked" grep -q asked "$dir/resolver.log"
    for ((m = 0; m < 20; m++)); do
        answers_now || fail "a answers nobody while it looks up a name: $(cat "$dir/said")"
    done
    kill -HUP "${agent[a]}" # once more, while the first waits
    answers_now || fail "a answers nobody while it looks up a name: $(cat "$dir/said")"
    look
    [ "$token" = "$before" ] || fail "another leads"
    kill -TERM "${agent[a]}" # does not wait for the name server
    await_exit "${agent[a]}" 0 "agent a"
    await_leader "$before"
    no_errors a b c
    judge
}

# Names that nobody knows when the agents start, and that are known later; and one that moves.
story_names_that_come_late() {
    tell_apart "mounts of our own" --mount
    found 3
    printf '127.0.0.1 localhost\n' > "$dir/hosts"
    printf 'hosts: files\n' > "$dir/nsswitch.conf"
    local file
    for file in hosts nsswitch.conf; do
        [ -e "/etc/$file" ] || skip "there is no /etc/$file here"
        mount --bind "$dir/$file" "/etc/$file"
    done
    sed -i "s/^address = $prefix\.2:/address = b.elector.test:/; s/^address = $prefix\.3:/address = c.elector.test:/" "$(conf a)"
    sed -i "s/^address = $prefix\.2:/address = b.elector.test:/" "$(conf b)"
    "$ELECTOR" agent --config "$(conf a)" --check-config > "$dir/said" || fail "check-config ends with $?"
    says 'warning: the host of member b, b.elector.test:.* is not found' || fail "check-config does not warn"
    start a
    await_log a 'level=warn msg="the host of member c, c.elector.test:[0-9]*, is not found'
    "$ELECTOR" agent --config "$(conf b)" >> "$dir/b.log" 2>&1 & # its own name: it waits
    agent[b]=$!
    await_log b "this member's own host is not found: waiting"
    printf '127.0.0.1 localhost\n%s.2 b.elector.test\n%s.77 c.elector.test\n' "$prefix" "$prefix" > "$dir/hosts"
    await_log a "msg=\"member b: b.elector.test:$port is $prefix.2:$port\""
    await 60 "agent b answers" answers b
    work a
    await_leader
    # c has moved: a finds it when it has been silent for long.
    await_log a "msg=\"member c: c.elector.test:$port is $prefix.77:$port\""
    printf '127.0.0.1 localhost\n%s.2 b.elector.test\n%s.3 c.elector.test\n' "$prefix" "$prefix" > "$dir/hosts"
    start c
    await_log a "msg=\"member c: c.elector.test:$port is $prefix.3:$port\""
    await 60 "a hears c" hears a c
    no_errors a b c
    judge
}
hears() { grep -q "^$2 .* here " <<< "$("$ELECTOR" members --url "$(url "$1")" 2> /dev/null)"; } # MEMBER MEMBER

# A reload takes over what it can, and says of the rest what it is.
story_reload_says_what_it_leaves() {
    found 1
    start a
    work a
    await_leader
    sed -i 's/^socket = .*/&\nsocket-mode = 0600/' "$(conf a)"
    printf '[group night*]\nlease = 2s\nallow = uid:4242\n' >> "$(conf a)"
    kill -HUP "${agent[a]}"
    await_log a 'level=warn msg="not taken over: \[agent\] socket-mode is still 0660, and 0600 in the file; needs a restart"'
    "$ELECTOR" members --url "$(url a)" > "$dir/members" || fail "members: $(cat "$dir/members")"
    grep -q '^pending: \[agent\] socket-mode is 0660 here and 0600 in the file; restart this agent to use it$' "$dir/members" || fail "$(cat "$dir/members")"
    await_log a 'level=info msg="taken over: \[group night\*\]; groups that exist already keep their settings'
    await_log a 'msg="reloaded .*, except for the 1 above"'
    "$ELECTOR" run --no-wait --quiet --url "$(url a)" nightly -- true > "$dir/said" 2>&1 || fail "nightly: $(cat "$dir/said")"
    [ "$("$ELECTOR" status nightly --url "$(url a)" | grep -oE '[0-9]+ ms' | tail -n 1)" = "$("$ELECTOR" plan --config "$(conf a)" |
        awk '/^group night/ { is_it = 1 } is_it && /^  a host dies/ && !told && match($0, /[0-9]+ ms/) { print substr($0, RSTART, RLENGTH); told = 1 }')" ] ||
        fail "the new section does not count: $("$ELECTOR" status --url "$(url a)")"
    kill -TERM "${agent[a]}"
    await_exit "${agent[a]}" 0 "agent a"
    "$ELECTOR" replay "$dir/c/a/elector.state.flight" > "$dir/said" 2>&1 || fail "replay: $(cat "$dir/said")"
    says agrees || fail "replay: $(cat "$dir/said")"
    no_errors a
    judge
}

begin_again() { # all members of a cluster that was founded; a leads
    start "${members[@]}"
    work a
    await_leader
    work b c
}
