# For all tables: reads one run per line (words NAME=VALUE); rows, peers and rounds keep their order of appearance.

{
    delete field
    for (i = 1; i <= NF; i++) {
        at = index($i, "=")
        field[substr($i, 1, at - 1)] = substr($i, at + 1)
    }
    row = field["row"]
    name = field["name"]
    round = field["round"] + 0
    if (round > rounds) rounds = round
    if (!(row in seen_rows)) { seen_rows[row]; row_order[++row_count] = row }
    if (!((row, name) in seen_names)) { seen_names[row, name]; names_of[row] = names_of[row] " " name }
}
