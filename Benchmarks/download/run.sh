#!/bin/sh
# CPU time of a resumable download to disk, beside plain libcurl; and segments with a rate limit per connection.
#
# Called by script/bench in the repository's root.
set -eu

name=download
here=Benchmarks/download
. Benchmarks/setup.sh
all_rows="large limited"
all_peers="raw unsynced download"

usage() {
    cat <<END
usage: script/bench download [--rounds N] [--mib N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --mib N          size of the large file (1024)
  --only PEER,..   of: $all_peers
                   (raw: libcurl with a 512 KiB buffer and write(2). unsynced: a download without fsync, like raw)
  --rows ROW,..    of: $all_rows
                   (limited: 24 MiB from a server that sends 4 MiB/s to each connection; one segment, and four)
  --markdown FILE  writes the table there too, with the machine and the versions

NETKIT_BENCH_DIR is the directory to write in (default: that of temporary files).
END
}

read_options --mib 1024 "$@"
mib=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

begin_build
# shellcheck disable=SC2086
compile_with_core bench-fetch "$here/fetch.c" "$measure"

write_servers() {
    cat <<END
    server {
        listen 127.0.0.1:$port backlog=1024;
        location = /$status_path { stub_status; }
        location = /limited { limit_rate 4m; }
    }
END
}

TMPDIR=${NETKIT_BENCH_DIR:-${TMPDIR:-/tmp}}
find_nginx
begin_work
write_letters large $((mib * 1024))
write_letters limited $((24 * 1024))
start_nginx
load_before=$(load)

# --- runs ---

one_run() { # ROW ROUND NAME PEER FILE SEGMENTS BASE AIM
    line=$(timeout --foreground 600 $pin_client "$out/bench-fetch" "$4" "http://127.0.0.1:$port/$5" "$work/fetched" \
        "$6") || fail "$3 failed in row $1"
    cmp -s "$work/fetched" "$work/files/$5" || fail "$3 fetched something else in row $1"
    rm -f "$work/fetched"
    rss_aim=-
    [ "$3" = raw ] || rss_aim=32
    echo "row=$1 round=$2 name=$3 base=$7 aim=$8 rss_aim_mib=$rss_aim $line" >>"$work/results"
}

run_peer() { # ROW ROUND PEER
    base=raw aim=-
    # shellcheck disable=SC2086
    is_among raw $peers || base=-
    case $1:$3 in
    limited:download)
        one_run "$1" "$2" one download limited 1 - -
        one_run "$1" "$2" four download limited 4 - -
        ;;
    limited:*) ;;
    large:raw) one_run "$1" "$2" "$3" "$3" large 1 "$base" - ;;
    large:*)
        [ "$base" = - ] || aim=ratio:1.10
        one_run "$1" "$2" "$3" "$3" large 1 "$base" "$aim"
        ;;
    esac
}

# shellcheck disable=SC2086 # The rows are words.
take_turns $rows

# --- report ---

write_facts "$rounds rounds, peers in turn; $mib MiB."
table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v unit="CPU s" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$bench/aims.awk" "$work/results"
    echo
    awk '/name=one / { match($0, /wall_s=[0-9.]+/); one[++n] = substr($0, RSTART + 7, RLENGTH - 7) }
        /name=four / { match($0, /wall_s=[0-9.]+/); four[++m] = substr($0, RSTART + 7, RLENGTH - 7) }
        END {
            for (i = 1; i <= m; i++) ratio[i] = one[i] / four[i]
            low = ratio[1]
            for (i = 2; i <= m; i++) if (ratio[i] < low) low = ratio[i]
            if (m > 0) printf "Speed of four segments, with one as 1: %.2f in the slowest round (aim: 2.5).\n", low
        }' "$work/results"
    echo
    echo "Medians and min-max of the rounds."
    echo
    echo "- CPU s: user and system time of the whole download."
    echo "- Ratio: to raw in the same round."
}
report "Downloads" "$markdown"
