# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# What agents tell of a change afterwards: the cause, the votes, the tenures.

# What a member tells is in a .log file, so that a failure shows it.
why() { "$ELECTOR" why work --url "$(url "$1")" > "$dir/why-$1.log" 2>&1; } # MEMBER
past() { "$ELECTOR" history work --url "$(url "$1")" > "$dir/history-$1.log" 2>&1; }
told() { # MEMBER PATTERN: in its story
    why "$1" && grep -qE -e "$2" "$dir/why-$1.log"
}
await_told() { await 30 "$1 tells '$2', as why-$1.log does not" told "$1" "$2"; }

tokens_rise() { # MEMBER: and there are several
    past "$1" || return 1
    "$ELECTOR" history work --output json --url "$(url "$1")" | grep -oE '"token":[0-9]+' | cut -d: -f2 > "$dir/tokens-$1"
    [ "$(wc -l < "$dir/tokens-$1")" -ge 3 ] && sort -C -n -u "$dir/tokens-$1"
}

story_why() {
    local old new m line
    begin 3 '[group work]' 'lease = 3s' # so that a busy machine changes no leader by itself
    old=$leader
    kill -KILL "${runner[$old]}" # and the keeper lets go when all is dead
    await_leader "$token"
    new=$leader
    await_told "$old" "^ +0 +the worker at $old is gone: its connection ended"
    await_told "$old" "^Before, $old led with token [0-9]+ for .*, until its worker was gone\."
    # The third: it had promised $old nothing yet, and $old had not yet heard that it stands, so it was not the heir.
    await_told "$new" "$new (is released from its promise to $old|is given the vote of [abc] unasked|asks for votes)"
    await_told "$new" "[abc] votes for $new, in term $token"
    await_told "$new" "$new is granted the group by a majority, and leads in term $token"
    await_told "$new" "the worker at $new is told that it leads"

    old=$new
    m=$(others "$old" | while read -r each; do [ "$(field "$each" work candidates)" = 0 ] || echo "$each"; done | sed -n 1p)
    await 30 "$old takes the request" "$ELECTOR" transfer work --to "$m" --url "$(url "$old")" > "$dir/transfer.log" 2>&1
    await 60 "$m works" works_at "$m"
    await_told "$old" "^ +0 +$old is asked to hand over to $m: its worker is told to stop"
    await_told "$old" "the worker at $old says that its work has stopped"
    await_told "$old" "$old ends its term, and hands the group to $m in term $token"
    await_told "$m" "[abc] votes for $m, in term $token"

    work "$(others "$old" | grep -v "$m")" # the one whose runner was killed
    old=$m
    kill -KILL "${agent[$old]}"
    await_leader "$token"
    new=$leader
    await_told "$new" "$new knows that life [0-9]+ of $old is over, and its work with it" # its guardian says so
    await_told "$new" "[abc] (votes for|is free, and gives its vote to) $new, in term $token|$new is given the vote of [abc] unasked"
    await_told "$new" "^Before, $old led .* until its death was confirmed\. Nobody led for "
    for m in $(others "$old"); do
        await 30 "the tokens that $m tells rise, as history-$m.log does not show" tokens_rise "$m"
        # Who hears the claim before the release has only seen it begin.
        grep -qE "$old +[0-9]+ +(handed over|elected|pushed|seen) +obituary" "$dir/history-$m.log" || fail "$m knows no end of $old: $(cat "$dir/history-$m.log")"
    done
    line=$("$ELECTOR" history work -n 1 --output json --url "$(url "$new")")
    [[ $line == *"\"leader\":\"$new\",\"token\":$token,"*'"ended":null'* ]] || fail "history says $line"
    line=$("$ELECTOR" why work --output json --url "$(url "$new")")
    [[ $line == *'"steps":[{"us":0,"by":"'* ]] || fail "why says $line"
    judge
}

