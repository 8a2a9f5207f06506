# For all tables: medians over rounds of figures[row, name, round, figure], and their spreads.

function median_of(list, count,    sorted, i, j, value) {
    for (i = 1; i <= count; i++) {
        value = list[i]
        for (j = i - 1; j >= 1 && sorted[j] > value; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = value
    }
    low = sorted[1]
    high = sorted[count]
    if (count % 2 == 1) return sorted[(count + 1) / 2]
    return (sorted[count / 2] + sorted[count / 2 + 1]) / 2
}

# Returns the median of one figure over the rounds, and sets low and high to its spread.
function summary(row, name, figure,    list, count, round) {
    for (round = 1; round <= rounds; round++) {
        if ((row, name, round, figure) in figures) list[++count] = figures[row, name, round, figure]
    }
    return median_of(list, count)
}

function spread(format) {
    return sprintf(format "-" format, low, high)
}
