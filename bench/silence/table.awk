# Results of bench/silence/run.sh, `SYSTEM SETTING silence|LOAD|overlap VALUE`, as a table; and the curve into the file `svg`. The
# first file is the legend.
function span(ns) {
    if (ns == "" || ns == "-") return "-"
    if (ns < 1e7) return sprintf("%.1f ms", ns / 1e6)
    if (ns < 1e10) return sprintf("%.0f ms", ns / 1e6)
    return sprintf("%.1f s", ns / 1e9)
}
function sort(row, n,    i, k, x) {
    for (i = 2; i <= n; i++)
        for (k = i; k > 1 && sample[row, k - 1] > sample[row, k]; k--) { x = sample[row, k]; sample[row, k] = sample[row, k - 1]; sample[row, k - 1] = x }
}
function rank(n, p,    at) {
    at = int(p * n)
    if (at < p * n) at++
    return at < 1 ? 1 : at
}
function x_of(ns) { return 90 + 620 * (log(ns / 1e7) / log(10)) / 3 } # 10 ms to 10 s
function y_of(count) { return 330 - 270 * log(1 + count) / log(1001) } # 0 to 1000
function draw(    i, row, whose, last, x, y, t) {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 400\" font-family=\"sans-serif\" font-size=\"12\">" > svg
    print "<rect width=\"800\" height=\"400\" fill=\"#fff\"/>" > svg
    for (t = 1e7; t <= 1e10; t *= 10) {
        printf "<path d=\"M%.1f 60V330\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"348\" text-anchor=\"middle\">%s</text>\n", x_of(t), x_of(t), span(t) > svg
    }
    for (t = 0; t <= 1000; t = t ? 10 * t : 1)
        printf "<path d=\"M90 %.1fH710\" stroke=\"#ddd\"/><text x=\"84\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", y_of(t), y_of(t) + 4, t > svg
    print "<text x=\"400\" y=\"372\" text-anchor=\"middle\">time until a successor after a host falls silent, median</text>" > svg
    printf "<text x=\"90\" y=\"40\">changes of leader without a failure, in %d s of each load (%s); a ring: two led at once</text>\n", seconds, loads > svg
    for (i = 1; i <= rows; i++) {
        row = order[i]
        split(row, part, " ")
        if (!count[row]) continue
        x = x_of(median[row])
        y = y_of(sum[row])
        if (part[1] == whose) printf "<path d=\"M%s L%.1f %.1f\" fill=\"none\" stroke=\"%s\"/>\n", last, x, y, colour[part[1]] > svg
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y, colour[part[1]], x + 8, y - 6, row > svg
        if (value[row, "overlap"] + 0 > 0) printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"none\" stroke=\"#c00\"/>\n", x, y > svg
        last = sprintf("%.1f %.1f", x, y)
        whose = part[1]
    }
    print "</svg>" > svg
}
FNR == 1 { file++ }
file == 1 { legend[++legends] = $0; next }
{
    row = $1 " " $2
    if (!(row in count)) { order[++rows] = row; count[row] = 0 }
    if ($3 == "silence") sample[row, ++count[row]] = $4
    else value[row, $3] = $4
}
END {
    n = split(loads, load, " ")
    line = "| system, setting | nobody leads: median, 99 %, longest |"
    rule = "|---|---|"
    for (i = 1; i <= n; i++) { line = line " " load[i] " |"; rule = rule "---|" }
    print line " two led at once |"
    print rule "---|"
    colour["elector"] = "#06c"; colour["keepalived"] = "#c60"; colour["libraft"] = "#555"; colour["etcd"] = "#393"; colour["zookeeper"] = "#909"
    for (i = 1; i <= rows; i++) {
        row = order[i]
        sort(row, count[row])
        median[row] = sample[row, rank(count[row], 0.5)]
        line = "| " row " | " (count[row] ? span(median[row]) ", " span(sample[row, rank(count[row], 0.99)]) ", " span(sample[row, count[row]]) : "-") " |"
        for (k = 1; k <= n; k++) {
            one = (row, load[k]) in value ? value[row, load[k]] : "-"
            sum[row] += one
            line = line " " one " |"
        }
        print line " " (value[row, "overlap"] == "-" ? "-" : value[row, "overlap"] + 0 == 0 ? "never" : span(value[row, "overlap"])) " |"
    }
    printf "\n%d trials a row; columns of loads: how often somebody began to lead in %d s, though nothing had failed\n", trials, seconds
    for (i = 1; i <= legends; i++) print legend[i]
    if (svg != "") draw()
}
