# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# What an intruder, a core dump or a swap partition gets of an agent. Told of the release only: sanitizers need what is forbidden.

keys_of() { find "$dir/c/$1" -name '*.key'; } # MEMBER
no_key_elsewhere() { # MEMBER: each key is in locked memory that is in no core dump, and nowhere else
    local files
    mapfile -t files < <(keys_of "$1")
    [ ${#files[@]} -gt 0 ] || fail "there are no keys"
    test/cluster/parts/key_scan.py "${agent[$1]}" "${files[@]}" > "$dir/said" 2>&1 || fail "the memory of $1: $(grep -v '^ok' "$dir/said")"
}
no_key_at_all() { # MEMBER PID: a process of its agent
    local files
    mapfile -t files < <(keys_of "$1")
    test/cluster/parts/key_scan.py --absent "$2" "${files[@]}" > "$dir/said" 2>&1 || fail "the memory of process $2: $(cat "$dir/said")"
}
writer_of() { # MEMBER: the process that writes its recording
    local child
    for child in $(< "/proc/${agent[$1]}/task/${agent[$1]}/children"); do
        [ "$(< "/proc/$child/comm")" != elector-writer ] || echo "$child"
    done
}
of_status() { awk -v key="$2:" '$1 == key { print $2 }' "/proc/$1/status"; } # PID KEY
may_not_read() { # PID: another process of the same user
    ! setpriv --reuid 65534 --regid 65534 --clear-groups head -c 1 "/proc/$1/$2" > /dev/null 2>&1 || fail "/proc/$1/$2 can be read"
}

story_confined_keys() {
    [ "$(id -u)" = 0 ] || skip "only root may read an agent's memory"
    begin 3
    no_key_elsewhere "$leader"
    [ "$(of_status "${agent[$leader]}" VmLck)" -gt 0 ] || fail "nothing is locked"
    kill -HUP "${agent[$leader]}"
    await_log "$leader" 'msg="reloaded '
    no_key_elsewhere "$leader"
    no_key_at_all "$leader" "$(writer_of "$leader")"
    no_key_at_all "$leader" "$(guardian_of "$leader")"
    ! log_says "$leader" 'key memory cannot be locked' || fail "it says that it cannot lock memory"
    no_errors a b c
    judge
}

is_confined() { # PID: each of its threads
    local task
    for task in "/proc/$1/task"/*; do
        [ "$(of_status "$1/task/${task##*/}" Seccomp)" = 2 ] || return 1
    done
    [ "$(of_status "$1" NoNewPrivs)" = 1 ]
}

# Another user of the host, and another process of the agent's own user. Core dumps follow the same rule.
story_confined_processes() {
    local guardian writer file
    [ "$(id -u)" = 0 ] || skip "only root can become somebody else"
    found 3
    chmod 0755 "$dir" "$dir/.." "$dir/c"
    chown -R 65534:65534 "$dir/c/a"
    cp "$ELECTOR" "$dir/elector"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/elector" agent --config "$(conf a)" >> "$dir/a.log" 2>&1 &
    agent[a]=$!
    await 60 "agent a answers" answers a
    start b c
    work a
    await_leader
    await 60 "a is guarded" is_guarded a
    guardian=$(guardian_of a) writer=$(writer_of a)
    for file in mem maps environ auxv; do
        may_not_read "${agent[a]}" "$file"
        may_not_read "$guardian" "$file"
        may_not_read "$writer" "$file"
    done
    is_confined "${agent[a]}" || fail "the agent may make every system call"
    is_confined "$guardian" || fail "the guardian may make every system call"
    is_confined "$writer" || fail "the recorder's writer may make every system call"
    [ "$(of_status "$guardian" VmLck)" -gt 0 ] || fail "the guardian's obituaries are not locked"
    [ "$(awk '/^Max core file size/ { print $5 $6 }' "/proc/${agent[a]}/limits")" = 00 ] || fail "cores are written"
    kill -KILL "$guardian"
    await 60 "another guards a" is_guarded_anew a "$guardian"
    is_confined "$(guardian_of a)" || fail "the second guardian may make every system call"

    kill -TERM "${agent[a]}"
    await_exit "${agent[a]}" 0 "agent a"
    sed -i 's/^\[agent\]/[agent]\nseccomp = off/' "$(conf a)"
    chown -R 0:0 "$dir/c/a"
    start a
    ! is_confined "${agent[a]}" || fail "seccomp = off is ignored"
    judge
}
