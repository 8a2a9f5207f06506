# The comparisons of a C source, one on each line as LINE COLUMN OPERATOR OPPOSITE; or, with line and column set, the
# source with that one turned into its opposite. Called by script/torture mutate.

function opposite(operator) {
    return operator == "==" ? "!=" : operator == "!=" ? "==" : operator == "<" ? ">=" : operator == ">" ? "<=" : \
        operator == "<=" ? ">" : "<"
}

# Goes through one line of code; what stands in literals and comments is none.
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
