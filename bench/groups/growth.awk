# Rows of bench/groups/run.sh, `GROUPS ACQUIRE_MS CPU_PERCENT PACKETS BYTES OVER_MS`, as a picture: how time, memory and packets grow
# with the number of groups. Both axes are logarithmic: what grows in proportion
# is a straight line that rises by one square in each, and what does not grow is level.
function x_of(groups) { return 90 + 100 * log(groups) / log(10) }
function y_of(value) { return 380 - 50 * (log(value) / log(10) + 1) } # 0.1 to 1,000,000
function line(name, text, colour,    i, path) {
    for (i = 1; i <= rows; i++) {
        if (value[name, i] + 0 <= 0) continue
        path = path sprintf("%s%.1f %.1f", path == "" ? "M" : " L", x_of(groups[i]), y_of(value[name, i]))
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x_of(groups[i]), y_of(value[name, i]), colour
    }
    if (path == "") return
    printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\"/>\n", path, colour
    printf "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n", x_of(groups[rows]) + 10, y_of(value[name, rows]) + 4, colour, text
}
$1 ~ /^[0-9]+$/ {
    groups[++rows] = $1
    value["acquire", rows] = $2
    value["packets", rows] = $4
    value["memory", rows] = $5 * $1 / 1e6
    value["over", rows] = $6
}
END {
    if (rows == 0) exit
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 430\" font-family=\"sans-serif\" font-size=\"12\">"
    print "<rect width=\"900\" height=\"430\" fill=\"#fff\"/>"
    for (t = 1; t <= 1000000; t *= 10)
        printf "<path d=\"M%.1f 30V380\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"398\" text-anchor=\"middle\">%d</text>\n", x_of(t), x_of(t), t
    for (t = 0.1; t <= 1000000; t *= 10)
        printf "<path d=\"M90 %.1fH690\" stroke=\"#ddd\"/><text x=\"84\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", y_of(t), y_of(t) + 4, t
    print "<text x=\"390\" y=\"420\" text-anchor=\"middle\">groups</text>"
    line("acquire", "ms until all are led", "#06c")
    line("over", "ms until led again", "#c60")
    line("memory", "MB at each member", "#393")
    line("packets", "packets a second", "#909")
    print "</svg>"
}
