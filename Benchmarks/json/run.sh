#!/bin/sh
# JSON checks alone, with a shape or a schema and in pieces, beside cJSON, simdjson, jsonschema-rs and Foundation, on
# generated documents.
#
# Called by script/bench in the repository's root. CPU time of one document, the median of batches. Every peer reuses its
# parser and buffers if it can.
set -eu

name=json
here=Benchmarks/json
. Benchmarks/setup.sh
all_rows="tweets catalogue coordinates small"
all_peers="simdjson check shape schema schema-rs pieces avx2 ssse3 plain cjson tree serialization decoder"

usage() {
    cat <<END
usage: script/bench json [--rounds N] [--seed N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --seed N         of the documents (1)
  --only PEER,..   of: $all_peers
                   (check, shape, pieces of 16 KiB: NetKit; avx2, ssse3, plain: check with that instruction set;
                   schema: NetKit with a JSON Schema; schema-rs: json.loads of Python and jsonschema-rs;
                   simdjson: its DOM; cjson: parse and delete; tree: nc_cjson_read and delete; serialization, decoder: Foundation's)
  --rows ROW,..    of: $all_rows
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --seed 1 "$@"
seed=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

# --- build ---

begin_build
compile bench-json-documents "$here/documents.c"
compile_with_core bench-json-core "$here/core.c" -ISources/CNetCore
is_among cjson $peers && compile bench-json-cjson "$here/cjson.c" -lcjson
is_among tree $peers && compile_with_core bench-json-tree "$here/tree.c" Sources/CNetCJSON/*.c -ISources/CNetCJSON/include \
    -lcjson -lm
if is_among simdjson $peers; then
    c++ -std=c++17 -O2 -o "$out/bench-json-simdjson" "$here/simdjson.cpp" -lsimdjson ||
        fail "libsimdjson-dev is not installed; leave simdjson out with --only"
fi
python=$out/schema/bin/python
if is_among schema-rs $peers && ! "$python" -c 'import jsonschema_rs' 2>/dev/null; then
    rm -rf "$out/schema"
    { python3 -m venv "$out/schema" && "$python" -m pip install --quiet --disable-pip-version-check --retries 1 \
        --timeout 30 jsonschema-rs==0.60.3; } >"$out/schema.log" 2>&1 ||
        fail "jsonschema-rs could not be installed ($out/schema.log); leave schema-rs out with --only"
fi
if is_among serialization $peers || is_among decoder $peers; then
    build_swift bench-json
fi
begin_work
"$out/bench-json-documents" "$work/files" "$seed"
load_before=$(load)

# --- runs ---

run_peer() { # ROW ROUND PEER
    file=$work/files/$1
    case $3 in
    check) set -- "$@" "$out/bench-json-core" check "$file.json" ;;
    shape) set -- "$@" "$out/bench-json-core" shape "$file.json" "$file.shape" ;;
    schema) set -- "$@" "$out/bench-json-core" schema "$file.json" "$file.schema" ;;
    schema-rs) set -- "$@" "$python" "$here/schema.py" "$file.json" "$file.schema" ;;
    pieces) set -- "$@" "$out/bench-json-core" pieces "$file.json" ;;
    avx2 | ssse3 | plain) set -- "$@" "$out/bench-json-core" check "$file.json" "$file.shape" "$3" ;;
    simdjson | cjson | tree) set -- "$@" "$out/bench-json-$3" "$file.json" ;;
    serialization | decoder) set -- "$@" "$swift_bin/bench-json" "$3" "$file.json" "$1" ;;
    esac
    row=$1 round=$2 peer=$3
    shift 3
    # shellcheck disable=SC2086
    line=$(timeout --foreground 600 $pin_client "$@") || fail "$peer failed in row $row"
    echo "row=$row round=$round name=$peer $line" >>"$work/results"
}

# shellcheck disable=SC2086 # The rows are words.
take_turns $rows

# --- report ---

{
    echo "Machine: $(machine), $(getconf _NPROCESSORS_ONLN) cores, $(uname -srm); $pinning."
    echo "Versions: $("$out/bench-json-core" --which)," \
        "$([ ! -x "$out/bench-json-simdjson" ] || "$out/bench-json-simdjson" --which)," \
        "$(! is_among schema-rs $peers || "$python" "$here/schema.py" --which)," \
        "cJSON $(pkg-config --modversion libcjson 2>/dev/null || echo unknown), $(swift_version)."
    echo "Load (1, 5, 15 minutes) before: $load_before; after: $(load)."
    echo "Release builds. $rounds rounds, peers in turn, seed $seed."
} >"$work/facts"

table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$here/table.awk" "$work/results"
    echo
    echo "Medians and min-max of the rounds, in nanoseconds per document; MB/s. The aims apply to the medians of the ratios within"
    echo "each round:"
    echo
    echo "- check: at most 1/5 of cjson's time and 1.25 x simdjson's (0.8 x its speed)"
    echo "- shape: at most 1.30 x, pieces: at most 1.15 x check's time"
    echo "- schema: at most 1/3 of schema-rs' time (the aim is 1/5)"
    echo "- tree: at most 1.00 x cjson's time, 1.10 x for a small document"
    echo "- a small document: checked within 250 ns"
}
report "Checking JSON" "$markdown"
