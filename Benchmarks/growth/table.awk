# Converts result lines ("key=value ...", one per run) to the table of medians and spreads by row, x and peer.

function print_line(a, b, c, d, e, f) {
    if (is_markdown == "yes") {
        printf "| %s | %s | %s | %s | %s | %s |\n", a, b, c, d, e, f
    } else {
        printf "%-10s %-11s %8s %11s %21s %8s\n", a, b, c, d, e, f
    }
}

{
    for (i = 1; i <= NF; i++) {
        split($i, pair, "=")
        field[pair[1]] = pair[2]
    }
    round = field["round"] + 0
    if (round > rounds) rounds = round
    # median.awk has only rows and names, so the row here is a peer at an x.
    row = field["row"]
    name = field["name"] " " field["x"]
    if (!((row, name) in seen)) {
        seen[row, name]
        order[++count] = row SUBSEP name
    }
    figures[row, name, round, "cpu"] = field["cpu"] + 0
    figures[row, name, round, "rss"] = field["rss_kb"] / 1024
}

END {
    if (count == 0) exit 1
    print_line("row", "peer", "x", "CPU us", "min-max", "RSS MiB")
    if (is_markdown == "yes") print "|---|---|---|---|---|---|"
    for (n = 1; n <= count; n++) {
        split(order[n], part, SUBSEP)
        split(part[2], word, " ")
        rss = summary(part[1], part[2], "rss")
        cpu = summary(part[1], part[2], "cpu")
        print_line(part[1], word[1], word[2], sprintf("%.2f", cpu), spread("%.2f"), sprintf("%.1f", rss))
    }
}
