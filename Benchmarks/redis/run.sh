#!/bin/sh
# GET of 1 KiB from redis-server, beside hiredis; and a shared HTTP cache, beside Python's hishel and requests-cache.
#
# GET: one after the other and 100 in flight. The cache: the latency of hits, and the requests at the origin when
# processes request an expired key together.
# Called by script/bench in the repository's root. Times are those of a whole process.
set -eu

name=redis
here=Benchmarks/redis
. Benchmarks/setup.sh
all_rows="alone pipelined hit expired"
all_peers="hiredis netcore netkit hishel requests-cache"
processes=8 # of the row "expired"
keys=4

usage() {
    cat <<END
usage: script/bench redis [--rounds N] [--gets N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --gets N         pipelined commands of a run (500000); a tenth of them in the row "alone",
                   a hundredth in "hit"
  --only PEER,..   of: $all_peers
                   (the first two in the rows alone and pipelined, the others in hit and expired)
  --rows ROW,..    of: $all_rows
                   (hit: one process; expired: $processes processes request one expired key at the same moment)
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --gets 500000 "$@"
gets=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

begin_build
# shellcheck disable=SC2086
if is_among alone $rows || is_among pipelined $rows; then
    # shellcheck disable=SC2046
    compile_with_core bench-redis "$here/client.c" Sources/CNetRedis/*.c -ISources/CNetRedis/include \
        $(pkg-config --cflags --libs hiredis) -Iinclude
fi
python=$out/shared/bin/python
list=$here/others/requirements.txt
# shellcheck disable=SC2086
if { is_among hit $rows || is_among expired $rows; } && { is_among hishel $peers || is_among requests-cache $peers; } &&
    ! cmp -s "$list" "$out/shared/requirements.txt"; then
    rm -rf "$out/shared"
    { python3 -m venv "$out/shared" && "$python" -m pip install --quiet --disable-pip-version-check --retries 1 \
        --timeout 30 -r "$list" && cp "$list" "$out/shared"; } >"$out/shared.log" 2>&1 ||
        fail "hishel and requests-cache could not be installed ($out/shared.log); leave them out with --only"
fi
# shellcheck disable=SC2086
if { is_among hit $rows || is_among expired $rows; } && is_among netkit $peers; then
    build_swift bench-shared
fi
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

# shellcheck disable=SC2086
$pin_server python3 "$here/origin.py" "$processes" >"$work/port" 2>"$work/origin.log" 9>&- &
server="$server $!"
until [ -s "$work/port" ]; do
    kill -0 "$!" 2>/dev/null || fail "the origin does not start: $(tail -n 1 "$work/origin.log")"
    sleep 0.1
done
origin_port=$(cat "$work/port")

cache_client() { # PEER TASK NUMBER..
    peer=$1 task=$2
    shift 2
    case $peer in
    netkit) set -- "$swift_bin/bench-shared" "$task" "$origin_port" "$port" "$@" ;;
    *) set -- "$python" "$here/others/clients.py" "$peer" "$task" "$origin_port" "$port" "$@" ;;
    esac
    # hishel reports each entry that another process has stored first.
    # shellcheck disable=SC2086
    timeout --foreground 300 $pin_client "$@" 2>>"$work/clients.log"
}

request_expired_keys() { # ROUND PEER
    clients=
    for process in $(seq 0 $((processes - 1))); do
        cache_client "$2" expired "$keys" "$2-$1" "$process" &
        clients="$clients $!"
    done
    for client in $clients; do
        wait "$client" || fail "$2 failed in row expired: $(tail -n 1 "$work/clients.log")"
    done
    for key in $(seq 0 $((keys - 1))); do
        count=$(python3 -c 'import sys, urllib.request; print(int(urllib.request.urlopen(sys.argv[1]).read()))' \
            "http://127.0.0.1:$origin_port/requests/$2-$1-$key") || fail "the origin does not respond"
        # Without the one that stored the response.
        echo "expired $2 $((count - 1))" >>"$work/shared"
    done
}

run_peer() { # ROW ROUND PEER
    case $1:$3 in
    hit:hiredis | hit:netcore | expired:hiredis | expired:netcore) return ;;
    hit:*)
        line=$(cache_client "$3" hit "$((gets / 100))") ||
            fail "$3 failed in row $1: $(tail -n 1 "$work/clients.log")"
        echo "hit $3 $line" >>"$work/shared"
        return
        ;;
    expired:*)
        request_expired_keys "$2" "$3"
        return
        ;;
    *:hiredis | *:netcore) ;;
    *) return ;;
    esac
    count=$gets
    [ "$1" = pipelined ] || count=$((gets / 10))
    # shellcheck disable=SC2086
    line=$($pin_client "$out/bench-redis" "$3" "$1" "$port" "$count") || fail "$3 failed in row $1"
    echo "$1 $3 $line" >>"$work/results"
}
touch "$work/results" "$work/shared"
# shellcheck disable=SC2086
take_turns $rows

write_facts "$rounds rounds, peers in turn, $gets commands (a tenth of them alone, a hundredth as hits)."
{
    echo "Redis $(redis-server --version | sed 's/.*v=\([^ ]*\).*/\1/'), $(python3 --version)," \
        "$(grep -v '^#' "$list" | tr '\n' ' ' | sed 's/==/ /g; s/ *$//; s/\( [^ ]*\) /\1, /g')."
    echo "hit: 1 KiB, one process. expired: $processes processes, $keys keys a round, origin delays its response by 0.2 s."
} >>"$work/facts"
medians='
    function median(values, count,    sorted, i, j, kept) {
        for (i = 1; i <= count; i++) sorted[i] = values[i] + 0
        for (i = 2; i <= count; i++)
            for (j = i; j > 1 && sorted[j - 1] > sorted[j]; j--) {
                kept = sorted[j]; sorted[j] = sorted[j - 1]; sorted[j - 1] = kept
            }
        low = sorted[1]; high = sorted[count]
        return sorted[int((count + 1) / 2)]
    }
    $1 != row || $2 != peer { print_row(); row = $1; peer = $2; count = 0 }
    END { print_row() }'
table() { # yes: Markdown; no: for a terminal
    [ ! -s "$work/results" ] || sort -k1,1 -k2,2 -s "$work/results" | awk -v is_markdown="$1" "$medians"'
        function print_row() {
            if (count == 0) return
            printf is_markdown == "yes" ? "| %s | %s | %.2f | %.2f | %.0f |\n" : "%-10s %-8s %8.2f us %8.2f CPU us %9.0f/s\n",
                row, peer, median(wall, count), median(cpu, count), 1e6 / median(wall, count)
        }
        BEGIN { if (is_markdown == "yes") print "| row | peer | us | CPU us | per second |\n|---|---|---|---|---|" }
        { split($3, w, "="); split($4, c, "="); wall[++count] = w[2]; cpu[count] = c[2] }'
    [ -s "$work/shared" ] || return 0
    echo
    sort -k1,1r -k2,2 -s "$work/shared" | awk -v is_markdown="$1" "$medians"'
        function print_row() {
            if (count == 0) return
            if (row == "hit") {
                what = sprintf("p50 %.0f us", median(first, count)) sprintf(" (%.0f-%.0f)", low, high)
                what = what sprintf(", p99 %.0f us", median(second, count)) sprintf(" (%.0f-%.0f)", low, high)
            } else {
                what = sprintf("%d requests for a key", median(first, count))
                what = what sprintf(" (%d-%d)", low, high)
            }
            printf is_markdown == "yes" ? "| %s | %s | %s |\n" : "%-10s %-15s %s\n", row, peer, what
        }
        BEGIN { if (is_markdown == "yes") print "| row | peer | median (lowest-highest) of the rounds |\n|---|---|---|" }
        { sub(/.*=/, "", $3); sub(/.*=/, "", $4); first[++count] = $3; second[count] = $4 }'
}
report "A client of Redis" "$markdown"
