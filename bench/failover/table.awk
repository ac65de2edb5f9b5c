# Samples (SYSTEM KIND NS, in any order) as tables: first what it comes to, then all figures. `# SYSTEM: …` goes into the legend,
# `- SYSTEM KIND WHY` says why there are no samples. A percentile of n samples is the one at rank ceil(p n), so of few it is the largest.
function percentile(list, n, p,    rank) {
    rank = int(p * n)
    if (rank < p * n) rank++
    return list[rank < 1 ? 1 : rank]
}
function span(ns) {
    if (ns < 1e6) return sprintf("%.0f us", ns / 1e3)
    if (ns < 1e7) return sprintf("%.2f ms", ns / 1e6)
    return sprintf("%.0f ms", ns / 1e6)
}
function factor(x) { return sprintf(x < 0.95 ? "%.2fx" : x < 10 ? "%.1fx" : "%.0fx", x) }
function put(text) { # without spaces at its end
    sub(/ +$/, "", text)
    print text
}
function sort(list, n,    gap, i, j, x) { # Shell's
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
        for (i = gap + 1; i <= n; i++) {
            x = list[i]
            for (j = i; j > gap && list[j - gap] > x; j -= gap) list[j] = list[j - gap]
            list[j] = x
        }
}
function trips(key) { return unit && key in median ? factor(median[key] / unit) : "-" }
function floors(kind, figures,    mine) { # how many times the same figure of the floor, of the same run
    mine = "elector " kind
    sub(/-work$/, "", mine) # the agents whose work ends first are those of all trials
    return mine in figures && ("floor " kind) in figures ? factor(figures[mine] / figures["floor " kind]) : "-"
}
function beside(kind, who,    theirs) { # how many times as long it takes there
    theirs = who " " kind
    sub(/-fast$/, "", theirs)
    if (("elector " kind) in median && theirs in median) return factor(median[theirs] / median["elector " kind])
    return "-"
}
function fold(text,    line, words, n, i) { # at 100 columns
    n = split(text, words, " ")
    line = " "
    for (i = 1; i <= n; i++) {
        if (length(line) + 1 + length(words[i]) > 100) {
            print line
            line = "   "
        }
        line = line " " words[i]
    }
    print line
}
/^#/ { legend[++legends] = substr($0, 3); next }
/^-/ {
    why = $4
    for (i = 5; i <= NF; i++) why = why " " $i
    legend[++legends] = $2 ": " $3 ": - " why
    next
}
{
    key = $1 " " $2
    sample[key, ++count[key]] = $3 + 0
}
END {
    kinds = split("worker agent agent-work silence silence-fast transfer resign command", kind, " ")
    systems = split("elector floor etcd zookeeper keepalived libraft", who, " ")
    title["worker"] = "worker: kill -9"
    title["agent"] = "agent: kill -9"
    title["agent-work"] = "  and its work ends first"
    title["silence"] = "host silent, all stopped"
    title["silence-fast"] = "  with profile fast (1)"
    title["transfer"] = "graceful transfer"
    title["resign"] = "resign"
    title["command"] = "elector run: kill -9 (2)"
    for (key in count) {
        n = count[key]
        for (i = 1; i <= n; i++) list[i] = sample[key, i]
        sort(list, n)
        median[key] = percentile(list, n, 0.5)
        high[key] = percentile(list, n, 0.99)
    }
    if ("loopback round-trip" in median) unit = median["loopback round-trip"]
    print "TIME WITHOUT A LEADER, from what ended it until its successor knows."
    print machine "."
    print ""
    row = "%-25s %7s %8s %6s %8s %6s %6s | %7s %9s %10s %7s"
    put(sprintf(row, "", "ELECTOR", "", "", "x round", "x FLOOR", "(4)", "x FASTER THAN", "", "", ""))
    put(sprintf(row, "what ended the leader", "median", "p99", "trials", "trip", "median", "p99", "etcd", "zookeeper", "keepalived", "libraft"))
    put(sprintf(row, "", "", "", "", "", "", "", "", "", "", ""))
    for (k = 1; k <= kinds; k++) {
        key = "elector " kind[k]
        if (!(key in median)) {
            if (kind[k] == "agent-work" && floors(kind[k], median) != "-")
                put(sprintf(row, title[kind[k]], "", "", "", "", floors(kind[k], median), floors(kind[k], high), "", "", "", ""))
            continue
        }
        put(sprintf(row, title[kind[k]], span(median[key]), span(high[key]), count[key], trips(key), floors(kind[k], median), floors(kind[k], high), beside(kind[k], "etcd"),
            beside(kind[k], "zookeeper"), beside(kind[k], "keepalived"), beside(kind[k], "libraft")))
    }
    key = "loopback round-trip"
    if (key in median) put(sprintf(row, "a datagram there and back", span(median[key]), span(high[key]), count[key], trips(key), "", "", "", "", "", ""))
    key = "kernel death-notice"
    if (key in median) put(sprintf(row, "news of a death (3)", span(median[key]), span(high[key]), count[key], trips(key), "", "", "", "", "", ""))
    print "(1) lease 500 ms. (2) until the successor's command has begun. (3) from kill -9 to the end of a connection:"
    print "nobody can know sooner without a lock. Below 1x: that peer is faster, at the settings below. (4) the shortest chain of"
    print "processes with nothing but poll, send and write, in turns with these trials: death or request, who notices, one"
    print "datagram, the heir's agent, its client; median by median, and p99 by p99. The row of work that ends first has the"
    print "trials of the row above it."
    print ""
    print "ALL FIGURES"
    row = "%-26s %-11s %6s %10s %10s %14s %12s"
    put(sprintf(row, "what ended the leader", "system", "trials", "median", "p99", "x round trip", "x elector"))
    for (k = 1; k <= kinds; k++) {
        called = title[kind[k]]
        for (s = 1; s <= systems; s++) {
            key = who[s] " " kind[k]
            if (!(key in median)) continue
            put(sprintf(row, called, who[s], count[key], span(median[key]), span(high[key]), trips(key), s == 1 ? "" : beside(kind[k], who[s])))
            called = ""
        }
    }
    if (legends) print ""
    for (i = 1; i <= legends; i++) {
        split(legend[i], part, ": ")
        if (part[1] != last) print part[1]
        last = part[1]
        fold(substr(legend[i], length(part[1]) + 3))
    }
}
