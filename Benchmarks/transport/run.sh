#!/bin/sh
# CPU time, requests per second and memory of GETs over loopback: NetKit, plain libcurl, URLSession.
#
# Called by script/bench in the repository's root. The client is pinned to core 1, nginx to core 0; the peers take
# turns, and each figure is the median of the rounds.
set -eu

reference_cpu_s=1.73 # raw, 1 KiB, 64 in flight, where the aims were set
tolerance_percent=20
here=Benchmarks/transport
name=transport
all_peers="raw c swift-loop swift urlsession"
all_rows="1k:1 1k:64 1k:256 64k:64 h2:64"
. Benchmarks/setup.sh

usage() {
    cat <<END
usage: script/bench transport [--rounds N] [--requests N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --requests N     measured requests of each run (100000); urlsession sends a tenth
  --only PEER,..   of: $all_peers
  --rows ROW,..    body:in-flight, of: $all_rows
                   (h2: 1 KiB bodies as streams of one HTTP/2 connection over TLS)
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --requests 100000 "$@"
requests=$amount
for row in $rows; do
    case $row in
    1k:[1-9]* | 64k:[1-9]* | h2:[1-9]*) case ${row#*:} in *[!0-9]*) fail "no row '$row'" ;; esac ;;
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
    esac
}

run_peer() { # ROW ROUND PEER
    in_flight=${1#*:}
    body=${1%:*}
    count=$requests
    if [ "$3" = urlsession ] && [ "$requests" -ge 10 ]; then
        count=$((requests / 10))
    fi
    asked="--url http://127.0.0.1:$port/$body --body-bytes"
    case $body in
    h2) asked="--url https://localhost:$tls_port/1k --ca $work/root.pem --body-bytes 1024" ;;
    *) asked="$asked $((${body%k} * 1024))" ;;
    esac
    before=$(accepts) || fail "nginx is gone"
    # shellcheck disable=SC2046,SC2086
    line=$(timeout --foreground 600 $pin_client $(program "$3") $asked --in-flight "$in_flight" --requests "$count" \
        --warm-up "$((1000 + 4 * in_flight))") || fail "$3 failed in row $1"
    after=$(accepts) || fail "nginx is gone"
    # The second look is one of the connections it counts.
    echo "row=$1 round=$2 name=$3 accepted=$((after - before - 1)) $line" >>"$work/results"
}

for row in $rows; do
    round=1
    while [ "$round" -le "$rounds" ]; do
        echo "row $row, round $round of $rounds" >&2
        for peer in $peers; do
            # URLSession cannot be given the certificate of a test's own root.
            case $row:$peer in
            h2:*:urlsession) continue ;;
            esac
            run_peer "$row" "$round" "$peer"
        done
        round=$((round + 1))
    done
done

# --- report ---

write_facts "$rounds rounds, peers in turn, $requests requests a run (urlsession a tenth of that)."

table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v reference="$reference_cpu_s" -v tolerance="$tolerance_percent" \
        -f "$bench/median.awk" -f "$here/table.awk" "$work/results"
}
report Transport "$markdown"
