# shellcheck shell=bash disable=SC2034,SC2154 # sourced by the scripts of peers that are asked by clients
# Elections at a server: $pairs of them at once, with two candidates each. The script has
#   stand ELECTION HOSTS   starts a candidate in the background, which writes a line to $work/news that begins with e<ELECTION> when it
#                          is elected, and, if it says so at all, one that ends in `stands` before that
#   await_standing COUNT   until so many candidates stand; false: not in time
#   leader                 the number of the server that leads, in $led; hosts_of NUMBER and hosts_but NUMBER in $hosts; $all_hosts
# Each trial is timed by itself. Those that wait for a time-out do so beside each other; the others take turns. On a busy machine it
# happens that a candidate's own lease ends while it waits: that election gives no sample, and all begin anew.
fifo news
news=$fd
declare -A holder=() waiter=() elected=() began=()
stood=0 before=0 failures=0

hear() { # SECONDS: one line of a candidate; false: none came
    local line
    next_line "$news" "$1" || return 1
    case $line in
    *stands) stood=$((stood + 1)) ;;
    e*)
        line=${line%%[ /]*}
        elected[${line#e}]=$now
        ;;
    esac
}
hear_for() { # MS
    local end
    stamp
    end=$((now + $1 * 1000))
    while stamp && ((now < end)); do hear "0.$(printf %06d $((end - now)))" || true; done
}
await_all_elected() { # SECONDS WHO, holder or waiter: false: none of those is left who are not, or nothing came for so long
    local e quiet=0 patience=$1 hope
    local -n who=$2
    while ((${#elected[@]} < pairs)); do
        if hear 1; then
            quiet=0
            continue
        fi
        hope=false
        for ((e = 1; e <= pairs; e++)); do
            if [ -z "${elected[$e]:-}" ] && kill -0 "${who[$e]}"; then hope=true; fi
        done
        $hope && ((++quiet < patience)) || return 1
    done
}
seat_holders() { # HOSTS: a holder for each, elected
    local e
    elected=()
    stood=0
    for ((e = 1; e <= pairs; e++)); do
        stand "$e" "$1"
        holder[$e]=$!
    done
    await_all_elected 20 holder
}
seat_waiters() { # HOSTS: a second candidate for each, which stands
    local e
    elected=() began=()
    for ((e = 1; e <= pairs; e++)); do
        stand "$e" "$1"
        waiter[$e]=$!
    done
    await_standing $((2 * pairs)) || return 1
    hear_for $((200 + RANDOM % 200))
}
take_samples() { # KIND: false: not all have given one
    local e all=true
    for ((e = 1; e <= pairs && taken < trials; e++)); do
        if [ -n "${began[$e]:-}" ] && [ -n "${elected[$e]:-}" ]; then
            sample "$1" "${began[$e]}" "${elected[$e]}"
        else
            all=false
        fi
    done
    $all
}
empty_seats() {
    ((taken > before)) || ((++failures < 20)) || give_up "elections that stay as they are until their leader is ended"
    before=$taken
    end KILL "${holder[@]}"
    end TERM "${waiter[@]}"
    await_standing 0 || true
    while hear 0.05; do :; done
    started=("${servers[@]}")
}
# The holders are killed shortly after each other, or asked to go one by one; those who waited hold next.
try_holders() { # KIND SIGNAL
    local e
    before=0 failures=0
    while more; do
        seat_holders "$all_hosts" || { empty_seats && continue; }
        while more; do
            seat_waiters "$all_hosts" || break
            for ((e = 1; e <= pairs; e++)); do
                [ -z "${elected[$e]:-}" ] || continue # by itself
                stamp
                kill "-$2" "${holder[$e]}" || continue
                began[$e]=$now
                if [ "$2" = KILL ]; then
                    hear_for $((RANDOM % 100))
                else
                    until [ -n "${elected[$e]:-}" ]; do hear 5 || break; done
                fi
            done
            await_all_elected 20 waiter || true
            take_samples "$1" || break
            end KILL "${holder[@]}"
            for ((e = 1; e <= pairs; e++)); do holder[$e]=${waiter[$e]}; done
            stood=$pairs
        done
        empty_seats
    done
}
# The server that leads and all who hold an election there stop at once. Until those hold it who wait elsewhere.
try_silence() { # KIND
    local e stopped
    before=0 failures=0
    while more; do
        leader
        stopped=$led
        hosts_of "$stopped"
        seat_holders "$hosts" || { empty_seats && continue; }
        hosts_but "$stopped"
        seat_waiters "$hosts" || { empty_seats && continue; }
        stamp
        kill -STOP "${servers[$stopped]}" "${holder[@]}" || true
        for ((e = 1; e <= pairs; e++)); do [ -n "${elected[$e]:-}" ] || began[$e]=$now; done
        await_all_elected 20 waiter || true
        take_samples "$1" || true
        end KILL "${holder[@]}"
        kill -CONT "${servers[$stopped]}"
        await 60 "all serve again" serves
        empty_seats
    done
}
