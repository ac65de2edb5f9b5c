#!/usr/bin/env bash
# Breaks some links of five processes in five ways, under every algorithm, and compares what comes of it with
# docs/partial-partitions.md.
#
#   run.sh             compare
#   run.sh --rewrite   renew the page; read the diff before you commit it
#
# Environment: ELECTOR, the program (default: the release build).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
ELECTOR=${ELECTOR:-build/release/elector}
page=docs/partial-partitions.md

rewrite=false
case ${1-} in
'') ;;
--rewrite) rewrite=true ;;
*)
    echo "usage: run.sh [--rewrite]" >&2
    exit 2
    ;;
esac
if ! command -v "$ELECTOR" >/dev/null; then
    echo "run.sh: there is no program $ELECTOR; build it, or set ELECTOR" >&2
    exit 2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT


# Reads a trace. Prints one row: who names whom in the end, how many led at once, what was promised and broken.
# Views are counted when their instant is over, so that one who follows another at once is no second leader.
# shellcheck disable=SC2016 # it is awk that expands
tell='
function field(name) { return match($0, "\"" name "\":(\"[^\"]*\"|[^,}]*)") ? \
    substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
function count(  i, n) {
    for (i = 1; i <= 5; i++) n += names[i] == i
    if (n > most) most = n
}
BEGIN { for (i = 1; i <= 5; i++) names[i] = 5; most = 1 }
{ time = field("time") + 0; what = field("what") }
what == "\"viewed\"" {
    if (time != now) { count(); now = time }
    leader = field("leader") == "null" ? 0 : field("leader") + 0
    names[field("node") + 0] = leader
    if (time > 4000) restless = 1
}
what == "\"violated\"" {
    kind = field("violation"); gsub(/"/, "", kind)
    if (!seen[kind]++) broken = broken (broken ? ", " : "") kind
}
END {
    count()
    for (l = 5; l >= 0; l--) {
        group = ""; size = 0
        for (i = 1; i <= 5; i++) if (names[i] == l) { group = group (group ? ", " : "") i; size++ }
        if (!size) continue
        if (size == 5) group = "all"
        told = told (told ? "; " : "") group (size == 1 ? " names " : " name ") (l ? l : "nobody")
    }
    printf "| %s | %s%s | %d | %s |\n", algorithm, told, restless ? ", and it keeps changing" : "", most, broken ? broken : "–"
}'

# shape TITLE TEXT OPTION...: one table.
shape() {
    local title=$1 text=$2 algorithm call status
    shift 2
    printf '\n## %s\n\n%s\n\n' "$title" "$text"
    echo '| algorithm | leader in each view, 5 s later | led at once | broken guarantees |'
    echo '|---|---|---|---|'
    while read -r algorithm; do
        call=()
        case " $called " in *" $algorithm "*) call=(--initiator 2@200) ;; esac
        status=0
        "$ELECTOR" sim "$algorithm" --nodes 5 --leader 5 --detect 5 "${call[@]}" "$@" --until 5100 \
            --quiet --trace "$scratch/trace" >"$scratch/told" 2>&1 </dev/null || status=$?
        if [ "$status" -gt 1 ]; then # 1 is a violation, and part of the story
            cat "$scratch/told" >&2
            exit 1
        fi
        awk -v algorithm="$algorithm" "$tell" "$scratch/trace"
    done <"$scratch/algorithms"
}

cuts() {
    local link
    for link in "$@"; do printf -- '--cut\n%s@100\n' "$link"; done
}

write_page() {
    cat <<'TEXT'
# Partial partitions

This page shows how every algorithm behaves when some links between five processes break. In each run process 5 leads at first. The links
break at 100 and stay broken. After 5 T a detector tells each process which others it no longer hears. Every run has seed 1, and 1 T is
1 ms.

LeLann, Hirschberg-Sinclair, Peterson and Itai-Rodeh do not use a detector; in their runs process 2 calls an election. Their messages are
lost at a broken link. The other rings skip processes that they cannot reach.

- *Led at once* counts the processes that believed at the same time that they led. This breaks a guarantee only if the algorithm guarantees
  one leader. Raft, Multi-Paxos and ZooKeeper guarantee one leader in each term, and a leader of an older term does no harm where terms
  are checked.
- *Broken guarantees* lists what the algorithm claims and did not keep. While links are broken, a majority election owes no leader to
  processes that the leader cannot reach. `elector algorithms NAME` tells which faults may break what.

`test/partial/run.sh --rewrite` writes this page, and every test run compares it with what the algorithms do.
TEXT
    local chain deaf mute
    mapfile -t chain < <(cuts '1>3' '3>1' '1>4' '4>1' '1>5' '5>1' '2>4' '4>2' '2>5' '5>2' '3>5' '5>3')
    mapfile -t deaf < <(cuts '1>5' '2>5' '3>5' '4>5')
    mapfile -t mute < <(cuts '5>1' '5>2' '5>3' '5>4')
    shape 'Two and three' 'A clean cut: the leader 5 and process 4 on one side, the majority on the other.' \
        --partition '1,2,3|4,5@100'
    shape 'The bridge' 'Processes 1 and 2 cannot reach 4 and 5. Only 3 reaches both sides.' --partition '1,2|4,5@100'
    shape 'The chain' 'Each process reaches only its neighbours: 1 – 2 – 3 – 4 – 5. Only 2, 3 and 4 reach a majority.' \
        "${chain[@]}"
    shape 'The deaf leader' 'All processes hear 5, but 5 hears nobody.' "${deaf[@]}"
    shape 'The mute leader' '5 hears all processes, but nobody hears 5.' "${mute[@]}"
}

"$ELECTOR" algorithms | awk '/detectors/ { done = 1 } !done && /^  [a-z-]+  *[a-z]/ { print $1 }' >"$scratch/algorithms"
# With a store, five members are four candidates that never send to each other: other shapes break them, see docs/recipes.md.
while read -r name; do
    case $("$ELECTOR" algorithms "$name") in
    *'The last member is the store'*) ;;
    *) echo "$name" ;;
    esac
done <"$scratch/algorithms" >"$scratch/without-store"
mv "$scratch/without-store" "$scratch/algorithms"
if [ ! -s "$scratch/algorithms" ]; then
    echo "run.sh: $ELECTOR names no algorithms" >&2
    exit 1
fi
# These take no notice of a detector, and elect only when somebody calls: a crash and its detection make none of them send anything.
called=
while read -r name; do
    "$ELECTOR" sim "$name" --nodes 5 --leader 5 --crash 5@100 --detect 5 --until 5100 --quiet >"$scratch/told" 2>&1 </dev/null || true
    if grep -qE '^ +messages +0$' "$scratch/told"; then called+=" $name"; fi
done <"$scratch/algorithms"
write_page >"$scratch/page"
if $rewrite; then
    cp "$scratch/page" "$page"
elif ! diff -u --label "$page" --label 'as it comes out now' "$page" "$scratch/page"; then
    echo "FAIL  $page differs; run.sh --rewrite renews it" >&2
    exit 1
fi
echo "$(grep '^| ' "$scratch/page" | grep -vc '^| algorithm') runs told"
