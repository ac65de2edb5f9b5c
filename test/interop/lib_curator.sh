# shellcheck shell=bash disable=SC2154,SC2034 # names are shared with test/cluster/lib.sh
# Curator's candidates, by Candidate.java.

curator_jars=$(printf '/usr/share/java/%s.jar:' curator-recipes curator-framework curator-client zookeeper zookeeper-jute slf4j-api guava)

curator_built() { javac -cp "$curator_jars" -d "$dir/java" test/interop/Candidate.java 2> "$dir/javac.log" || fail "$(head -n 1 "$dir/javac.log")"; }
curator_stands() { # LAYOUT NAME: as process $it, which says its news in $dir/NAME.said
    java -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp "$dir/java:$curator_jars" Candidate "$(zk_hosts "${zk_servers[@]}")" "$1" "/$zk_path/work" "$2" \
        > "$dir/$2.said" 2> "$dir/$2.log" &
    it=$!
}
curator_says() { grep -q -e "$2" "$dir/$1.said"; } # NAME TEXT

# We, Curator, we: in this order, and each sees the others.
curator_queue() { # LAYOUT
    zk_found 1
    zk_query="&layout=$1"
    zk_start 1
    curator_built
    work a
    await_leader
    local before=$token
    curator_stands "$1" it
    await 60 "Curator stands" zk_waits 2
    work b
    await 30 "b stands" zk_waits 3
    ! curator_says it leads || fail "Curator leads beside us"
    kill -TERM "${runner[a]}"
    await 30 "Curator leads" curator_says it leads
    "$ELECTOR" status work --url "$(url b)" > "$dir/said"
    says '^work +it '
    ! works_beyond "$before" || fail "b works beside Curator"
    kill -TERM "$it"
    await_leader "$before"
    [ "$leader" = b ] || fail "$leader leads, not b"
    judge
}
