#!/bin/sh
# CPU time, request rate and memory of GETs over loopback: NetKit, libcurl, URLSession, and if present Go and httpx.
#
# Called by script/bench in the repository's root. The client is pinned to core 1, nginx to core 0. The peers take turns,
# and each figure is the median of the rounds.
set -eu

reference_cpu_s=1.73 # raw, 1 KiB, 64 in flight, where the aims were set
tolerance_percent=20
here=Benchmarks/transport
name=transport
all_peers="raw c swift-loop swift urlsession go httpx"
all_rows="1k:1 1k:1:asleep 1k:64 1k:64:codings 1k:256 64k:64 h2:64"
. Benchmarks/setup.sh

usage() {
    cat <<END
usage: script/bench transport [--rounds N] [--requests N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --requests N     measured requests of each run (100000); urlsession and httpx send a tenth
  --only PEER,..   of: $all_peers
                   (go and httpx: in rows 1k:1 and 1k:64, if Go is installed, and PyPI reachable for httpx)
  --rows ROW,..    body:in-flight, of: $all_rows
                   (h2: 1 KiB bodies as streams of one HTTP/2 connection over TLS; in rows with :asleep an idle
                   core may sleep and wake with cold caches; in the others the kernel keeps it awake;
                   in rows with :codings the requests accept the content codings that libcurl decodes, as an
                   agent's do by default; in the others raw, c and swift accept none)
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --requests 100000 "$@"
requests=$amount
for row in $rows; do
    plain=${row%:asleep}
    plain=${plain%:codings}
    case $plain in
    1k:[1-9]* | 64k:[1-9]* | h2:[1-9]*) case ${plain#*:} in *[!0-9]*) fail "no row '$row'" ;; esac ;;
    *) fail "no row '$row'; they look like: $all_rows" ;;
    esac
done
has_peer() {
    # shellcheck disable=SC2086
    is_among "$1" $peers
}

# --- build ---

begin_build
# shellcheck disable=SC2086
! has_peer raw || compile bench-raw "$here/raw.c" "$measure" $curl_flags
! has_peer c || compile_with_core bench-engine "$here/engine.c" "$measure"
if has_peer swift || has_peer swift-loop; then build_swift bench-netkit; fi
if has_peer urlsession; then build_swift bench-urlsession; fi

# Go's and Python's clients are left out with a message if they cannot be installed.
leave_out() { # PEER WHY
    echo "bench $name: $1 is missing: $2" >&2
    # shellcheck disable=SC2086
    peers=$(printf '%s\n' $peers | grep -vx "$1" | tr '\n' ' ')
    missing="$missing $1 is missing: $2."
}

missing=
httpx_python=$out/httpx/bin/python
if has_peer go; then
    if ! command -v go >/dev/null; then
        leave_out go "there is no Go toolchain"
    else
        GO111MODULE=off go build -o "$out/bench-go" "$here/others/nethttp.go" ||
            fail "bench-go does not compile"
    fi
fi
if has_peer httpx && ! "$httpx_python" -c 'import httpx' 2>/dev/null; then
    rm -rf "$out/httpx"
    { python3 -m venv "$out/httpx" && "$httpx_python" -m pip install --quiet --disable-pip-version-check --retries 1 \
        --timeout 30 -r "$here/others/requirements.txt"; } >"$out/httpx.log" 2>&1 || {
        rm -rf "$out/httpx"
        leave_out httpx "python3-venv, or the index that pip is set to ($out/httpx.log)"
    }
fi
[ -n "$peers" ] || fail "no peer is left"

# --- server ---

write_servers() {
    cat <<END
    server {
        listen 127.0.0.1:$port backlog=1024;
        location = /$status_path { stub_status; }
    }
    server {
        listen 127.0.0.1:$tls_port ssl http2 backlog=1024;
        http2_max_concurrent_streams 1024;
        ssl_certificate $work/leaf.pem;
        ssl_certificate_key $work/leaf.key;
        ssl_protocols TLSv1.3;
    }
END
}

find_nginx
begin_work
write_letters 1k 1
write_letters 64k 64
make_certificates
start_nginx
load_before=$(load)

# --- runs ---

program() { # PEER
    case $1 in
    raw) echo "$out/bench-raw" ;;
    c) echo "$out/bench-engine" ;;
    swift-loop) echo "$swift_bin/bench-netkit --mode loop" ;;
    swift) echo "$swift_bin/bench-netkit --mode global" ;;
    urlsession) echo "$swift_bin/bench-urlsession" ;;
    go) echo "$out/bench-go" ;;
    httpx) echo "$httpx_python $here/others/httpx_get.py" ;;
    esac
}

run_peer() { # ROW ROUND PEER
    in_flight=${1#*:}
    in_flight=${in_flight%%:*}
    body=${1%%:*}
    count=$requests
    case $3 in
    urlsession | httpx) [ "$requests" -lt 10 ] || count=$((requests / 10)) ;;
    esac
    asked="--url http://127.0.0.1:$port/$body --body-bytes"
    case $body in
    h2) asked="--url https://localhost:$tls_port/1k --ca $work/root.pem --body-bytes 1024" ;;
    *) asked="$asked $((${body%k} * 1024))" ;;
    esac
    case $1 in
    *:codings) asked="$asked --codings 1" ;;
    esac
    before=$(accepts) || fail "nginx is gone"
    # shellcheck disable=SC2046,SC2086
    line=$(timeout --foreground 600 $pin_client $(program "$3") $asked --in-flight "$in_flight" --requests "$count" \
        --warm-up "$((1000 + 4 * in_flight))") || fail "$3 failed in row $1"
    after=$(accepts) || fail "nginx is gone"
    # The second status request is one of the counted connections.
    echo "row=$1 round=$2 name=$3 accepted=$((after - before - 1)) $line" >>"$work/results"
}

for row in $rows; do
    case $row in
    *:asleep) let_sleep ;;
    *) keep_awake ;;
    esac
    round=1
    while [ "$round" -le "$rounds" ]; do
        echo "row $row, round $round of $rounds" >&2
        for peer in $peers; do
            # URLSession cannot be set to trust the test's root.
            case $row:$peer in
            h2:*:urlsession) continue ;;
            # These peers accept codings in every row, so a separate row would be the same.
            *:codings:urlsession | *:codings:go | *:codings:httpx) continue ;;
            1k:1:* | 1k:64:*) ;;
            *:go | *:httpx) continue ;;
            esac
            run_peer "$row" "$round" "$peer"
        done
        round=$((round + 1))
    done
done

# --- report ---

others=
! has_peer go || others=$(go version | cut -d ' ' -f 3)
! has_peer httpx || others="${others:+$others, }httpx $("$httpx_python" -c 'import httpx; print(httpx.__version__)')"
case "$rows" in
*:asleep*) sleeping="$sleeping, but in rows :asleep" ;;
esac
write_facts "$rounds rounds, peers in turn, $requests requests a run (urlsession and httpx a tenth of that).
Others: ${others:-none}.$missing"

table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v reference="$reference_cpu_s" -v tolerance="$tolerance_percent" \
        -f "$bench/median.awk" -f "$bench/rows.awk" -f "$here/table.awk" "$work/results"
}
report Transport "$markdown"
