#!/bin/sh
# The cost of a cached image: through ImageDownloader, and from the cache itself.
#
# Called by script/bench in the repository's root. The two peers take turns, pinned to core 1. Each figure is the median of
# the rounds, in CPU time of one hit.
set -eu

name=images
. Benchmarks/setup.sh
all_rows="hit"
all_peers="cache downloader"

usage() {
    cat <<END
usage: script/bench images [--rounds N] [--hits N] [--only PEER,..] [--markdown FILE]

  --rounds N       rounds over both (5)
  --hits N         of each in a round (200000)
  --only PEER,..   of: $all_peers
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --hits 200000 "$@"
hits=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

begin_build
build_swift bench-images
begin_work
pinning=$(echo "$pinning" | sed 's/client pinned to core 1, server to core 0/pinned to core 1/')
load_before=$(load)

run_peer() { # ROW ROUND PEER
    aim=- base=cache
    [ "$3" = downloader ] && aim=cpu:20.0 || base=-
    # shellcheck disable=SC2086
    line=$(timeout --foreground 600 $pin_client "$swift_bin/bench-images" "$3" "$hits") || fail "$3 failed"
    echo "row=$1 round=$2 name=$3 base=$base aim=$aim rss_aim_mib=- $line" >>"$work/results"
}

# shellcheck disable=SC2086 # The rows are words.
take_turns $rows

{
    echo "Machine: $(machine), $(getconf _NPROCESSORS_ONLN) cores, $(uname -srm); $pinning."
    echo "Versions: $(swift_version)."
    echo "Load (1, 5, 15 minutes) before: $load_before; after: $(load)."
    echo "Release builds. $rounds rounds, peers in turn, $hits hits a run."
} >"$work/facts"
table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v unit="CPU us" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$bench/aims.awk" "$work/results"
    echo
    echo "Medians and min-max of the rounds."
    echo
    echo "- CPU us: user and system time of one hit."
    echo "- Ratio: to the cache itself in the same round."
    echo "- wall s: the time of all measured operations."
}
report "Images in the cache" "$markdown"
