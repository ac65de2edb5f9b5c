# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Networks that part, lie and repeat themselves.

calm='lease = 3s' # where a busy machine must not look like a fault

# ---- Partitions, by nftables in a namespace of our own ----

story_partition_full() {
    local old m
    make_net
    begin 3
    old=$leader
    for m in $(others "$old"); do cut_off "$old" "$m" && cut_off "$m" "$old"; done
    await_leader "$token"
    heal
    await 60 "all name one leader" agree
    judge
}

# One that is not heard, then one that does not hear.
story_partition_one_way() {
    local old m
    make_net
    begin 3
    old=$leader
    for m in $(others "$old"); do cut_off "$old" "$m"; done
    await_leader "$token"
    heal
    await 60 "all name one leader" agree
    old=$leader
    for m in $(others "$old"); do cut_off "$m" "$old"; done
    await_leader "$token"
    heal
    await 60 "all name one leader" agree
    judge
}

# Two do not hear each other, and both hear the third: who leads goes on, until it is alone.
story_partition_bridge() {
    local old first second
    make_net
    begin 3 '[group work]' "$calm"
    await 60 "all name one leader" agree
    old=$token
    read -r first second <<< "$(others "$leader" | xargs)"
    cut_off "$leader" "$first" && cut_off "$first" "$leader"
    await 60 "work goes on" has_ticks "$old" $(($(ticks "$old ") + 1500))
    look
    [ "$token" = "$old" ] || fail "one whom $second hears well was deposed"
    cut_off "$leader" "$second" && cut_off "$second" "$leader"
    await_leader "$old"
    heal
    await 60 "all name one leader" agree
    judge
}

# ---- Strangers ----

# Copies, old ones and garbled ones of everything, and an election in the middle of it.
story_noise() {
    found_relayed 3
    order 0 0 copies 2
    order 0 0 garble 2
    order 0 0 replay 3
    start "${members[@]}"
    work "${members[@]}"
    await_leader
    await 60 "all name one leader" agree
    await 60 "work goes on" has_ticks "$token" 500
    kill -KILL "${agent[$leader]}"
    await_leader "$token"
    order 0 0 delay 30 # and everything late, so that much of it is out of order
    await 60 "those left name one leader" agree
    judge
    no_errors "${members[@]}"
}

# All that one member ever said, said once more after it has been started again.
story_garbage() {
    local old m i
    begin 3 '[group work]' "$calm"
    await 60 "all name one leader" agree
    old=$token
    for ((i = 0; i < 100; i++)); do
        for m in "${members[@]}"; do
            head -c $((RANDOM % 1300)) /dev/urandom > "/dev/udp/$prefix.$(number "$m")/$port" || true
        done
    done
    await 60 "work goes on" has_ticks "$old" $(($(ticks "$old ") + 500))
    look
    [ "$token" = "$old" ] || fail "garbage has cost leadership"
    await 60 "all name one leader" agree
    no_errors "${members[@]}"
    ! grep -q level=warn "$dir"/[abc].log || fail "garbage is worth a warning: $(grep -h level=warn "$dir"/[abc].log | sed -n 1p)"
    judge
}

