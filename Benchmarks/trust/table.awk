# Medians of microseconds by policy, and the cost of each compared with the unpinned block of the same round.

{
    value[$1, $2] = $3
    if (!($1 in seen)) {
        seen[$1] = 1
        order[++count] = $1
    }
}

function median_of_policy(name,    list, i) {
    for (i = 0; i < rounds; i++) list[i + 1] = value[name, i]
    return median_of(list, rounds)
}

function cost_of(name, base,    list, i) {
    for (i = 0; i < rounds; i++) list[i + 1] = value[name, i] - value[base, i]
    return median_of(list, rounds)
}

END {
    if (is_markdown == "yes") print "| policy | CPU µs | cost µs | cost | aim |\n|---|---|---|---|---|"
    else printf "%-16s %10s %10s %8s %6s\n", "policy", "CPU µs", "cost µs", "cost", "aim"
    for (i = 1; i <= count; i++) {
        name = order[i]
        base = name ~ /^kept/ ? "kept-unpinned" : "unpinned"
        median = median_of_policy(name)
        if (name == base) {
            line = sprintf("%.1f", median)
            printf is_markdown == "yes" ? "| %s | %s | | | |\n" : "%-16s %10s\n", name, line
            continue
        }
        cost = cost_of(name, base)
        share = 100 * cost / median_of_policy(base)
        aim = name ~ /^kept/ ? "none" : "< 1 %"
        printf is_markdown == "yes" ? "| %s | %.1f | %+.1f | %+.2f %% | %s |\n" : "%-16s %10.1f %+10.1f %+7.2f%% %6s\n",
            name, median, cost, share, aim
    }
}
