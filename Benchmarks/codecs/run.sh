#!/bin/sh
# Nanoseconds of each encoder and its peers: percent-encoding, queries, bodies, keys; from C and from Swift.
#
# Called by script/bench in the repository's root. Every .c here except rows.c is a program that prints the lines that
# rows.h describes; netkit/ does the same in Swift. New files are found automatically.
set -eu

name=codecs
here=Benchmarks/codecs
. Benchmarks/setup.sh
all_rows=$(cd "$here" && ls ./*.c | sed 's|^\./||; s|\.c$||' | grep -v '^rows$' | tr '\n' ' ')swift
all_peers=all

usage() {
    cat <<END
usage: script/bench codecs [--rounds N] [--milliseconds N] [--rows AREA,..] [--markdown FILE]

  --rounds N        rounds over all areas (5)
  --milliseconds N  CPU time for each row and peer in a round (50)
  --rows AREA,..    of: $all_rows
  --markdown FILE   writes the table there too, with the machine and the versions
END
}

read_options --milliseconds 50 "$@"
milliseconds=$amount
# shellcheck disable=SC2086
check_words area "$all_rows" $rows

# --- build ---

begin_build
for area in $rows; do
    case $area in
    swift) build_swift bench-codecs ;;
    *) compile_with_core "bench-codecs-$area" "$here/$area.c" "$here/rows.c" -I"$here" -ISources/CNetCore ;;
    esac
done

# --- runs ---

begin_work
pinning=$(echo "$pinning" | sed 's/client pinned to core 1, server to core 0/pinned to core 1/')
load_before=$(load)

run_area() { # AREA ROUND
    case $1 in
    swift) program=$swift_bin/bench-codecs ;;
    *) program=$out/bench-codecs-$1 ;;
    esac
    # shellcheck disable=SC2086
    (cd "$work/files" && exec timeout --foreground 600 $pin_client "$program" "$2" "$milliseconds") >"$work/lines" ||
        fail "$1 failed"
    cat "$work/lines" >>"$work/results"
}

out=$(cd "$out" && pwd)
round=1
while [ "$round" -le "$rounds" ]; do
    echo "round $round of $rounds" >&2
    for area in $rows; do
        run_area "$area" "$round"
    done
    round=$((round + 1))
done

# --- report ---

{
    echo "Machine: $(machine), $(getconf _NPROCESSORS_ONLN) cores, $(uname -srm); $pinning."
    echo "Versions: $("$out/probe" versions), $(swift_version)."
    echo "Load (1, 5, 15 minutes) before: $load_before; after: $(load)."
    echo "Release builds. $rounds rounds, peers in turn, $milliseconds ms for each."
} >"$work/facts"

table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$here/table.awk" "$work/results"
    echo
    echo "Medians and min-max of the rounds."
    echo
    echo "- The value of a round is the least of five samples, in CPU time of the thread."
    echo "- A ratio is the median of the ratios within each round."
}
report "Encoders" "$markdown"
