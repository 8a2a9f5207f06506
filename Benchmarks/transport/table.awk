# Converts result lines ("key=value ...", one per run) to the table of medians, spreads and ratios to raw.

# Each round's figure is compared with raw of the same round, so a slow minute affects both.
function ratio(row, name,    list, round, raw) {
    for (round = 1; round <= rounds; round++) {
        raw = figures[row, "raw", round, "cpu"]
        list[round] = raw > 0 ? figures[row, name, round, "cpu"] / raw : 0
    }
    return median_of(list, rounds)
}

function print_line(a, b, c, d, e, f, g, h, i) {
    if (is_markdown == "yes") {
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", a, b, c, d, e, f, g, h, i
    } else {
        printf "%-14s %-10s %8s %13s %6s %11s %10s %8s %11s\n", a, b, c, d, e, f, g, h, i
    }
}

function print_peer(row, name,    cpu, cpu_spread, ratio_text, ratio_spread, rate, rss, connections) {
    cpu = summary(row, name, "cpu")
    cpu_spread = spread("%.2f")
    ratio_text = "-"
    ratio_spread = "-"
    if ((row, "raw", 1, "cpu") in figures) {
        ratio_text = sprintf("%.2f", ratio(row, name))
        ratio_spread = spread("%.2f")
    }
    rate = summary(row, name, "rate")
    rss = summary(row, name, "rss")
    connections = summary(row, name, "connections")
    print_line(row, name, sprintf("%.2f", cpu), cpu_spread, ratio_text, ratio_spread, sprintf("%d", rate),
               sprintf("%.1f", rss), low == high ? sprintf("%d", low) : spread("%d"))
}

function print_verdict(    cpu, off) {
    if (!(("1k:64", "raw", 1, "cpu") in figures)) {
        print "Not checked against the reference machine: that takes peer raw in row 1k:64."
        return
    }
    cpu = summary("1k:64", "raw", "cpu")
    off = (cpu / reference - 1) * 100
    if (off > tolerance || off < -tolerance) {
        printf "VOID: this table says nothing about the aims on this machine. Raw took %.2f CPU s in row 1k:64;", cpu
        printf " the reference is %.2f, so it is off by %+.0f %% (more than %d %%).\n", reference, off, tolerance
    } else {
        printf "Valid: raw took %.2f CPU s in row 1k:64; the reference is %.2f (%+.0f %%).\n", cpu, reference, off
    }
}

{
    if (field["requests"] + 0 == 0 || field["wall_s"] + 0 == 0) {
        print "a run printed no result: " $0 > "/dev/stderr"
        is_broken = 1
        next
    }
    figures[row, name, round, "cpu"] = field["cpu_s"] * 100000 / field["requests"]
    figures[row, name, round, "rate"] = field["requests"] / field["wall_s"]
    figures[row, name, round, "rss"] = field["peak_rss_kb"] / 1024
    figures[row, name, round, "connections"] = field["accepted"] + 0
    failures[row, name] += field["failures"]
    if (field["connections"] != "-" && field["connections"] != field["accepted"]) {
        miscounts[row, name] = field["connections"]
    }
}

END {
    if (row_count == 0 || is_broken) exit 1
    print_line("row", "peer", "CPU s", "min-max", "/ raw", "min-max", "requests/s", "RSS MiB", "connections")
    if (is_markdown == "yes") print "|---|---|---|---|---|---|---|---|---|"
    for (r = 1; r <= row_count; r++) {
        name_count = split(names_of[row_order[r]], names, " ")
        for (n = 1; n <= name_count; n++) {
            if ((row_order[r], names[n], 1, "cpu") in figures) print_peer(row_order[r], names[n])
        }
    }
    print ""
    print "Medians and min-max of the rounds."
    print ""
    print "- Row: body:in flight."
    print "- h2: 1 KiB, streams of one HTTP/2 connection over TLS."
    print "- asleep: idle cores could sleep, and woke with cold caches."
    print "- codings: raw, c and swift accept the content codings that libcurl decodes, as an agent does by default."
    print "- Rows without codings: they accept none."
    print "- CPU s: the client's user and system seconds per 100,000 requests."
    print "- / raw: the median of the ratios to raw within each round."
    print "- RSS: the process's peak."
    print "- Connections: accepted by nginx in a whole run, including the warm-up."
    for (r = 1; r <= row_count; r++) {
        row = row_order[r]
        name_count = split(names_of[row], names, " ")
        for (n = 1; n <= name_count; n++) {
            name = names[n]
            if (failures[row, name] > 0) {
                printf "\nFAILED requests of %s in row %s: %d.\n", name, row, failures[row, name]
            }
            if ((row, name) in miscounts) {
                printf "\nNote: %s in row %s counted %s connections itself; nginx counted others.\n",
                    name, row, miscounts[row, name]
            }
        }
    }
    print ""
    print_verdict()
}
