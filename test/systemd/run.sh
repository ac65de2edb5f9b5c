#!/usr/bin/env bash
# The service as systemd runs it: member a of three is the service that `make install` installs, under a systemd that was booted for
# it in namespaces (boot.sh); b and c are agents beside it. As root, and where there is systemd and overlayfs; skipped with a line elsewhere.
#
# Environment: ELECTOR, BUILD.
set -euo pipefail
cd "$(dirname "$0")/../.."
ELECTOR=$(realpath "${ELECTOR:-build/release/elector}")
BUILD=$(realpath "${BUILD:-build/release}")
lib=$BUILD/test
scratch=$(mktemp -d)
name=systemd dir=$scratch/story prefix=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250)) port=$((7400 + $$ % 2000))
mkdir "$dir"
# shellcheck source=test/cluster/lib.sh
source test/cluster/lib.sh
# shellcheck source=test/systemd/realtime.sh
source test/systemd/realtime.sh

booted='' init='' cgroup=''
finish() {
    local code=$? tries
    if [ "$code" != 0 ] && [ -n "$init" ]; then
        inside systemctl status elector-agent --no-pager > "$dir/a.log" 2>&1 || true
        inside cat /run/elector-agent.log >> "$dir/a.log" 2>&1 || true
    fi
    clean_up
    for ((tries = 0; tries < 100; tries++)); do # the dead leave it a little later
        if [ -z "$cgroup" ] || [ ! -d "$cgroup" ]; then break; fi
        find "$cgroup" -depth -type d -exec rmdir {} + 2> /dev/null || sleep 0.05
    done
    [ "$code" = 0 ] || tail -n 20 "$dir"/*.log || true
    if [ -s "$dir/result" ]; then cat "$dir/result"; fi
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 143' TERM INT

# ---- A host under systemd ----

inside() { nsenter -t "$init" -m -p -i -u -C -r -w "$@"; } # COMMAND...
finds_init() { init=$(pgrep -P "$booted" -x systemd) && inside systemctl is-active -q elector-test.target 2> /dev/null; }
shows() { inside systemctl show elector-agent -P "$1"; } # PROPERTY
answers_inside() { inside elector status > /dev/null 2>&1; }
runs_anew() { [ "$(shows SubState)" = running ] && [ "$(shows MainPID)" != "$1" ] && answers_inside; } # PID

prepare_host() {
    local host=$scratch/host units=$scratch/host/etc/systemd/system unit
    DESTDIR=$host cmake --install "$BUILD" --prefix /usr > "$dir/install.log"
    mkdir -p "$units/elector-agent.service.d" "$host"/etc/elector "$host"/var/lib/elector "$scratch/root"
    printf '[Unit]\nWants=elector-agent.service\nAfter=elector-agent.service\n' > "$units/elector-test.target"
    printf '[Service]\nStandardError=append:/run/elector-agent.log\n' > "$units/elector-agent.service.d/log.conf"
    # What this host would start besides is none of ours.
    for unit in $(systemctl list-unit-files --root=/ --no-legend --type=service,socket,mount,automount,path,timer | awk '{ print $1 }'); do
        [[ $unit == elector-agent.service || $unit == *@* ]] || ln -sf /dev/null "$units/$unit"
    done
    { cat /etc/passwd && echo 'elector:x:64990:64990::/nonexistent:/usr/sbin/nologin'; } > "$host/etc/passwd"
    { cat /etc/group && echo 'elector:x:64990:'; } > "$host/etc/group"
    cp "$dir"/c/a/*.key "$host/etc/elector/"
    sed 's#^state *=.*#state = /var/lib/elector/elector.state#; s#^socket *=.*#socket = /run/elector/agent.sock#' "$(conf a)" \
        > "$host/etc/elector/elector.conf"
    cp "$dir/c/a/elector.state" "$host/var/lib/elector/"
    chown -R 64990:64990 "$host/etc/elector" "$host/var/lib/elector"
    chmod -R go= "$host/etc/elector" "$host/var/lib/elector"
}

boot() {
    local v2
    v2=$(findmnt -nt cgroup2 -o TARGET | sed -n 1p)
    cgroup=$v2/elector-test-$$
    if [ -z "$v2" ] || ! mkdir "$cgroup" 2> /dev/null; then
        cgroup=
        skip "no control group to be had"
    fi
    : > "$scratch/console"
    # shellcheck disable=SC2016 # for the shell below
    bash -c 'echo $$ > "$1/cgroup.procs" && exec unshare --pid --fork --mount --cgroup --ipc --uts --kill-child test/systemd/boot.sh "$2"' \
        boot "$cgroup" "$scratch" > "$dir/boot.log" 2>&1 &
    booted=$!
    await 60 "systemd has started the service" finds_init
}

# ---- What is to be seen ----

[ "$(id -u)" = 0 ] || skip "not root"
[ -x /usr/lib/systemd/systemd ] || [ -x /lib/systemd/systemd ] || skip "systemd is not installed"
grep -qw overlay /proc/filesystems || skip "no overlayfs"
found 3
prepare_host
boot
start b c
await 60 "the service answers" answers_inside
main=$(shows MainPID)
inside elector run --quiet work -- sleep 1000 >> "$dir/run-a.log" 2>&1 &
await 60 "a leads" sees b a
for m in b c; do "$ELECTOR" run --quiet --url "$(url $m)" work -- sleep 1000 >> "$dir/run-$m.log" 2>&1 & done
is_heir() { [[ $(status b work) == *'"member":"b"'*'"member":"c"'* ]]; }
await 60 "the others stand" is_heir

# It is killed: systemd tells the rest of the service to end, and the guardian tells the others first.
inside kill -KILL "$main"
leads_another() { [[ $(field b work leader) == [bc] ]]; }
await 60 "another leads" leads_another
# How a tenure ended comes a little later. The heir knows: at the other its claim may come before the release.
heir_tells() { "$ELECTOR" why work --url "$(url "$(field b work leader)")" > "$dir/why.log" && grep -Eq "$1" "$dir/why.log"; } # PATTERN
await 30 "its death is told" heir_tells "until its death was confirmed"
await 60 "it is started again" runs_anew "$main"
main=$(shows MainPID)

# It hangs: the watchdog ends it.
inside kill -STOP "$main"
await 60 "the watchdog has ended it, and it is started again" runs_anew "$main"
main=$(shows MainPID)

inside systemctl reload elector-agent
has_read() { inside grep -q "reloaded /etc/elector/elector.conf" /run/elector-agent.log; }
await 30 "it has read its configuration again" has_read
[ "$(shows MainPID)" = "$main" ] || fail "a reload has started it anew"

# It is stopped while it leads: it hands over.
hands_to_a() { "$ELECTOR" transfer work --to a --url "$(url b)" > "$dir/transfer.log" 2>&1 || "$ELECTOR" transfer work --to a --url "$(url c)" > "$dir/transfer.log" 2>&1; }
await 60 "the leader hands over to a" hands_to_a
await 60 "a leads again" sees b a
inside systemctl stop elector-agent
await 60 "another leads again" leads_another
await 30 "it has handed over" heir_tells "until it (released|handed over)"
[ "$(shows Result)" = success ] || fail "systemd says that it ended by $(shows Result)"

realtime_service
echo "ok   $name" > "$dir/result"
