# Converts the lines of rows.h to a table of medians, their spreads, and each aim with the reached value.

function print_line(a, b, c, d, e, f) {
    if (is_markdown == "yes") {
        printf "| %s | %s | %s | %s | %s | %s |\n", a, b, c, d, e, f
    } else {
        printf "%-24s %-20s %12s %18s %-38s %s\n", a, b, c, d, e, f
    }
}

# Returns the ratio of two times: the median over the rounds, because a slow minute affects both.
function ratio(row, name, base,    list, count, round) {
    for (round = 1; round <= rounds; round++) {
        if (((row, name, round, "ns") in figures) && figures[row, base, round, "ns"] > 0) {
            list[++count] = figures[row, name, round, "ns"] / figures[row, base, round, "ns"]
        }
    }
    return count > 0 ? median_of(list, count) : 0
}

# Returns the text of an aim with the reached value. Sets is_met if the aim is met.
function judge(row, name, aim,    part, share, value) {
    split(aim, part, ":")
    if (part[1] == "ns") {
        value = summary(row, name, "ns")
        is_met = value <= part[2]
        return sprintf("<= %s ns", part[2])
    }
    if (part[1] == "mib") {
        value = summary(row, name, "rss") / 1024
        is_met = value <= part[2]
        return sprintf("%.1f MiB, <= %s", value, part[2])
    }
    share = ratio(row, name, part[3])
    if (share == 0) {
        is_met = 0
        return "no " part[3]
    }
    if (part[1] == "faster") {
        is_met = 1 / share >= part[2]
        return sprintf("%.1f x %s, >= %s", 1 / share, part[3], part[2])
    }
    is_met = share <= part[2]
    return sprintf("%.2f of %s, <= %s", share, part[3], part[2])
}

function print_peer(row, name,    ns, ns_spread, list, count, i, said, verdict) {
    ns = summary(row, name, "ns")
    ns_spread = spread("%.1f")
    count = split(aims_of[row, name], list, ",")
    for (i = 1; i <= count; i++) {
        said = said (i > 1 ? "; " : "") judge(row, name, list[i])
        verdict = verdict (i > 1 ? ", " : "") (is_met ? "yes" : "NO")
    }
    print_line(row, name, sprintf("%.1f", ns), ns_spread, count > 0 ? said : "-", count > 0 ? verdict : "-")
}

{
    if (row == "" || field["ns"] == "") {
        print "this is no result: " $0 > "/dev/stderr"
        is_broken = 1
        next
    }
    figures[row, name, round, "ns"] = field["ns"] + 0
    figures[row, name, round, "rss"] = field["rss_kib"] + 0
    aims_of[row, name] = field["aims"]
}

END {
    if (row_count == 0 || is_broken) exit 1
    print_line("row", "peer", "ns", "min-max", "reached, aim", "met")
    if (is_markdown == "yes") print "|---|---|---|---|---|---|"
    for (r = 1; r <= row_count; r++) {
        count = split(names_of[row_order[r]], names, " ")
        for (n = 1; n <= count; n++) print_peer(row_order[r], names[n])
    }
}
