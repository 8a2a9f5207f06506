#!/bin/sh
# CPU time of puts and gets of the disk store, beside plain files and SQLite; of hits in memory; and with 100,000 entries.
#
# Called by script/bench in the repository's root. Each peer has its own directory. The files are in the page cache, like
# those of a cache in use.
set -eu

name=cache
here=Benchmarks/cache
. Benchmarks/setup.sh
all_rows="hit-1k disk-hit-1k disk-hit-1m get-1k get-4k get-1m put-4k put-64k put-1m put-4k-synced get-many put-many"
all_peers="plain store sealed agent stub sqlite"

usage() {
    cat <<END
usage: script/bench cache [--rounds N] [--operations N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --operations N   gets of a row; puts and large bodies are fewer (100000)
  --only PEER,..   of: $all_peers
                   (plain: open+read+close; write aside and rename. sqlite: one table, WAL, prepared statements;
                   agent: the Caching interceptor over a MemoryCacheStore;
                   stub: agent.send() without a cache)
  --rows ROW,..    of: $all_rows
                   (disk-hit-*: the lookup, decision and response of the HTTP cache in C for an entry on the disk,
                   without a network and the client's thread, beside nc_store_get() of the same entry;
                   hit-1k: agent.send() with a hit in memory, and the same without a cache over a stub;
                   *-many: 1 KiB entries drawn at random, of 100, of 100 among 100,000, and of 100,000)
  --markdown FILE  writes the table there too, with the machine and the versions

NETKIT_BENCH_DIR is the directory to write in (default: that of temporary files).
END
}

read_options --operations 100000 "$@"
operations=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

# --- build ---

begin_build
sqlite_flags=
if sqlite_flags=$(pkg-config --cflags --libs sqlite3 2>/dev/null); then
    sqlite_flags="-DWITH_SQLITE $sqlite_flags"
else
    echo "bench cache: pkg-config finds no sqlite3; without that peer" >&2
    peers=$(echo "$peers" | sed 's/sqlite//')
fi
# shellcheck disable=SC2086
compile_with_core bench-entries "$here/entries.c" $sqlite_flags
compile_with_core bench-hits "$here/hits.c" -ISources/CNetCore
# shellcheck disable=SC2086
{ is_among agent $peers || is_among stub $peers; } && build_swift bench-cache
TMPDIR=${NETKIT_BENCH_DIR:-${TMPDIR:-/tmp}}
begin_work
load_before=$(load)

# --- runs ---

one_run() { # ROW ROUND NAME PEER TASK BYTES ENTRIES COUNT BASE AIM
    mkdir "$work/place"
    line=$(timeout --foreground 900 $pin_client "$out/bench-entries" "$4" "$5" "$6" "$7" "$8" "$work/place/entries") ||
        fail "$3 failed in row $1"
    rm -rf "$work/place"
    echo "row=$1 round=$2 name=$3 base=$9 aim=${10} rss_aim_mib=- $line" >>"$work/results"
}

run_many() { # ROW ROUND PEER
    task=${1%-many}
    count=$((operations / 5 + 1))
    aim=-
    [ "$3" != store ] || aim=ratio:1.20
    one_run "$1" "$2" "$3-100" "$3" "$task" 1024 100 "$count" - -
    one_run "$1" "$2" "$3-100:100000" "$3" "$task" 1024 100000:100 "$count" "$3-100" "$aim"
    one_run "$1" "$2" "$3-100000" "$3" "$task" 1024 100000 "$count" "$3-100" "$aim"
}

run_hits() { # ROW ROUND
    bytes=1024 count=$operations
    [ "$1" = disk-hit-1k ] || bytes=1048576 count=$((operations / 100 + 1))
    base=- aim=-
    for task in get hit; do
        line=$(timeout --foreground 900 $pin_client "$out/bench-hits" "$task" "$bytes" "$count" "$work/place") ||
            fail "$task failed in row $1"
        rm -rf "$work/place"
        echo "row=$1 round=$2 name=$task base=$base aim=$aim rss_aim_mib=- $line" >>"$work/results"
        base=get aim=ratio:1.3
    done
}

run_peer() { # ROW ROUND PEER
    base=plain aim=-
    case $1:$3 in
    disk-hit-*:store)
        run_hits "$1" "$2"
        return
        ;;
    disk-hit-*) return ;;
    hit-1k:agent | hit-1k:stub)
        line=$(timeout --foreground 900 $pin_client "$swift_bin/bench-cache" "$operations" "$3") ||
            fail "$3 failed in row $1"
        aim=-
        [ "$3" = stub ] || aim=cpu:3.0
        echo "row=$1 round=$2 name=$3 base=- aim=$aim rss_aim_mib=- $line" >>"$work/results"
        return
        ;;
    hit-1k:* | *:agent | *:stub) return ;;
    esac
    # shellcheck disable=SC2086
    is_among plain $peers || base=-
    case $1 in
    get-many | put-many)
        [ "$3" = sealed ] || run_many "$@"
        return
        ;;
    esac
    task=${1%%-*} count=$operations bytes=1024
    case $1 in
    *-4k*) bytes=4096 ;;
    *-64k) bytes=65536 count=$((operations / 20 + 1)) ;;
    *-1m) bytes=1048576 count=$((operations / 100 + 1)) ;;
    esac
    case $1 in
    put-4k) count=$((operations / 5 + 1)) ;;
    *-synced) task=put-synced count=$((operations / 1000 + 1)) ;;
    esac
    case $1:$3 in
    get-1k:store | put-64k:store) [ "$base" = - ] || aim=ratio:1.5 ;;
    esac
    one_run "$1" "$2" "$3" "$3" "$task" "$bytes" 100 "$count" "$base" "$aim"
}

# shellcheck disable=SC2086 # The rows are words.
take_turns $rows

# --- report ---

{
    echo "Machine: $(machine), $(getconf _NPROCESSORS_ONLN) cores, $(uname -srm); $pinning; files on" \
        "$(df --output=fstype "$work" | tail -n 1)."
    echo "Load (1, 5, 15 minutes) before: $load_before; after: $(load)."
    echo "Release builds. $rounds rounds, peers in turn."
} >"$work/facts"
table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v unit="CPU us" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$bench/aims.awk" "$work/results"
    echo
    echo "Medians and min-max of the rounds."
    echo
    echo "- CPU us: user and system time of one put or get."
    echo "- Ratio: to plain files in the same round; in *-many: to the same peer with 100 entries."
    echo "- wall s: the time of all measured operations."
    echo "- *-many, 100:100000: draws from 100 of 100,000 entries, which shows the effect of the store's size."
    echo "- *-many, 100000: draws from all entries, each of which the system must find again in its own tables."
}
report "The store on disk" "$markdown"
