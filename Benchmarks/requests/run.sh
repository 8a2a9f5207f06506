#!/bin/sh
# The cost of the request layer (a bare transport, an agent, four interceptors), and of 1,000 concurrent requests.
#
# The concurrent requests use 64 connections, in a task group or as a batch. Called by script/bench in the repository's
# root. The client is pinned to core 1, nginx to core 0. The peers take turns within one process, and its peak memory is
# reported for each. Each figure is the median of the rounds. CPU is user and system seconds per 100,000 requests.
set -eu

name=requests
all_peers="bare empty four ready group batch"
all_rows="1k:1 1k:64 1k:1000"
. Benchmarks/setup.sh

usage() {
    cat <<END
usage: script/bench requests [--rounds N] [--requests N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --requests N     measured requests of each run (100000)
  --only PEER,..   of: $all_peers
  --rows ROW,..    body:in-flight, of: $all_rows; group and batch run only in the last one
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --requests 100000 "$@"
requests=$amount
# shellcheck disable=SC2086 # The rows are words.
check_words row "$all_rows" $rows

begin_build
build_swift bench-requests

write_servers() {
    cat <<END
    server {
        listen 127.0.0.1:$port backlog=1024;
        location = /$status_path { stub_status; }
    }
END
}

find_nginx
begin_work
write_letters 1k 1
start_nginx
load_before=$(load)

aim_of() { # PEER
    case $1 in
    empty) echo ratio:1.03 ;;
    four) echo ratio:1.15 ;;
    batch) echo ratio:1.10 ;;
    *) echo - ;;
    esac
}

# The peers of a row take turns in one process: random differences between two processes, for example of memory layout,
# exceed the cost of the layer.
run_peer() { # ROW ROUND PEER; runs all peers of the row when called for the first of them
    in_flight=${1#*:}
    case $1 in
    1k:1000) of_row="group batch" in_flight=1 ;; # One task sends a thousand at a time.
    *) of_row="bare empty four ready" ;;
    esac
    together=
    for each in $of_row; do
        # shellcheck disable=SC2086
        ! is_among "$each" $peers || together=$together,$each
    done
    together=${together#,}
    [ "$3" = "${together%%,*}" ] || return 0
    # shellcheck disable=SC2086 # The pinning is words.
    lines=$(timeout --foreground 1200 $pin_client "$swift_bin/bench-requests" --mode "$together" \
        --url "http://127.0.0.1:$port/1k" --body-bytes 1024 --in-flight "$in_flight" --requests "$requests" \
        --warm-up "$((1000 + 4 * in_flight))") || fail "$together failed in row $1"
    for each in $(echo "$together" | tr ',' ' '); do
        echo "$lines" | awk -v row="$1" -v round="$2" -v name="$each" -v aim="$(aim_of "$each")" '
            $1 == "peer=" name {
                for (i = 1; i <= NF; i++) { split($i, pair, "="); field[pair[1]] = pair[2] }
                if (field["failures"] != 0 || field["requests"] == 0) exit 1
                base = name == "bare" || name == "group" ? "-" : name == "batch" ? "group" : "bare"
                printf "row=%s round=%s name=%s cpu=%.6f wall_s=%s rss_kb=%s base=%s aim=%s rss_aim_mib=-\n", row, round,
                    name, field["cpu_s"] * 100000 / field["requests"], field["wall_s"], field["peak_rss_kb"], base, aim
                was_there = 1
            }
            END { exit !was_there }
        ' >>"$work/results" || fail "$each had failures in row $1: $lines"
    done
}

# shellcheck disable=SC2086 # The rows are words.
take_turns $rows

write_facts "$rounds rounds, $requests requests a peer and round; the peers of a row in one process, in turn, a twentieth each."

table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v unit="CPU s" -v references="" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$bench/aims.awk" "$work/results"
}
report Requests "$markdown"
