#!/usr/bin/env bash
# Where `elector run` campaigns if nobody says, on a host without an agent, and on one whose agent has not started yet. In a
# mount namespace of its own: nothing below /run, and a home folder that the password database names.
#
# Environment: ELECTOR, the program, and BUILD, its build folder (default: the release build's).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
export LC_ALL=C
BUILD=${BUILD:-build/release}
ELECTOR=$(realpath "${ELECTOR:-$BUILD/elector}")
export BUILD ELECTOR
unset ELECTOR_URL

if [ "${1-}" != --inside ]; then
    said=
    for options in -m -rm; do
        said=$(unshare "$options" mount -t tmpfs tmpfs /run 2>&1) && exec unshare "$options" "$0" --inside
    done
    echo "skip no_agent: no mounts of our own here: $(tail -n 1 <<<"$said")"
    exit 0
fi

scratch=$(mktemp -d) || exit
home=$scratch/home
passed=0 failed=0
started=()
clean_up() {
    local pid
    for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
    rm -rf "$scratch"
}
trap clean_up EXIT
mkdir "$home"
sed -E "s#^([^:]*:[^:]*:$(id -u):[^:]*:[^:]*:)[^:]*#\1$home#" /etc/passwd >"$scratch/passwd"
mount -t tmpfs -o mode=0755 tmpfs /run && mount --bind "$scratch/passwd" /etc/passwd || exit

verify() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@" >/dev/null 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL  $what"
        sed 's/^/        stderr: /' "$scratch/err" | tail -n 5
    fi
}
ends_with() { # STATUS COMMAND...
    local wanted=$1 status=0
    shift
    timeout 60 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    verify "ends with $status, not $wanted: $*" test "$status" -eq "$wanted"
}
says() { verify "does not say: $1" grep -qE -e "$1" "$scratch/err"; }
await() { # COMMAND...: until it succeeds
    local tries=0
    until "$@" >/dev/null 2>&1; do
        [ $((tries++)) -lt 1200 ] || return 1
        sleep 0.05
    done
}

# ---- No sign of an agent --------------------------------------------------------------------------

folder=$home/.local/state/elector
# shellcheck disable=SC2016 # for the command
ends_with 0 "$ELECTOR" run --quiet billing -- sh -c 'echo "$ELECTOR_TOKEN"'
says "^elector run: no agent is configured; electing among processes of this host only, in $folder\$"
alone=$(cat "$scratch/out")
verify "no lock in $folder" test -f "$folder/billing.lock"

# The environment of a login and that of cron: one folder.
env HOME="$scratch" XDG_RUNTIME_DIR="$scratch" "$ELECTOR" run billing -- sleep 600 2>"$scratch/first" &
started+=($!)
verify "nobody leads" await grep -q 'leading with token' "$scratch/first"
ends_with 1 env -i PATH="$PATH" "$ELECTOR" run --no-wait billing -- true
says 'another leads'
kill "${started[@]}" && wait "${started[@]}"
started=()

chmod 0777 "$folder"
ends_with 3 "$ELECTOR" run --quiet billing -- true
says "no folder for locks: $folder: others can write to it; .*--url file:PATH"
chmod 0700 "$folder"

# Everything else asks the agent, and nobody else.
for verb in 'status' 'observe billing' 'campaign billing' 'resign billing' 'history billing' 'why billing'; do
    # shellcheck disable=SC2086 # words
    ends_with 3 "$ELECTOR" $verb
    says '/run/elector/agent.sock'
done

# ---- An agent that is to come ---------------------------------------------------------------------

mkdir /run/elector
ends_with 1 "$ELECTOR" run --quiet --wait 0.5 billing -- touch "$scratch/ran"
says 'no agent listens at /run/elector/agent.sock, but this host has /run/elector; waiting for the agent.*--url file:PATH'
ends_with 3 "$ELECTOR" run --quiet --no-wait billing -- touch "$scratch/ran"
says 'cannot connect to /run/elector/agent.sock'
verify "the command ran without an agent" test ! -e "$scratch/ran"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    cp "$ELECTOR" "$scratch/elector" && chmod 0755 "$scratch" "$scratch/elector" && chmod 0750 /run/elector
    ends_with 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/elector" run --quiet billing -- true
    says 'cannot connect to /run/elector/agent.sock: Permission denied; ask for membership'
else
    echo "skip no_agent: only root can become somebody else"
fi

# shellcheck disable=SC2016
"$ELECTOR" run billing -- sh -c 'echo "$ELECTOR_TOKEN"' >"$scratch/cluster" 2>"$scratch/err" &
run=$!
started+=("$run")
verify "does not wait" await grep -q 'waiting for the agent' "$scratch/err"
used=$(cat /proc/net/udp /proc/net/tcp)
port=$((20000 + RANDOM % 10000))
while [[ $used == *:$(printf '%04X' "$port")' '* ]]; do port=$((port + 1)); done
"$ELECTOR" init --members a=127.0.0.1:$port --socket /run/elector/agent.sock --out "$scratch/c" >/dev/null 2>"$scratch/init"
"$ELECTOR" agent --config "$scratch/c/a/elector.conf" >"$scratch/agent" 2>&1 &
started+=($!)
verify "is not elected when the agent has come" await test -s "$scratch/cluster"
wait "$run"
together=$(cat "$scratch/cluster")

# ---- From one host to a cluster -------------------------------------------------------------------

# A store that has seen a token of a lock must not refuse the cluster's leader.
verify "the cluster's token $together is not above the lock's $alone" test "$together" -gt "$alone"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
