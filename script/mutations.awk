# Lists the comparisons of a C source, one per line, as LINE COLUMN OPERATOR OPPOSITE. If `line` and `column` are set,
# prints the source with that comparison replaced by its opposite. Called by script/torture mutate.

function opposite(operator) {
    return operator == "==" ? "!=" : operator == "!=" ? "==" : operator == "<" ? ">=" : operator == ">" ? "<=" : \
        operator == "<=" ? ">" : "<"
}

# Finds the comparisons of one line. Literals and comments are skipped.
function scan(text,    at, two, one, quote, operator) {
    for (at = 1; at <= length(text); at++) {
        one = substr(text, at, 1)
        two = substr(text, at, 2)
        if (quote != "") {
            if (one == "\\") at++
            else if (one == quote) quote = ""
            continue
        }
        if (two == "//") return
        if (one == "\"" || one == "'") { quote = one; continue }
        if (two == "->" || two == "<<" || two == ">>") { at++; continue }
        operator = two ~ /^(==|!=|<=|>=)$/ ? two : one ~ /^[<>]$/ ? one : ""
        if (operator == "") continue
        note(at, operator)
        at += length(operator) - 1
    }
}

function note(at, operator) {
    if (!line) print FNR, at, operator, opposite(operator)
    else if (FNR == line && at == column)
        changed = substr($0, 1, at - 1) opposite(operator) substr($0, at + length(operator))
}

{
    changed = $0
    if ($0 !~ /^[ \t]*(#|\/\/)/) scan($0)
    if (line) print changed
}