story_history_survives() { # the agents, and a file that somebody has damaged
    local old m
    begin 3 '[group work]' 'lease = 3s'
    old=$leader
    kill -KILL "${runner[$old]}"
    await_leader "$token"
    for m in a b c; do await_told "$m" "^Before, $old led with token [0-9]+ for .*, until its worker was gone\."; done
    for m in a b c; do
        await 30 "the history of $m is in its file" test -s "$dir/c/$m/elector.state.history"
        kill -TERM "${agent[$m]}"
    done
    for m in a b c; do await 60 "agent $m ends" has_ended "${agent[$m]}"; done
    echo 'no history' > "$dir/c/c/elector.state.history"
    start a b c
    for m in a b; do
        past "$m" || fail "$m has no history: $(cat "$dir/history-$m.log")"
        grep -qE "^[-0-9]+ .* $old +[0-9]+ +[a-z ]+ +worker gone " "$dir/history-$m.log" || fail "$m forgot $old: $(cat "$dir/history-$m.log")"
    done
    log_says c 'elector.state.history: the history is damaged; beginning it anew' || fail "c does not say that it begins anew"
    await 60 "they elect again" agree
    await 30 "c writes its history anew" grep -q elechist "$dir/c/c/elector.state.history"
}

story_names_made_up() { # a group for each job: when the jobs are over, nothing of them is left
    local i m
    counted() { # MEMBER COUNT
        curl -s "http://$prefix.$(number "$1"):$port/metrics" > "$dir/metrics" && grep -q "^elector_groups $2\$" "$dir/metrics"
    }
    found 3
    for m in a b c; do sed -i 's/^\[agent\]/[agent]\nforget-after = 1s/' "$(conf "$m")"; done
    start a b c
    for i in 1 2 3; do
        for m in a b c; do
            "$ELECTOR" run --once --url "$(url "$m")" "job-$m-$i" -- true > "$dir/job.log" 2>&1 || fail "job-$m-$i: $(cat "$dir/job.log")"
        done
    done
    for m in a b c; do
        await 60 "$m has dropped all groups" counted "$m" 0
        [[ $(status "$m") == *'"groups":[]'* ]] || fail "$m lists $(status "$m")"
        "$ELECTOR" history job-a-1 --url "$(url "$m")" > "$dir/past" && grep -q ' a ' "$dir/past" || fail "$m has no history of job-a-1"
    done
    "$ELECTOR" run --once --url "$(url b)" job-a-1 -- sh -c 'echo "$ELECTOR_TOKEN"' > "$dir/again" 2> "$dir/job.log" || fail "again: $(cat "$dir/job.log")"
    m=$("$ELECTOR" history job-a-1 --output json --url "$(url b)" | grep -oE '"token":[0-9]+' | cut -d: -f2 | sed -n 1p)
    [ "$(cat "$dir/again")" -gt "$m" ] || fail "the token of job-a-1 was $m and is $(cat "$dir/again")"
    for m in a b c; do
        "$ELECTOR" replay "$dir/c/$m/elector.state.flight" > "$dir/replay" 2>&1 || fail "the recording of $m: $(cat "$dir/replay")"
    done
}

story_why_not() { # nothing to tell, nobody to ask
    local code
    found 1
    start a
    asked() { # CODE TEXT ARGUMENTS
        local wanted=$1 text=$2
        shift 2
        code=0
        "$ELECTOR" "$@" > "$dir/asked" 2>&1 || code=$?
        if [ "$code" != "$wanted" ] || ! grep -qF -e "$text" "$dir/asked"; then fail "$* ends with $code and says $(cat "$dir/asked")"; fi
    }
    asked 1 'this agent does not know the group' why nowhere --url "$(url a)"
    asked 1 'this agent does not know the group' history nowhere --url "$(url a)"
    asked 2 "a group's name is" why ' ' --url "$(url a)"
    asked 3 'is the agent running' why work --url "unix:$dir/absent"
    asked 3 'is the agent running' history work --url "unix:$dir/absent"
    asked 2 'which group?' why
    asked 2 'only an agent knows the past' history work --url "file:$dir/lock"
    asked 2 'a number from 1 to 64' history work -n 65 --url "$(url a)"
    asked 2 'a number from 1 to 64' history work -n
    asked 2 '--last needs a number' history work --last=0
    asked 2 'unknown option -n' why work -n 3
    asked 2 'text or json' why work --output xml
    work a
    await_leader
    asked 0 'the worker at a is told that it leads' why work --url "$(url a)"
    asked 0 'Nobody is known to have led before.' why work --url "$(url a)"
    asked 0 'elected' history work --url "$(url a)"
}
