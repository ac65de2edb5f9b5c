# Samples (SYSTEM WHAT NS, in any order) as a table: median, 99th percentile, how many round trips that is, and how many
# times as long each peer takes. A percentile of n samples is the one at rank ceil(p n), so of few it is the largest.
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
function factor(x) { return x < 10 ? sprintf("%.1f", x) : sprintf("%.0f", x) }
{
    key = $1 " " $2
    if (!(key in count)) order[++keys] = key
    sample[key, ++count[key]] = $3 + 0
}
END {
    for (k = 1; k <= keys; k++) {
        key = order[k]
        n = count[key]
        for (i = 1; i <= n; i++) list[i] = sample[key, i]
        for (gap = int(n / 2); gap > 0; gap = int(gap / 2)) # shell sort
            for (i = gap + 1; i <= n; i++) {
                x = list[i]
                for (j = i; j > gap && list[j - gap] > x; j -= gap) list[j] = list[j - gap]
                list[j] = x
            }
        median[key] = percentile(list, n, 0.5)
        high[key] = percentile(list, n, 0.99)
    }
    unit = median["loopback round-trip"]
    printf "%-12s %-34s %6s %10s %10s %9s %9s\n", "", "", "trials", "median", "p99", "round", "times"
    printf "%-12s %-34s %6s %10s %10s %9s %9s\n", "", "", "", "", "", "trips", "elector"
    for (k = 1; k <= keys; k++) {
        split(order[k], part, " ")
        key = order[k]
        what = part[2]
        sub(/:.*/, "", what) # worker:ttl-1 is compared with worker
        ours = "elector " what
        trips = unit ? factor(median[key] / unit) : "-"
        times = part[1] != "elector" && ours in median ? factor(median[key] / median[ours]) : ""
        gsub(/[:]/, ", ", part[2])
        gsub(/_/, " ", part[2])
        printf "%-12s %-34s %6d %10s %10s %9s %9s\n", part[1], part[2], count[key], span(median[key]), span(high[key]), trips, times
    }
}
