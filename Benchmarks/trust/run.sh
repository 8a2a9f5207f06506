#!/bin/sh
# The cost of pins: CPU time of a full TLS 1.3 handshake under a policy with pins, and under one without.
#
# Called by script/bench in the repository's root. One process opens blocks of connections under each policy in turn. The
# server closes after each response and issues no tickets. A second server keeps its connections.
set -eu

name=trust
. Benchmarks/setup.sh
all_peers="engine"
all_rows="handshake"

usage() {
    cat <<END
usage: script/bench trust [--rounds N] [--connections N] [--markdown FILE]

  --rounds N       blocks under each policy (3000)
  --connections N  connections of each block (1: other load of the machine then affects all policies equally)
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --connections 1 --rounds 3000 "$@"
connections=$amount

begin_build
compile_with_core bench-handshakes "$bench/trust/handshakes.c"

write_servers() {
    cat <<END
    server {
        listen 127.0.0.1:$port backlog=1024;
        location = /$status_path { stub_status; }
    }
    server {
        listen 127.0.0.1:$tls_port ssl backlog=1024;
        location /close { keepalive_timeout 0; return 200 "closed"; }
        location /kept { return 200 "kept"; }
        ssl_certificate $work/leaf.pem;
        ssl_certificate_key $work/leaf.key;
        ssl_protocols TLSv1.3;
        ssl_session_cache off;
        ssl_session_tickets off;
    }
END
}

# The pin of a certificate's key, made by openssl(1).
pin_of() { # CERTIFICATE
    printf 'sha256/'
    openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
}

find_nginx
begin_work
make_certificates
{
    pin_of "$work/leaf.pem"
    pin_of "$work/root.pem"
} >"$work/pins"
load_before=$(load)
start_nginx
# shellcheck disable=SC2086
timeout --foreground 1200 $pin_client "$out/bench-handshakes" "https://localhost:$tls_port/close" "$work/root.pem" \
    "$rounds" "$connections" "$work/pins" "https://localhost:$tls_port/kept" >"$work/results" ||
    fail "the client failed"
stop_nginx

write_facts "$rounds blocks of $connections connections under each policy, in turn."
table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v rounds="$rounds" -f "$bench/median.awk" -f "$bench/trust/table.awk" "$work/results"
    echo
    echo "Medians over the blocks of the client's user and system time, in microseconds."
    echo
    echo "- Time: of one connection (TCP, TLS 1.3 with an ECDSA P-256 leaf, GET, close) or of one request on a kept connection."
    echo "- Cost: the median difference to the adjacent block without pins; in percent: of the median without pins."
}
report "The cost of pins" "$markdown"
