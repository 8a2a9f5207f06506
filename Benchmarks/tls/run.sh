#!/bin/sh
# CPU time of one verified TLS 1.3 connection, resumed and full: NetKit beside plain libcurl.
#
# Called by script/bench in the repository's root. The clients are those of the transport benchmark. The server closes the
# connection after each response, so each request opens one. nginx reports the number of resumed handshakes.
set -eu

name=tls
clients=Benchmarks/transport
. Benchmarks/setup.sh
all_peers="raw-one raw raw-defaults c-one c swift-loop swift"
all_rows="resumed full"
resumed_aim_ms=0.6
full_aim_ms=0.9

usage() {
    cat <<END
usage: script/bench tls [--rounds N] [--connections N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --connections N  measured connections of each run (2000); raw-defaults opens a twentieth
  --only PEER,..   of: $all_peers
                   (*-one: trusts one root; raw-defaults: libcurl with its CAPATH; the others: the system's and one)
  --rows ROW,..    of: $all_rows
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --connections 2000 "$@"
connections=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

# --- build ---

begin_build
# shellcheck disable=SC2086
case " $peers " in
*" raw"*) compile bench-raw "$clients/raw.c" "$measure" $curl_flags ;;
esac
case " $peers " in
*" c "* | *" c-one "*) compile_with_core bench-engine "$clients/engine.c" "$measure" ;;
esac
case " $peers " in
*" swift"*) build_swift bench-netkit ;;
esac

# --- server ---

# Without tickets and a session cache each handshake is a full one.
write_servers() {
    tickets=on
    [ "$row" != full ] || tickets=off
    cat <<END
    log_format sessions '\$ssl_protocol \$ssl_session_reused';
    server {
        listen 127.0.0.1:$port backlog=1024;
        location = /$status_path { stub_status; }
    }
    server {
        listen 127.0.0.1:$tls_port ssl backlog=1024;
        access_log $work/sessions sessions;
        keepalive_timeout 0;
        ssl_certificate $work/leaf.pem;
        ssl_certificate_key $work/leaf.key;
        ssl_protocols TLSv1.3;
        ssl_session_cache off;
        ssl_session_tickets $tickets;
    }
END
}

system_bundle() {
    for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem \
        /etc/ssl/cert.pem; do
        if [ -f "$file" ]; then
            echo "$file"
            return
        fi
    done
    fail "the system has no bundle of authorities"
}

find_nginx
begin_work
write_letters 1k 1
make_certificates
cat "$(system_bundle)" "$work/root.pem" >"$work/all.pem"
authorities=$(grep -c 'BEGIN CERTIFICATE' "$work/all.pem")
load_before=$(load)

# --- runs ---

program() { # PEER
    case $1 in
    raw-one) echo "$out/bench-raw --ca $work/root.pem" ;;
    raw) echo "$out/bench-raw --ca $work/all.pem" ;;
    raw-defaults) echo "$out/bench-raw --mode defaults --ca $work/all.pem" ;;
    c-one) echo "$out/bench-engine --ca $work/root.pem" ;;
    c) echo "$out/bench-engine --ca $work/all.pem" ;;
    swift-loop) echo "$swift_bin/bench-netkit --mode loop --ca $work/all.pem" ;;
    swift) echo "$swift_bin/bench-netkit --mode global --ca $work/all.pem" ;;
    esac
}

# Every handshake of the run except the first must be of the kind that the row measures.
check_handshakes() { # ROW PEER COUNT
    sleep 0.1
    sed -n '/^TLSv1.3 /p' "$work/sessions" >"$work/seen"
    all=$(wc -l <"$work/seen")
    reused=$(grep -c ' r$' "$work/seen" || :)
    wanted=0
    [ "$1" != resumed ] || wanted=$(($3 - 1))
    [ "$all" -eq "$3" ] || fail "$2 made $all TLS 1.3 connections in row $1 instead of $3"
    [ "$reused" -eq "$wanted" ] || fail "$2 resumed $reused of $3 connections in row $1 instead of $wanted"
}

run_peer() { # ROW ROUND PEER
    count=$connections warm_up=50 base=raw aim=-
    case $3 in
    raw-defaults) count=$(((connections + 19) / 20)) warm_up=2 ;;
    *one) base=raw-one ;;
    esac
    case $3:$1 in
    raw*) ;;
    *:resumed) aim=cpu:$resumed_aim_ms ;;
    *) aim=cpu:$full_aim_ms ;;
    esac
    : >"$work/sessions"
    # shellcheck disable=SC2046,SC2086
    line=$(timeout --foreground 600 $pin_client $(program "$3") --url "https://localhost:$tls_port/1k" \
        --body-bytes 1024 --in-flight 1 --requests "$count" --warm-up "$warm_up") || fail "$3 failed in row $1"
    check_handshakes "$1" "$3" $((count + warm_up))
    case $line in
    *" failures=0") ;;
    *) fail "requests of $3 failed in row $1: $line" ;;
    esac
    echo "$line" | awk -v head="row=$1 round=$2 name=$3 base=$base aim=$aim" '{
        for (i = 1; i <= NF; i++) { split($i, pair, "="); field[pair[1]] = pair[2] }
        printf "%s cpu=%.6f wall_s=%s rss_kb=%s\n", head, field["cpu_s"] * 1000 / field["requests"], field["wall_s"],
            field["peak_rss_kb"]
    }' >>"$work/results"
}

for row in $rows; do
    start_nginx
    take_turns "$row"
    stop_nginx
done

# --- report ---

write_facts "$rounds rounds, peers in turn, $connections connections a run (raw-defaults a twentieth)."
table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v unit="CPU ms" -v references="resumed:raw:0.54 full:raw:0.81" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$bench/aims.awk" "$work/results"
    echo
    echo "Medians and min-max of the rounds."
    echo
    echo "- CPU ms: the client's user and system time for one connection: TCP, TLS 1.3, GET of 1 KiB, close. The client is warm."
    echo "- Certificates: an ECDSA P-256 leaf and root, made for the run."
    echo "- Ratio: to raw in the same round (of *-one: to raw-one)."
    echo "- *-one: one authority. The others: one file with the system's authorities and the run's root, $authorities in all."
    echo "- raw: CURLOPT_CAPATH NULL. raw-defaults: CAPATH as Debian builds libcurl."
    echo "- nginx counted the resumed handshakes: all except the first in row resumed, none in row full."
}
report "TLS connections" "$markdown"
