# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Every algorithm over real sockets, not only the one that is meant for them.

all_agree() { # GROUP...
    local g
    for g in "$@"; do agree "$g" || return 1; done
}

stand_for() { # MEMBERS GROUP...: a candidate for each from these members
    local g m
    for g in "${@:2}"; do
        for m in $1; do
            "$ELECTOR" campaign "$g" --url "$(url "$m")" >> "$dir/campaign-$m.log" 2>&1 &
        done
    done
}

story_bully_and_raft() {
    local m
    found 3 '[group old]' 'algorithm = bully' '[group new]' 'algorithm = raft'
    start "${members[@]}"
    for m in "${members[@]}"; do
        log_says "$m" 'group="old".*algorithm bully' || fail "$m does not warn of bully"
        log_says "$m" 'group="new".*algorithm raft' || fail "$m does not warn of raft"
    done
    stand_for 'a b c' old new
    await 60 "both have a leader" all_agree old new
    kill -KILL "${agent[$(field a new leader)]}"
    await 60 "those left name one leader of new" agree new
    no_errors "${members[@]}"
}

# Those that have no leader whom all three name, after a while that is long for all of them.
leaderless=()
find_leaderless() { # SECONDS GROUP...
    local g end=$((SECONDS + $1))
    leaderless=()
    for g in "${@:2}"; do
        until agree "$g"; do
            if ((SECONDS >= end)); then
                leaderless+=("$g")
                break
            fi
            nap
        done
    done
}

# A cluster with a group for each algorithm, by its name.
names=()
found_every_algorithm() {
    local lines=() g
    local store # the recipes need a store, and agents have none
    mapfile -t names < <("$ELECTOR" algorithms | awk '/^$/ { exit } { print $1 }')
    for store in etcd-election zookeeper-recipe kubernetes-lease; do
        mapfile -t names < <(printf '%s\n' "${names[@]}" | grep -vx "$store")
    done
    [ ${#names[@]} -ge 10 ] || fail "only ${#names[@]} algorithms are listed"
    for g in "${names[@]}"; do lines+=("[group $g]" "algorithm = $g"); done
    found 3 "${lines[@]}"
}

# The candidates of one member first, then all others.
story_every_algorithm() {
    local g
    found_every_algorithm
    start "${members[@]}"
    stand_for c "${names[@]}"
    find_leaderless 40 "${names[@]}"
    [ ${#leaderless[@]} -eq 0 ] || fail "with one candidate there is no leader for all three in ${leaderless[*]}"
    for g in "${names[@]}"; do await 40 "the candidate for $g is elected" grep -q "^elected $g token" "$dir/campaign-c.log"; done
    stand_for 'a b' "${names[@]}"
    find_leaderless 40 "${names[@]}"
    [ ${#leaderless[@]} -eq 0 ] || fail "with more candidates there is no leader for all three in ${leaderless[*]}"
    no_errors "${members[@]}"
}

# All members begin within milliseconds, in the middle of each other's elections: what comes of that is held again until
# all name one leader.
story_every_algorithm_at_once() {
    found_every_algorithm
    start "${members[@]}"
    stand_for 'a b c' "${names[@]}"
    find_leaderless 90 "${names[@]}"
    [ ${#leaderless[@]} -eq 0 ] || fail "there is no leader for all three in ${leaderless[*]}"
    no_errors "${members[@]}"
}
