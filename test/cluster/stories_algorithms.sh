# shellcheck shell=bash disable=SC2154
# Every algorithm over real sockets, not only the one that is meant for them.

all_agree() { # GROUP...
    local g
    for g in "$@"; do agree "$g" || return 1; done
}

stand_for() { # GROUP...: a candidate for each from every member
    local g m
    for g in "$@"; do
        for m in "${members[@]}"; do
            "$ELECTOR" campaign "$g" --url "$(url "$m")" >> "$dir/campaign-$m.log" 2>&1 &
        done
    done
}

story_bully_and_raft() {
    local m
    found 3 '[group old]' 'algorithm = bully' '[group new]' 'algorithm = raft'
    start "${members[@]}"
    for m in "${members[@]}"; do
        log_says "$m" 'group="old".*led by bully' || fail "$m does not warn of bully"
        log_says "$m" 'group="new".*led by raft' || fail "$m does not warn of raft"
    done
    stand_for old new
    await 60 "both have a leader" all_agree old new
    kill -KILL "${agent[$(field a new leader)]}"
    await 60 "those left name one leader of new" agree new
    no_errors "${members[@]}"
}

story_every_algorithm() {
    local names lines=() g missing=()
    mapfile -t names < <("$ELECTOR" algorithms | awk '/^$/ { exit } { print $1 }')
    [ ${#names[@]} -ge 10 ] || fail "only ${#names[@]} algorithms are listed"
    for g in "${names[@]}"; do lines+=("[group $g]" "algorithm = $g"); done
    found 3 "${lines[@]}"
    start "${members[@]}"
    stand_for "${names[@]}"
    for g in "${names[@]}"; do
        local end=$((SECONDS + 60))
        until agree "$g"; do
            if ((SECONDS >= end)); then
                missing+=("$g")
                break
            fi
            nap
        done
    done
    [ ${#missing[@]} -eq 0 ] || fail "no leader for all three in ${missing[*]}"
    no_errors "${members[@]}"
}
