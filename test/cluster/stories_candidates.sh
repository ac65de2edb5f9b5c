# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Candidates: members that lead by the votes of others, and have sessions with these alone.

found_with_candidates() { # VOTERS CANDIDATES: members a, b, c...; the voters come first, and nobody stands at them
    local all=(a b c d e f g h i j k l m) list='' candidates i
    members=("${all[@]:0:$(($1 + $2))}")
    for ((i = 0; i < $1 + $2; i++)); do list+="${list:+,}${all[i]}=$prefix.$((i + 1)):$port"; done
    candidates=$(IFS=,; echo "${all[*]:$1:$2}")
    "$ELECTOR" init --members "$list" --candidate "$candidates" --cluster "$name" --out "$dir/c" > "$dir/init.log"
}

state_of() { # AGENT MEMBER: what its agent knows of the member
    "$ELECTOR" members --url "$(url "$1")" 2> /dev/null | awk -v who="$2" '$1 == who { print $4 }'
}
finds() { [ "$(state_of "$1" "$2")" = "$3" ]; } # AGENT MEMBER STATE

lists() { # AGENT MEMBER PRIORITY: how its agent lists the candidate of the group; without a priority if that is empty
    local pattern="\"member\": *\"$2\"${3:+, *\"priority\": *$3}}"
    [[ $(status "$1" work) =~ $pattern ]]
}

# Three voters and ten candidates. The leader's agent is killed, then its work; a voter is killed; a leader hands over to
# another one; and all agents, without a vote or with one, know who leads.
story_candidates_lead() {
    found_with_candidates 3 10
    start "${members[@]}"
    work "${members[@]:3}"
    await_leader
    await 60 "all agents name one leader" agree
    local first=$token was next
    was=$(field a work leader)
    finds "$was" a here || fail "$was finds $(state_of "$was" a)"
    for next in "${members[@]:3}"; do [ "$next" = "$was" ] || break; done
    finds "$was" "$next" - || fail "$was has a session with $next: $(state_of "$was" "$next")"
    await 60 "a knows the priority of $next" lists a "$next" 100
    await 60 "$was knows that $next stands, but not its priority" lists "$was" "$next" ''
    finds a "$next" here || fail "a has no session with $next"
    "$ELECTOR" transfer work --to "$next" --url "$(url a)" > "$dir/transfer" 2>&1 || fail "$(cat "$dir/transfer")"
    await_leader "$first"
    await 60 "all agents name the next leader" agree
    next=$(field a work leader) # perhaps another than the named one, if a busy machine kept voters from hearing it
    for was in "${members[@]:3}"; do [ "$next" = "$was" ] || break; done
    ! "$ELECTOR" resign work --url "$(url "$was")" > "$dir/resign" 2>&1 || fail "a candidate deposes the leader"
    grep -q 'a candidate passes no requests on: ask the agent of a voter' "$dir/resign" || fail "$(cat "$dir/resign")"

    look
    first=$token
    kill -KILL "${agent[$next]}"
    await_leader "$first"
    await 60 "the rest agrees" agree
    ! sees a "$next" || fail "a dead agent leads"
    start "$next"

    look
    first=$token
    kill -KILL "${agent[b]}"
    was=$(field a work leader)
    kill -KILL "${runner[$was]}"
    await_leader "$first"
    await 60 "two voters suffice" agree
    start b
    await 60 "b hears of the leader" agree
    no_errors "${members[@]}"
    judge
}

place_of() { "$ELECTOR" members --url "$(url "$1")" 2> /dev/null | awk -v who="$2" '$1 == who { print $NF }'; } # AGENT MEMBER
is_placed() { [[ $(place_of "$1" "$2") =~ $3 ]]; }                                                            # AGENT MEMBER PATTERN

# The candidate d has no address of its own: it is behind a NAT, which takes another port while d leads. d keeps its token.
# Its agent is killed and started again, and so is a voter, and voters find it each time.
story_candidate_behind_a_nat() {
    local m first was
    found_with_candidates 3 1
    for m in "${members[@]}"; do
        sed -i "s/^address = $prefix\.4:.*/address = dynamic/" "$(conf "$m")"
        printf '[group work]\nlease = 5s\n' >> "$(conf "$m")" # a busy processor may stop the NAT for a second
    done
    sed -i -E "s/^address = $prefix\.([123]):/address = $prefix.10\1:/" "$(conf d)"
    mkfifo "$dir/nat-orders"
    python3 test/cluster/parts/nat.py "$prefix" 3 "$port" < "$dir/nat-orders" > "$dir/nat.log" 2>&1 &
    exec {orders}> "$dir/nat-orders"
    start "${members[@]}"
    work d
    await_leader
    for m in a b c; do await 30 "$m knows where d is" is_placed "$m" d "^$prefix\.50:[0-9]+$"; done
    was=$(place_of a d)
    first=$token
    echo rebind >&"$orders"
    for m in a b c; do await 30 "$m knows where d is now" is_placed "$m" d "^$prefix\.50:[0-9]+$"; done
    await 30 "a knows another place than $was" has_moved a d "$was"
    await 30 "d works on" has_ticks "$first" $(($(ticks "$first ") + 50))
    look
    [ "$token" = "$first" ] || fail "after the NAT took other ports the token is $token, and was $first"

    kill -KILL "${agent[d]}"
    start d
    await_leader "$first"
    look
    first=$token
    kill -KILL "${agent[b]}"
    start b
    await 30 "b knows where d is" is_placed b d "^$prefix\.50:[0-9]+$"
    await 30 "b counts d's lease" sees b d
    look
    [ "$token" = "$first" ] || fail "after the restart of b the token is $token, and was $first"
    no_errors "${members[@]}"
    exec {orders}>&-
    judge
}
has_moved() { [ "$(place_of "$1" "$2")" != "$3" ]; } # AGENT MEMBER PLACE
