#!/usr/bin/env bash
# Agents on loopback, asked over HTTP by curl: every path, what is refused, what Prometheus makes of the metrics, and what
# happens when the port is taken or the agent was stopped for a while.
#
# Environment: ELECTOR, the program (default: the release build's). ELECTOR_HTTP_KEEP=1 keeps the logs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
ELECTOR=$(realpath "${ELECTOR:-build/release/elector}")
here=$PWD/test/http
dir=$(mktemp -d "${TMPDIR:-/tmp}/elector-http.XXXXXX")
prefix=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250))
port=$((7400 + $$ % 1000))
failed=0
declare -A agent=()
pids=()
clean_up() {
    [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2> /dev/null || true
    wait 2> /dev/null || true
    [ -n "${ELECTOR_HTTP_KEEP:-}" ] || rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 143' TERM INT

pass() { printf 'ok    %s\n' "$1"; }
fail() { # WHAT WHY
    printf 'FAIL  %s: %s\n' "$1" "$2"
    failed=1
}
await() { # WHAT COMMAND...
    local end=$((SECONDS + 60)) what=$1
    shift
    until "$@"; do
        if ((SECONDS >= end)); then
            fail "$what" "not in time"
            tail -n 3 "$dir"/*.log
            exit 1
        fi
        sleep 0.05
    done
}

end() { # PID
    kill -KILL "$1"
    wait "$1" 2> /dev/null || true
}

url() { echo "http://$prefix.$1:$port$2"; } # NUMBER PATH
ask() { curl -s -m 20 "$@" || true; }
code() { ask -o "$dir/body" -w '%{http_code}' "$@"; }
expect() { # WHAT CODE URL [PATTERN [CURL-OPTION...]]
    local what=$1 want=$2 url=$3 pattern=${4:-} got
    shift 3
    [ $# -eq 0 ] || shift
    got=$(code "$@" "$url")
    if [ "$got" != "$want" ]; then
        fail "$what" "is answered by $got, not by $want: $(head -c 200 "$dir/body")"
    elif [ -n "$pattern" ] && ! grep -qE -- "$pattern" "$dir/body"; then
        fail "$what" "says $(head -c 200 "$dir/body")"
    else
        pass "$what"
    fi
}
is_code() { [ "$(code "$2")" = "$1" ]; } # CODE URL

# ---- Three members ----

"$ELECTOR" init --members "a=$prefix.1:$port,b=$prefix.2:$port,c=$prefix.3:$port" --cluster shop --out "$dir/c" > /dev/null
start() { # MEMBER
    "$ELECTOR" agent --config "$dir/c/$1/elector.conf" >> "$dir/$1.log" 2>&1 &
    agent[$1]=$!
    pids+=($!)
}
for m in a b c; do start $m; done
for i in 1 2 3; do await "agent $i is healthy" is_code 200 "$(url $i /healthz)"; done
"$ELECTOR" campaign --url "unix:$dir/c/a/agent.sock" shop/billing --value a:9000 > "$dir/campaign.log" 2>&1 &
candidate=$!
pids+=($candidate)
await "a leads" is_code 200 "$(url 1 /leader/shop/billing)"
await "b knows" is_code 503 "$(url 2 /leader/shop/billing)"
knows() { [[ $(ask "$(url 2 /leader/shop/billing)") == *'"leader":"a"'*'"value":"a:9000"'* ]]; }
await "b knows its value" knows

expect "health" 200 "$(url 1 /healthz)" '^\{"ok":true\}$'
expect "a leader" 200 "$(url 1 /leader/shop/billing)" '^\{"group":"shop/billing","leader":"a","token":[0-9]+,"value":"a:9000"\}$'
expect "a follower" 503 "$(url 2 /leader/shop/billing)" '"leader":"a"'
expect "a group that is not" 404 "$(url 1 /leader/none)" '"unknown-group"'
expect "no group" 404 "$(url 1 /leader/..%2f..%2fetc/passwd)" unknown-group --path-as-is
expect "no path" 404 "$(url 1 /none)" '/healthz, /status'
expect "the page" 200 "$(url 1 /)" '^<!doctype html>'
expect "why" 200 "$(url 2 /why/shop/billing)" '"steps":\['
expect "groups" 200 "$(url 1 '/groups?search=bill&leader=a')" '"group":"shop/billing"'
expect "a long path" 414 "$(url 1 "/$(printf 'a%.0s' {1..20000})")"
expect "a POST" 405 "$(url 1 /status)" 'GET or HEAD' -X POST -d x=y
expect "another host's name" 403 "$(url 1 /status)" '"host"' -H 'Host: evil.example'
expect "localhost" 200 "$(url 1 /healthz)" '' -H 'Host: localhost:1'
expect "a HEAD" 200 "$(url 1 /status)" '' -I

# ---- The status is the command's, but for what time changes ----

still() { sed -E 's/"(heard_ms|lease_left_ms)":[0-9]+/"\1":0/g'; }
if [ "$(ask "$(url 1 /status)" | still)" = "$("$ELECTOR" status --url "unix:$dir/c/a/agent.sock" --output json | still)" ]; then
    pass "the status is the command's"
else
    fail "the status" "differs: $(diff <(ask "$(url 1 /status)" | still) <("$ELECTOR" status --url "unix:$dir/c/a/agent.sock" --output json | still) || true)"
fi

# ---- Metrics ----

ask -o "$dir/metrics" "$(url 1 /metrics)"
if said=$(python3 "$here/exposition.py" "$dir/metrics" --prove 2>&1); then pass "metrics: $(tr '\n' ' ' <<< "$said")"; else fail metrics "$said"; fi
for line in 'elector_server_is_leader 1' 'elector_server_has_leader 1' 'elector_groups 1' 'elector_network_peer_connected\{to="b"\} 1' \
    'elector_group_is_leader\{group="shop/billing"\} 1' 'elector_network_peer_sent_bytes_total\{to="c"\} [1-9][0-9]*' \
    'elector_network_peer_received_bytes_total\{from="c"\} [1-9][0-9]*' 'elector_disk_record_fsync_duration_seconds_count [1-9][0-9]*' \
    'elector_member_info\{cluster="shop",member="a"\} 1' "elector_build_info\{version=\"$("$ELECTOR" --version | grep -oE '[0-9.]+' | sed -n 1p)\"\} 1"; do
    grep -qE "^$line\$" "$dir/metrics" || fail metrics "no $line"
done
documented=$(sed -n 's/^| `\(elector_[a-z_]*\|process_[a-z_]*\)[`{].*/\1/p' docs/http.md | sort)
if [ "$documented" = "$(sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$dir/metrics" | sort)" ]; then
    pass "docs/http.md has them all, and no others"
else
    fail "docs/http.md" "$(diff <(echo "$documented") <(sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$dir/metrics" | sort) | tr '\n' ' ')"
fi

# ---- Events, over the death of a candidate, and a failover that is counted ----

curl -sN -m 100 "$(url 2 /events)" > "$dir/events" 2> /dev/null &
reader=$!
pids+=($reader)
heard() { grep -qsE -- "$1" "$dir/events"; }
await "who leads now is told" heard '^data: \{"group":"shop/billing","leader":"a","token":[0-9]+,"value":"a:9000"\}$'
"$ELECTOR" campaign --url "unix:$dir/c/b/agent.sock" shop/billing >> "$dir/campaign.log" 2>&1 &
pids+=($!)
stands() { grep -q '^elector_group_candidates{group="shop/billing"} 1$' < <(ask "$(url 2 /metrics)"); }
await "b stands" stands
end "$candidate"
await "the next is told" heard '^data: \{"group":"shop/billing","leader":"b",'
await "b leads" is_code 200 "$(url 2 /leader/shop/billing)"
pass "events"
is_counted() { grep -q '^elector_failover_seconds_count 1$' < <(ask "$(url 2 /metrics)"); }
await "a failover is counted, once its story is complete" is_counted
pass "a failover is counted"

# ---- An agent that was stopped for longer than its lease does not say that it leads ----

token=$(ask "$(url 2 /leader/shop/billing)" | grep -oE '"token":[0-9]+')
kill -STOP "${agent[b]}"
curl -s -m 100 -w ' %{http_code}' "$(url 2 /leader/shop/billing)" > "$dir/late" 2> /dev/null &
asked=$!
pids+=($asked)
sleep 2 # lease 1s
kill -CONT "${agent[b]}"
wait $asked || true
if grep -q ' 200$' "$dir/late" && grep -qF "$token," "$dir/late"; then fail "after a pause" "$(cat "$dir/late")"; else pass "after a pause: $(tail -c 3 "$dir/late")"; fi

# ---- doctor, and ends ----

"$ELECTOR" doctor --config "$dir/c/a/elector.conf" > "$dir/doctor" || true
if grep -qE "^ok     http +http://$prefix.1:$port/ is the agent's" "$dir/doctor"; then pass "doctor"; else fail doctor "$(grep http "$dir/doctor")"; fi
grep -q "HTTP at $prefix.1:$port" "$dir/a.log" || fail "the log" "does not say where HTTP is"
kill -TERM "${agent[b]}"
ended() { ! kill -0 "$1" 2> /dev/null; }
await "an agent with readers ends" ended "${agent[b]}"
await "and its readers with it" ended "$reader"
pass "an agent with readers ends"

# ---- Where somebody else is ----

# Another process has its port: the agent works without HTTP, and takes the port when it is free.
end "${agent[c]}"
sed -i "s/^http = .*/http = $prefix.1:$port/" "$dir/c/c/elector.conf"
start c
await "c starts without its port" grep -q 'level=info .*HTTP not yet' "$dir/c.log"
if [ "$(grep -c "level=warn .*cannot listen for HTTP on $prefix.1:$port: .*another process has this port; let .http. name another.*trying again" "$dir/c.log")" = 1 ]; then
    pass "a port that is taken"
else
    fail "a port that is taken" "$(cat "$dir/c.log")"
fi
"$ELECTOR" doctor --config "$dir/c/c/elector.conf" > "$dir/doctor" || true
if grep -qE "^WRONG  http +cannot listen for HTTP.*the agent runs without HTTP, and tries again" "$dir/doctor"; then pass "doctor sees it"; else fail doctor "$(grep http "$dir/doctor")"; fi
end "${agent[a]}"
await "c takes its port" grep -q "HTTP is served at $prefix.1:$port now" "$dir/c.log"
is_c() { [[ $(ask "$(url 1 /status)") == '{"ok":true,"member":"c",'* ]]; }
await "c answers there" is_c
pass "a port that is free again"
end "${agent[c]}"
sed -i "s/^http = .*/http = off/" "$dir/c/c/elector.conf"
start c
await "c starts without" grep -q "HTTP off" "$dir/c.log"
pass "off"

# Without the key it is 127.0.0.1:7480, which may be somebody's: then it goes without.
python3 -c '
import socket, time
taken = socket.socket()
end, said = time.time() + 100, False
while time.time() < end: # a stranger who has it may let go of it: then it is ours
    try:
        taken.bind(("127.0.0.1", 7480))
        taken.listen()
        break
    except OSError:
        if not said: print("taken", flush=True)
        said = True
        time.sleep(0.001)
print("taken", flush=True)
time.sleep(100)' > "$dir/taken" &
pids+=($!)
await "7480 is taken" grep -qs taken "$dir/taken"
end "${agent[c]}"
sed -i "/^http = /d" "$dir/c/c/elector.conf"
start c
await "c goes without" grep -q 'level=warn msg="cannot listen for HTTP on 127.0.0.1:7480: .*; running without HTTP, and trying' "$dir/c.log"
goes_on() { grep -q 'level=info .*HTTP not yet' < <(sed '1,/HTTP on 127.0.0.1:7480/d' "$dir/c.log"); }
await "c starts" goes_on
pass "the usual port is taken"
exit $failed