story_wrong_key() {
    found 3
    "$ELECTOR" keygen --out "$dir/other.key" > /dev/null
    cp "$dir/other.key" "$dir/c/c/cluster.key"
    start "${members[@]}"
    work c a b # the best of all, if it were heard
    await_leader
    [ "$leader" != c ] || fail "a stranger leads"
    await 60 "a and b name one leader" sees a "$leader"
    await 60 "a and b name one leader" sees b "$leader"
    await 60 "work goes on" has_ticks "$token" 500
    [ -z "$(field c work leader)" ] || fail "a stranger knows who leads"
    [[ $(status a) != *'"name":"c"'*'"reachable":true'* ]] || [[ $(status a) =~ \"name\":\"c\"[^}]*\"reachable\":false ]] || fail "a stranger is heard"
    judge
    no_errors a b
}

# Two agents with one id, which no lock can keep apart: they sit on two hosts. At worst neither is heard.
story_one_id_twice() {
    found 3
    mkdir "$dir/c/twin"
    cp -p "$dir/c/c/"* "$dir/c/twin/"
    sed -i "s/^\(address\|http\) = $prefix\.3:/\1 = $prefix.9:/" "$dir/c/twin/elector.conf"
    start a b c twin
    work twin c a b
    await_leader
    await 60 "work goes on" has_ticks "$token" 300
    kill -KILL "${agent[$leader]}"
    await_leader "$token"
    judge
}

story_other_members() {
    found 3
    printf '%s\n' '[member d]' 'id = 4' "address = $prefix.4:$port" "key = $("$ELECTOR" keygen --out "$dir/d.key")" >> "$(conf c)"
    start "${members[@]}"
    work c a b
    await_leader
    [ "$leader" != c ] || fail "whoever counts other members leads"
    await 60 "a complains" log_says a 'another list of members'
    await 60 "c complains" log_says c 'another list of members'
    await 60 "work goes on" has_ticks "$token" 300
    judge
}

# ---- Keys: add, use, retire ----

reread() { # MEMBER COUNT
    [ "$(grep -c 'reloaded' "$dir/$1.log")" -ge "$2" ]
}

rotate() { # STEP FILE...: these keys, everywhere
    local m step=$1
    shift
    for m in "${members[@]}"; do
        cat "$@" > "$dir/c/$m/cluster.key"
        kill -HUP "${agent[$m]}"
        await 60 "$m reads its keys" reread "$m" "$step"
    done
}

story_key_rotation() {
    local old m
    begin 3 '[group work]' "$calm"
    await 60 "all name one leader" agree
    old=$token
    cp "$dir/c/a/cluster.key" "$dir/old.key"
    "$ELECTOR" keygen --out "$dir/new.key" > /dev/null
    rotate 1 "$dir/old.key" "$dir/new.key"
    rotate 2 "$dir/new.key" "$dir/old.key"
    rotate 3 "$dir/new.key"
    m=$(others "$leader" | sed -n 1p)
    kill -KILL "${agent[$m]}" # it comes back with the new key alone
    start "$m"
    await 60 "all name one leader" agree
    look
    [ "$token" = "$old" ] || fail "leadership was lost on the way"
    no_errors "${members[@]}"
    judge
}

# The same over IPv6, where all members share one address: they are told apart by their ports.
story_ipv6() {
    local m list='' i=0 first
    members=(a b c)
    grep -qs '^0*1 .* lo$' /proc/net/if_inet6 || skip "there is no ::1 here"
    for m in "${members[@]}"; do list+="${list:+,}$m=[::1]:$((port + 3000 * i++))"; done
    "$ELECTOR" init --members "$list" --cluster "$name" --out "$dir/c" > "$dir/init.log"
    grep -q '^address = \[::1\]' "$(conf a)" || fail "init writes another address"
    start "${members[@]}"
    work "${members[@]}"
    await_leader
    first=$token
    kill -KILL "${agent[$leader]}"
    await_leader "$first"
    judge
    for m in "${members[@]}"; do ! grep -q 'level=error' "$dir/$m.log" || fail "$m logs an error"; done
}

# Each member has an address in each of two networks. One fails, then the other: the leader keeps its token. Then both fail for it.
story_two_networks() {
    local m n first
    make_net
    found 3 '[group work]' 'lease = 5s'
    for m in "${members[@]}"; do sed -i -E "s/^address = ($prefix)\.([123]):(.*)/&, \1.2\2:\3/" "$(conf "$m")"; done
    start "${members[@]}"
    work "${members[@]}"
    await_leader
    first=$token
    for m in a b c; do for n in a b c; do cut_off "$m" "$n"; done; done
    await 30 "the second network carries all: $(ticks "$first ")" has_ticks "$first" $(($(ticks "$first ") + 100))
    await 30 "all count" members_say "$leader" '^3 of 3 votes count; 2 elect; 1 more may fail$'
    members_say "$leader" "$prefix\.2:$port,$prefix\.22:$port$" || fail "$(cat "$dir/members")"
    heal
    nft_do add rule inet cut in ip saddr "$prefix.21-$prefix.23" drop
    await 30 "the first network carries all" has_ticks "$first" $(($(ticks "$first ") + 100))
    await 30 "all count" members_say "$leader" '^3 of 3 votes count; 2 elect; 1 more may fail$'
    look
    [ "$token" = "$first" ] || fail "the token was $first, and is $token"
    for m in a b c; do for n in a b c; do cut_off "$m" "$n"; done; done
    await 30 "nobody leads" nobody_leads
    heal
    await_leader "$first"
    no_errors a b c
    judge
}
nobody_leads() { [ -z "$(field "$leader" work leader)" ]; } # as the last leader's agent sees it
