#!/usr/bin/env bash
# Holds the manual to the code: what the command, the configuration and the library have, their pages mention, and what the
# pages say of options and keys is there. Then proves that every check can fail, by taking out of a copy what it should miss.
#
# Environment: ELECTOR, the program (default: the release build's).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
ELECTOR=${ELECTOR:-build/release/elector}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
documented='run campaign observe status history why transfer resign forget members init keygen agent plan replay doctor' # with their options

# ---- What there is --------------------------------------------------------------------------------

there_verbs() { "$ELECTOR" --help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p'; }

# The options of the verbs whose options the page lists: "verb option" to a line. In a help text they begin their lines.
there_options() {
    local verb
    for verb in $documented; do
        "$ELECTOR" "$verb" --help | sed -nE 's/^  ((-[a-zA-Z]), )?(--[a-z-]+)( .*)?$/\2\n\3/p' | grep -vxE -- '|--help' |
            sed "s/^/$verb /"
    done
}

there_keys() { # "section key" to a line, from the reader's table
    sed -n 's/^ *{CONFIG_IN_\([A-Z]*\), "\([a-z-]*\)",.*/\1 \2/p' src/agent/config/sections.c | tr '[:upper:]' '[:lower:]'
}

there_functions() { grep -oE '^ELECTOR_API [^;(]*\(' include/elector.h | grep -oE 'elector_[a-z_]*\($' | tr -d '('; }

there_codes() { sed -nE 's/^ *(ELECTOR_[A-Z_]*)( = [0-9]+)?,( *\/\*.*)?$/\1/p' include/elector.h; }

there_variables() { "$ELECTOR" run --help | grep -oE 'ELECTOR_[A-Z_]+' | sort -u; }

# ---- Whether a page of the folder $1 has it -------------------------------------------------------

# The lines of a page from a heading that matches to the next of any kind.
part() { awk -v heading="$2" '/^#+ / { on = $0 ~ heading } on' "$1"; }

# Prints which of the words on standard input the text $1 has not, as *word*: set in bold.
lacks() {
    local text=$1 word
    while read -r word; do
        grep -qE -- "\\*$word(\\*| )" <<<"$text" || printf '%s\n' "$word"
    done
}

check_verbs() { # elector(1) has every verb of elector --help
    local verb
    there_verbs | while read -r verb; do
        grep -qE "^(## |\*)elector $verb( |\*|$)" "$1/elector.1.scd" || echo "$verb"
    done
}

check_options() { # elector(1) has, under each verb, every option of its --help
    local verb option
    there_options | while read -r verb option; do
        lacks "$(part "$1/elector.1.scd" "^## elector $verb( |\$)" | grep '^\*-')" <<<"$option" | sed "s/^/$verb /"
    done
}

check_agent() { # elector-agent(8) has every option of elector agent --help
    there_options | sed -n 's/^agent //p' | lacks "$(cat "$1/elector-agent.8.scd")"
}

check_keys() { # elector.conf(5) has every key that the reader knows, in its section
    local section key
    there_keys | while read -r section key; do
        lacks "$(part "$1/elector.conf.5.scd" "^# \\[$section( |\\])" | grep -E '^\*[a-z-]+\* = ')" <<<"$key" |
            sed "s/^/[$section] /"
    done
}

check_reference() { # and so has docs/configuration.md
    local section key
    there_keys | while read -r section key; do
        grep -qF "| \`$key\` |" < <(part "${1%/man}/docs/configuration.md" "^## \\[$section( |\\])") || echo "[$section] $key"
    done
}

check_functions() { # elector(3) declares and explains every function of elector.h
    local function
    there_functions | while read -r function; do
        grep -qE "^[a-z].*[ *]$function\\(" "$1/elector.3.scd" || echo "$function is not in the synopsis"
        grep -qxF "*$function*()" "$1/elector.3.scd" || echo "$function is not explained"
    done
}

check_codes() { # elector(3) has every status and event
    there_codes | lacks "$(grep -xE '\*ELECTOR_[A-Z_]*\*' "$1/elector.3.scd")"
}

check_variables() { # elector(1) has every variable of elector run
    there_variables | lacks "$(part "$1/elector.1.scd" '^# ENVIRONMENT')"
}

check_invented() { # and elector(1) has no option under a verb that the verb has not
    local verb
    for verb in $documented; do
        part "$1/elector.1.scd" "^## elector $verb( |\$)" | grep -E '^\*-' | grep -oE -- '\*--?[a-zA-Z-]+\*' | tr -d '*' |
            grep -vxFf <(there_options | sed -n "s/^$verb //p") | sed "s/^/$verb /" || true
    done
}

check_layout() { # scdoc takes every page
    local page
    command -v scdoc >/dev/null || return 0
    for page in "$1"/*.scd; do scdoc <"$page" >/dev/null || echo "$page"; done
}

checks='verbs options agent keys reference functions codes variables invented layout'

# ---- That it can fail -----------------------------------------------------------------------------

planted=0
# Changes a copy, and expects the check to say what.
red() { # check, file, what sed does to it, what it must find
    local found
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree"
    cp -R man docs "$scratch/tree/"
    sed -i -E "$3" "$scratch/tree/$2"
    found=$("check_$1" "$scratch/tree/man" 2>&1)
    planted=$((planted + 1))
    if ! grep -qF -- "$4" <<<"$found"; then
        printf 'FAIL  %-9s does not notice: %s in %s; it says: %s\n' "$1" "$3" "$2" "$found"
        failed=1
    fi
}

prove_the_checks() {
    red verbs man/elector.1.scd '/^## elector resign/d' resign
    red verbs man/elector.1.scd '/^\*elector detect/d' detect
    red options man/elector.1.scd '/^\*--stop-timeout/d' 'run --stop-timeout'
    red options man/elector.1.scd 's/^\*-n\*, //' 'run -n'
    red options man/elector.1.scd '/^## elector campaign/,/^## /s/^\*--value\*//' 'campaign --value'
    red agent man/elector-agent.8.scd '/check-config/d' --check-config
    red keys man/elector.conf.5.scd '/^\*socket-mode\*/d' '[agent] socket-mode'
    red keys man/elector.conf.5.scd '/^# \[member/,/^# \[agent/s/^\*id\*//' '[member] id'
    # shellcheck disable=SC2016 # the backticks are those of the table
    red reference docs/configuration.md '/^\| `drift`/d' '[cluster] drift'
    red functions man/elector.3.scd 's/^bool elector_is_leader/bool is_leader/' 'elector_is_leader is not in the synopsis'
    red functions man/elector.3.scd '/^\*elector_fd\*/d' 'elector_fd is not explained'
    red codes man/elector.3.scd '/^\*ELECTOR_BUSY\*/d' ELECTOR_BUSY
    red codes man/elector.3.scd '/^\*ELECTOR_STOP\*/d' ELECTOR_STOP
    red variables man/elector.1.scd '/^\*ELECTOR_TOKEN\*/d' ELECTOR_TOKEN
    red invented man/elector.1.scd 's/^\*--quiet\*/*--silent*/' 'run --silent'
    if command -v scdoc >/dev/null; then red layout man/elector.1.scd '1d' elector.1.scd; fi
    [ "$failed" -ne 0 ] || printf 'ok    %-9s %s\n' proof "each check above turned red on what was taken away for it ($planted times)"
}

# ---- The verdict ----------------------------------------------------------------------------------

# Nothing found would be nothing missed.
for what in verbs options keys functions codes variables; do
    count=$("there_$what" | wc -l)
    case $what in verbs) least=15 ;; options) least=35 ;; keys) least=19 ;; functions) least=20 ;; *) least=5 ;; esac
    if [ "$count" -lt "$least" ]; then
        printf 'FAIL  only %s %s are found; does this test still read them right?\n' "$count" "$what"
        failed=1
    fi
done

for check in $checks; do
    purpose=$(sed -n "s/^check_$check() { # //p" test/man/run.sh)
    found=$("check_$check" "$PWD/man" 2>&1)
    if [ -z "$found" ]; then
        printf 'ok    %-9s %s\n' "$check" "$purpose"
    else
        printf 'FAIL  %-9s %s; missing, or too much:\n' "$check" "$purpose"
        sed 's/^/      /' <<<"$found"
        failed=1
    fi
done
if [ "$failed" -eq 0 ]; then prove_the_checks; fi
exit $failed
