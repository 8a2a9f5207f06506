#!/bin/sh
# GET of 1 KiB from redis-server, one after the other and 100 in flight, beside hiredis's own blocking connection.
#
# Called by script/bench in the repository's root. Times are those of a whole process.
set -eu

name=redis
here=Benchmarks/redis
. Benchmarks/setup.sh
all_rows="alone pipelined"
all_peers="hiredis netcore"

usage() {
    cat <<END
usage: script/bench redis [--rounds N] [--gets N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --gets N         pipelined commands of a run (500000); a tenth of them in the row "alone"
  --only PEER,..   of: $all_peers
  --rows ROW,..    of: $all_rows
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --gets 500000 "$@"
gets=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

begin_build
# shellcheck disable=SC2046
compile_with_core bench-redis "$here/client.c" Sources/CNetRedis/*.c -ISources/CNetRedis/include \
    $(pkg-config --cflags --libs hiredis) -Iinclude
find_nginx # for the versions

load_before=$(load)
begin_work
port=$("$out/probe" free-port) || fail "no free port"
# shellcheck disable=SC2086
$pin_server redis-server --bind 127.0.0.1 --port "$port" --save '' --dir "$work" >"$work/server.log" 2>&1 9>&- &
server=$!
until redis-cli -p "$port" set value "$(head -c 1024 /dev/zero | tr '\0' x)" >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || fail "redis-server does not start: $(tail -n 1 "$work/server.log")"
    sleep 0.1
done

run_peer() { # ROW ROUND PEER
    count=$gets
    [ "$1" = pipelined ] || count=$((gets / 10))
    # shellcheck disable=SC2086
    line=$($pin_client "$out/bench-redis" "$3" "$1" "$port" "$count") || fail "$3 failed in row $1"
    echo "$1 $3 $line" >>"$work/results"
}
# shellcheck disable=SC2086
take_turns $rows

write_facts "$rounds rounds, peers in turn, $gets commands (a tenth of them alone)."
table() { # yes: Markdown; no: for a terminal
    sort -k1,1 -k2,2 -s "$work/results" | awk -v is_markdown="$1" '
        function median(values, count,    sorted, i, j, kept) {
            for (i = 1; i <= count; i++) sorted[i] = values[i] + 0
            for (i = 2; i <= count; i++)
                for (j = i; j > 1 && sorted[j - 1] > sorted[j]; j--) {
                    kept = sorted[j]; sorted[j] = sorted[j - 1]; sorted[j - 1] = kept
                }
            return sorted[int((count + 1) / 2)]
        }
        function print_row() {
            if (count == 0) return
            printf is_markdown == "yes" ? "| %s | %s | %.2f | %.2f | %.0f |\n" : "%-10s %-8s %8.2f us %8.2f CPU us %9.0f/s\n",
                row, peer, median(wall, count), median(cpu, count), 1e6 / median(wall, count)
        }
        BEGIN { if (is_markdown == "yes") print "| row | peer | us | CPU us | per second |\n|---|---|---|---|---|" }
        $1 != row || $2 != peer { print_row(); row = $1; peer = $2; count = 0 }
        { split($3, w, "="); split($4, c, "="); wall[++count] = w[2]; cpu[count] = c[2] }
        END { print_row() }'
}
report "A client of Redis" "$markdown"
