# Converts result lines ("key=value ...", one per run) to a table of medians, ratios and aims.
#
# Keys: row, round, name; cpu (in the caller's unit), wall_s, rss_kb; base (the peer of the same row and round that cpu is
# divided by, or -); aim: "ratio:1.10", "cpu:0.9" or -; rss_aim_mib or -. For absolute aims the caller's `references`
# ("row:peer:cpu ...") have the figures of a peer on the machine where the aims were set.

# Each round's figure is compared with the base of the same round, so a slow minute affects both.
function ratio(row, name,    list, count, round, base) {
    base = base_of[row, name]
    for (round = 1; round <= rounds; round++) {
        if ((row, name, round, "cpu") in figures && figures[row, base, round, "cpu"] > 0) {
            list[++count] = figures[row, name, round, "cpu"] / figures[row, base, round, "cpu"]
        }
    }
    return count > 0 ? median_of(list, count) : 0
}

function print_line(a, b, c, d, e, f, g, h, i, j) {
    if (is_markdown == "yes") {
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", a, b, c, d, e, f, g, h, i, j
    } else {
        printf "%-13s %-13s %9s %13s %6s %11s %8s %8s %11s %4s\n", a, b, c, d, e, f, g, h, i, j
    }
}

function print_peer(row, name,    cpu, cpu_spread, share, share_spread, wall, rss, part, aim, verdict) {
    cpu = summary(row, name, "cpu")
    cpu_spread = spread("%.3f")
    share = ratio(row, name)
    share_spread = share > 0 ? spread("%.2f") : "-"
    wall = summary(row, name, "wall")
    rss = summary(row, name, "rss")
    split(aim_of[row, name], part, ":")
    aim = part[1] == "ratio" ? "<= " part[2] " x" : part[1] == "cpu" ? "<= " part[2] : "-"
    verdict = "-"
    if (part[1] == "ratio") verdict = share <= part[2] + 0 ? "yes" : "NO"
    if (part[1] == "cpu") verdict = cpu <= part[2] + 0 ? "yes" : "NO"
    if (rss_aim_of[row, name] != "-" && high >= rss_aim_of[row, name] + 0) {
        verdict = "NO"
        aim = aim ", RSS"
    }
    print_line(row, name, sprintf("%.3f", cpu), cpu_spread, share > 0 ? sprintf("%.2f", share) : "-", share_spread,
        sprintf("%.2f", wall), sprintf("%.1f", rss), aim, verdict)
}

function print_reference(text,    part, cpu, off) {
    split(text, part, ":")
    if (!((part[1], part[2]) in base_of)) return
    cpu = summary(part[1], part[2], "cpu")
    off = (cpu / part[3] - 1) * 100
    printf "%s: %s took %.2f in row %s where the aims were set; here %.2f (%+.0f %%).\n",
        (off > 20 || off < -20) ? "VOID" : "Valid", part[2], part[3], part[1], cpu, off
}

{
    if (field["cpu"] == "" || field["wall_s"] == "") {
        print "a run printed no result: " $0 > "/dev/stderr"
        is_broken = 1
        next
    }
    figures[row, name, round, "cpu"] = field["cpu"] + 0
    figures[row, name, round, "wall"] = field["wall_s"] + 0
    figures[row, name, round, "rss"] = field["rss_kb"] / 1024
    base_of[row, name] = field["base"]
    aim_of[row, name] = field["aim"]
    rss_aim_of[row, name] = field["rss_aim_mib"] == "" ? "-" : field["rss_aim_mib"]
}

END {
    if (row_count == 0 || is_broken) exit 1
    print_line("row", "peer", unit, "min-max", "ratio", "min-max", "wall s", "RSS MiB", "aim", "met")
    if (is_markdown == "yes") print "|---|---|---|---|---|---|---|---|---|---|"
    for (r = 1; r <= row_count; r++) {
        count = split(names_of[row_order[r]], names, " ")
        for (n = 1; n <= count; n++) print_peer(row_order[r], names[n])
    }
    count = split(references, texts, " ")
    if (count > 0) print ""
    for (i = 1; i <= count; i++) {
        print_reference(texts[i])
        if (is_markdown == "yes") print ""
    }
}
