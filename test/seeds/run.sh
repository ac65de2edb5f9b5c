#!/usr/bin/env bash
# Runs every command of the tables in docs/seeds.md, and looks for every result that the row says it prints. White space counts as one
# blank. Then plants a wrong figure and a command that does not exist, which must both be found.
#
# Environment: ELECTOR, the program (default: the release build).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C.UTF-8
ELECTOR=$(realpath "${ELECTOR:-build/release/elector}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$ELECTOR" "$scratch/bin/elector"
PATH=$scratch/bin:$PATH

# The rows of the tables as lines: COMMAND, tab, RESULT, tab, RESULT …
rows() { # DOCUMENT
    awk '
        /^\| / {
            line = $0
            gsub(/\\\|/, "\001", line)
            count = split(line, cell, "|")
            if (count != 7 || split(cell[4], command, "`") != 3) { if (cell[4] !~ /command/) print "BAD " $0; next }
            text = command[2]
            results = split(cell[5], result, "`")
            if (results < 3) print "BAD " $0
            for (i = 2; i <= results; i += 2) text = text "\t" result[i]
            gsub("\001", "|", text)
            print text
        }' "$1"
}

squeeze() { tr -s '[:space:]' ' ' <"$1"; }

# judge DOCUMENT: says what is wrong; true if nothing is.
judge() {
    local row parts wrong=0 count=0 i
    while IFS= read -r row; do
        if [[ $row == BAD* ]]; then
            echo "FAIL  not a row of five cells with a command and its results in backquotes: ${row#BAD }"
            wrong=$((wrong + 1))
            continue
        fi
        IFS=$'\t' read -ra parts <<<"$row"
        bash -c "${parts[0]}" >"$scratch/printed" 2>&1 </dev/null || true
        for ((i = 1; i < ${#parts[@]}; i++)); do
            count=$((count + 1))
            if [[ " $(squeeze "$scratch/printed") " != *"${parts[i]}"* ]]; then
                echo "FAIL  ${parts[0]}: does not print '${parts[i]}', but:"
                head -n 12 "$scratch/printed"
                wrong=$((wrong + 1))
            fi
        done
    done < <(rows "$1")
    echo "$count results looked for, $wrong not found"
    [ "$wrong" -eq 0 ] && [ "$count" -gt 0 ]
}

plant() { # NAME SED-EXPRESSION: the document with this mistake must be found wrong
    grep -m 3 '^|' docs/seeds.md >"$scratch/planted"
    sed -n "$2" docs/seeds.md >>"$scratch/planted"
    if [ "$(wc -l <"$scratch/planted")" -ne 4 ] || judge "$scratch/planted" >/dev/null; then
        echo "FAIL  planted: $1 was not found"
        exit 1
    fi
}

judge docs/seeds.md
plant 'a wrong figure' '/case best --quiet.*messages 12/ s/messages 12/messages 13/p'
plant 'a command that is not there' '/N3 starts/ s/elector sim/elector simulate/p'
plant 'a row without a result' '/N3 starts/ s/`3 →.*15`/fifteen/p'
