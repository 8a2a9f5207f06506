# Converts result lines ("row=… round=… name=… ns=… bytes=…") to a table of medians, speeds, ratios and aims.

function ratio(row, name, base,    list, count, round) {
    for (round = 1; round <= rounds; round++) {
        if ((row, name, round, "ns") in figures && figures[row, base, round, "ns"] > 0) {
            list[++count] = figures[row, name, round, "ns"] / figures[row, base, round, "ns"]
        }
    }
    return count > 0 ? median_of(list, count) : 0
}

function print_line(a, b, c, d, e, f, g, h) {
    if (is_markdown == "yes") printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", a, b, c, d, e, f, g, h
    else printf "%-12s %-14s %12s %22s %9s %9s %9s %s\n", a, b, c, d, e, f, g, h
}

function verdict(text, share, limit) {
    if (share == 0) return ""
    return sprintf("%s %.2f (<= %.2f: %s)  ", text, share, limit, share <= limit ? "yes" : "NO")
}

function aims(row, name, ns,    text) {
    if (name == "check") {
        text = verdict("of cjson", ratio(row, name, "cjson"), 0.2) verdict("of simdjson", ratio(row, name, "simdjson"), 1.25)
        if (row == "small") text = text sprintf("<= 250 ns: %s", ns <= 250 ? "yes" : "NO")
    } else if (name == "shape") {
        text = verdict("of check", ratio(row, name, "check"), 1.30)
    } else if (name == "schema") {
        text = verdict("of schema-rs", ratio(row, name, "schema-rs"), 0.33)
    } else if (name == "pieces") {
        text = verdict("of check", ratio(row, name, "check"), 1.15)
    } else if (name == "tree") {
        text = verdict("of cjson", ratio(row, name, "cjson"), row == "small" ? 1.10 : 1.00)
    }
    return text
}

{
    figures[row, name, round, "ns"] = field["ns"] + 0
    bytes_of[row] = field["bytes"]
}

END {
    if (row_count == 0) exit 1
    print_line("document", "peer", "ns", "min-max", "MB/s", "x simdjson", "x cjson", "aims")
    if (is_markdown == "yes") print "|---|---|---|---|---|---|---|---|"
    for (r = 1; r <= row_count; r++) {
        row = row_order[r]
        count = split(names_of[row], names, " ")
        for (n = 1; n <= count; n++) {
            ns = summary(row, names[n], "ns")
            range = spread("%.0f")
            by_simdjson = ratio(row, "simdjson", names[n])
            by_cjson = ratio(row, "cjson", names[n])
            print_line(row, names[n], sprintf("%.0f", ns), range, sprintf("%.0f", bytes_of[row] / ns * 1000),
                by_simdjson > 0 ? sprintf("%.2f", by_simdjson) : "-", by_cjson > 0 ? sprintf("%.1f", by_cjson) : "-",
                aims(row, names[n], ns))
        }
    }
}
