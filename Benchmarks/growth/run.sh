#!/bin/sh
# How cost grows with requests in flight, a body's length, a cache's entries and a batch's members.
#
# Called by script/bench in the repository's root. The clients are those of the transport, requests and cache
# benchmarks. The largest bodies are kept whole in memory.
set -eu

name=growth
. Benchmarks/setup.sh
all_rows="in-flight body entries batch"
all_peers="raw c swift urlsession store plain sqlite group batch"

usage() {
    cat <<END
usage: script/bench growth [--rounds N] [--requests N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --requests N     measured requests, gets or members of a run at the small end (20000); fewer at the large one
  --only PEER,..   of: $all_peers
  --rows ROW,..    of: $all_rows
                   (in-flight: 1 KiB, 1 to 10,000 concurrently; body: 1 KiB to 1 GiB, one after the other; entries: 100 to
                   1,000,000 of 1 KiB in a cache, read at random; batch: 1 to 10,000 members)
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --requests 20000 "$@"
requests=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

# --- build ---

begin_build
transport=Benchmarks/transport
# shellcheck disable=SC2086
compile bench-raw "$transport/raw.c" "$measure" $curl_flags
compile_with_core bench-engine "$transport/engine.c" "$measure"
sqlite_flags=
if sqlite_flags=$(pkg-config --cflags --libs sqlite3 2>/dev/null); then
    sqlite_flags="-DWITH_SQLITE $sqlite_flags"
else
    peers=$(echo "$peers" | sed 's/sqlite//')
fi
# shellcheck disable=SC2086
compile_with_core bench-entries Benchmarks/cache/entries.c $sqlite_flags
build_swift bench-netkit
build_swift bench-urlsession
build_swift bench-requests

write_servers() {
    cat <<END
    server {
        listen 127.0.0.1:$port backlog=16384;
        location = /$status_path { stub_status; }
    }
END
}

# Ten thousand connections need ten thousand descriptors each in the client and in the server.
ulimit -S -n 30000 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
find_nginx
begin_work
sizes="1 16 256 4096 65536 1048576"
for size in $sizes; do
    truncate -s "${size}K" "$work/files/body-$size"
done
start_nginx
"$out/probe" accepts "$port" "/$status_path" >/dev/null
load_before=$(load)

# --- runs ---

# Records one run: converts seconds to microseconds per operation.
keep() { # ROW X ROUND PEER LINE
    echo "$5" | awk -v row="$1" -v x="$2" -v round="$3" -v name="$4" '{
        for (i = 1; i <= NF; i++) { split($i, pair, "="); field[pair[1]] = pair[2] }
        if ("failures" in field && field["failures"] != 0) exit 1
        cpu = "cpu" in field ? field["cpu"] : field["cpu_s"] * 1e6 / field["requests"]
        rss = "rss_kb" in field ? field["rss_kb"] : field["peak_rss_kb"]
        printf "row=%s x=%s round=%s name=%s cpu=%.4f rss_kb=%s\n", row, x, round, name, cpu, rss
    }' >>"$work/results" || fail "$4 had failures in row $1 at $2: $5"
}

fetch() { # ROW X ROUND PEER IN-FLIGHT KIB COUNT
    case $4 in
    raw) program=$out/bench-raw ;;
    c) program=$out/bench-engine ;;
    swift) program="$swift_bin/bench-netkit --mode global" ;;
    urlsession) program=$swift_bin/bench-urlsession ;;
    esac
    # shellcheck disable=SC2086
    line=$(timeout --foreground 600 $pin_client $program --url "http://127.0.0.1:$port/body-$6" \
        --body-bytes "$(($6 * 1024))" --in-flight "$5" --requests "$7" --warm-up "$5") || fail "$4 failed in row $1 at $2"
    keep "$1" "$2" "$3" "$4" "$line"
}

run_in_flight() { # ROUND PEER
    for at_once in 1 10 100 1000 10000; do
        count=$requests
        if [ "$2" = urlsession ]; then
            # URLSession opens one connection per task and polls them all: above a thousand it does not finish in useful time.
            [ "$at_once" -le 1000 ] || continue
            count=$((requests / 10))
        fi
        [ "$count" -ge $((at_once * 2)) ] || count=$((at_once * 2))
        fetch in-flight "$at_once" "$1" "$2" "$at_once" 1 "$count"
    done
}

run_body() { # ROUND PEER
    for size in $sizes; do
        # About the same number of bytes in each run, and at least two bodies.
        count=$((requests * 8 / size + 2))
        [ "$count" -le "$requests" ] || count=$requests
        [ "$2" != urlsession ] || count=$((count / 10 + 1))
        fetch body "$size" "$1" "$2" 1 "$size" "$count"
    done
}

run_entries() { # ROUND PEER
    for entries in 100 1000 10000 100000 1000000; do
        # Storing a million entries takes long, so this size is measured in one round only.
        [ "$entries" -lt 1000000 ] || [ "$1" = 1 ] || continue
        mkdir "$work/place"
        # shellcheck disable=SC2086
        line=$(timeout --foreground 900 $pin_client "$out/bench-entries" "$2" get 1024 "$entries" "$requests" \
            "$work/place/entries") || fail "$2 failed at $entries entries"
        rm -rf "$work/place"
        keep entries "$entries" "$1" "$2" "$line"
    done
}

run_batch() { # ROUND PEER
    for size in 1 10 100 1000 10000; do
        # shellcheck disable=SC2086
        line=$(timeout --foreground 600 $pin_client "$swift_bin/bench-requests" --mode "$2:$size" \
            --url "http://127.0.0.1:$port/body-1" --body-bytes 1024 --in-flight 1 --requests "$requests" \
            --warm-up 200) || fail "$2 failed at $size members"
        keep batch "$size" "$1" "$2" "$line"
    done
}

run_peer() { # ROW ROUND PEER
    case $1/$3 in
    in-flight/raw | in-flight/c | in-flight/swift | in-flight/urlsession) run_in_flight "$2" "$3" ;;
    body/raw | body/c | body/swift | body/urlsession) run_body "$2" "$3" ;;
    entries/store | entries/plain | entries/sqlite) run_entries "$2" "$3" ;;
    batch/group | batch/batch) run_batch "$2" "$3" ;;
    esac
}

# shellcheck disable=SC2086 # The rows are words.
take_turns $rows

# --- report ---

write_facts "$rounds rounds, peers in turn, $requests operations a run at the small end."

table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -f "$bench/median.awk" -f "$bench/growth/table.awk" "$work/results"
    echo
    echo "Medians and min-max of the rounds."
    echo
    echo "- x: requests in flight, KiB of a body, entries of a cache, or members of a batch."
    echo "- CPU us: user and system time of one request, get or member."
}
report "How cost grows" "$markdown"
