# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# What is asked for wrongly is refused with one clear line.

one_line() { # WHAT PATTERN CODE COMMAND...
    local what=$1 pattern=$2 code=$3 got=0
    shift 3
    timeout 30 "$@" > "$dir/said" 2>&1 || got=$?
    [ "$got" = "$code" ] || fail "$what: exit code $got, not $code: $(head -n 1 "$dir/said")"
    [ "$(wc -l < "$dir/said")" = 1 ] || fail "$what: not one line: $(cat "$dir/said")"
    grep -q -e "$pattern" "$dir/said" || fail "$what: $(cat "$dir/said")"
}

in_use() { # COMMAND...: says once that it waits, and then that it will not
    local got=0
    timeout 60 "$@" > "$dir/said" 2>&1 || got=$?
    [ "$got" = 69 ] || fail "state in use: exit code $got, not 69: $(head -n 1 "$dir/said")"
    [ "$(grep -c 'elector.state: the state file is in use by .*; waiting' "$dir/said")" = 1 ] || fail "state in use: $(cat "$dir/said")"
    [ "$(grep -c 'level=error.*elector.state: the state file is in use by .*; stop that agent first' "$dir/said")" = 1 ] ||
        fail "state in use: $(cat "$dir/said")"
    [ "$(wc -l < "$dir/said")" = 2 ] || fail "state in use: not two lines: $(cat "$dir/said")"
}

story_one_clear_line() {
    found 3
    start a
    one_line "agent not running" "$dir/c/b/agent.sock.*is the agent running" 3 "$ELECTOR" status --url "$(url b)"
    one_line "agent not running" 'is the agent running' 3 "$ELECTOR" campaign work --url "$(url b)"
    one_line "unknown group" 'does not know the group' 1 "$ELECTOR" status no-such-group --url "$(url a)"
    one_line "no group's name" 'name' 2 "$ELECTOR" campaign 'a b' --url "$(url a)"

    chmod 0644 "$dir/c/b/member.key"
    one_line "key file for all eyes" 'member.key: others may read.*0644.*chmod' 78 "$ELECTOR" agent --config "$(conf b)"
    chmod 0600 "$dir/c/b/member.key"

    sed 's/^id = 2/id = 1/' "$(conf b)" > "$dir/c/b/twice.conf"
    one_line "duplicate id" "members 'a' and 'b' have the same id" 78 "$ELECTOR" agent --config "$dir/c/b/twice.conf"

    in_use "$ELECTOR" agent --config "$(conf a)"
    sed "s/^address = $prefix\.1:/address = $prefix.8:/; s/^address = $prefix\.2:/address = $prefix.1:/" "$(conf b)" > "$dir/c/b/port.conf"
    one_line "port in use" "cannot listen on $prefix.1:$port.*another process has this port" 69 "$ELECTOR" agent --config "$dir/c/b/port.conf"

    "$ELECTOR" init --members "a=$prefix.1:$port,b=$prefix.2:$port,c=$prefix.3:$port" --cluster elsewhere --out "$dir/elsewhere" > /dev/null
    cp -p "$dir/elsewhere/b/elector.state" "$dir/c/b/elector.state"
    one_line "state of another cluster" 'another cluster' 69 "$ELECTOR" agent --config "$(conf b)"
    cp -p "$dir/c/c/elector.state" "$dir/c/b/elector.state"
    one_line "state of another member" 'of the member with id 3, and this is 2' 69 "$ELECTOR" agent --config "$(conf b)"
    no_errors a
}

story_socket_not_permitted() {
    [ "$(id -u)" = 0 ] || skip "only root can become somebody else"
    found 3
    start a
    chmod 0755 "$dir" "$dir/.." "$dir/c" "$dir/c/a"
    cp "$ELECTOR" "$dir/elector" # to where anybody may go
    one_line "socket not permitted" 'agent.sock.*[Pp]ermi' 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/elector" status --url "$(url a)"
}
