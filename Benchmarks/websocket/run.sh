#!/bin/sh
# CPU time of WebSocket echoes beside a loop over libcurl and PyPI's websockets; memory of long messages and sockets.
#
# Called by script/bench in the repository's root. A cost is that of a whole process, including its start.
set -eu

name=websocket
here=Benchmarks/websocket
. Benchmarks/setup.sh
all_rows="echo echo-64 python stream idle"
all_peers="raw websockets c"
mebibytes=1024
sockets=10000

usage() {
    cat <<END
usage: script/bench websocket [--rounds N] [--echoes N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --echoes N       messages of 64 bytes that the server sends back (100000)
  --only PEER,..   of: $all_peers
                   (raw: CURLOPT_CONNECT_ONLY with frames of its own; websockets: PyPI's, left out if it cannot be had)
  --rows ROW,..    of: $all_rows
                   (echo: one message in flight; echo-64: 64 on one connection; python: echo beside websockets;
                   stream: one message of $mebibytes MiB, sent and received in pieces; idle: $sockets open sockets)
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --echoes 100000 "$@"
echoes=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows

# --- build ---

begin_build
compile bench-costs "$bench/bodies/costs.c"
# shellcheck disable=SC2086
compile bench-echo-server "$here/echo_server.c" $ssl_flags
# shellcheck disable=SC2086
compile bench-websocket-raw "$here/raw.c" $curl_flags
compile_with_core bench-websocket "$here/engine.c"
python=$out/websockets/bin/python
missing=
# shellcheck disable=SC2086
if is_among websockets $peers && ! "$python" -c 'import websockets' 2>/dev/null; then
    rm -rf "$out/websockets"
    { python3 -m venv "$out/websockets" && "$python" -m pip install --quiet --disable-pip-version-check --retries 1 \
        --timeout 30 -r "$here/others/requirements.txt"; } >"$out/websockets.log" 2>&1 || {
        rm -rf "$out/websockets"
        missing=" websockets is missing: python3-venv, or the index that pip is set to."
        echo "bench $name:$missing ($out/websockets.log)" >&2
        peers=$(printf '%s\n' "$peers" | sed 's/websockets//')
    }
fi

# --- server ---

find_nginx # for the versions
begin_work
ulimit -S -n 20000 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
# shellcheck disable=SC2086
$pin_server "$out/bench-echo-server" >"$work/port" 9>&- &
server=$!
waited=0
while [ ! -s "$work/port" ]; do
    [ "$waited" -lt 50 ] || fail "the echo server does not start"
    waited=$((waited + 1))
    sleep 0.1
done
port=$(cat "$work/port")
load_before=$(load)

# --- runs ---

run_peer() { # ROW ROUND PEER
    base=raw aim=ratio:1.5 limit=-
    in_flight=1
    case $1:$3 in
    echo-64:*) in_flight=64 ;;
    python:*) base=websockets aim=ratio:0.2 ;;
    stream:*) base=- aim=- limit=20 ;;
    # 35 KB for each socket, and 12 MiB for the program.
    idle:*) base=- aim=- limit=$((sockets * 35 / 1024 + 12)) ;;
    esac
    case $1:$3 in
    echo*:raw) set -- "$@" "$out/bench-websocket-raw" "$port" "$echoes" "$in_flight" ;;
    echo*:c | python:c) set -- "$@" "$out/bench-websocket" "$port" echo "$echoes" "$in_flight" ;;
    python:websockets) set -- "$@" "$python" "$here/others/websockets_echo.py" "$port" "$echoes" "$in_flight" ;;
    stream:c) set -- "$@" "$out/bench-websocket" "$port" stream "$mebibytes" ;;
    idle:c) set -- "$@" "$out/bench-websocket" "$port" idle "$sockets" ;;
    *) return 0 ;;
    esac
    row=$1 round=$2 peer=$3
    shift 3
    [ "$peer" = c ] || aim=-
    # shellcheck disable=SC2086
    is_among "$base" $peers || base=-
    # shellcheck disable=SC2086
    timeout --foreground 600 $pin_client "$out/bench-costs" "$@" 3>"$work/line" 2>"$work/notes" || {
        cat "$work/notes" >&2
        fail "$peer failed in row $row"
    }
    sed -n "s/^per_socket_kb=//p" "$work/notes" >>"$work/per_socket"
    echo "row=$row round=$round name=$peer base=$base aim=$aim rss_aim_mib=$limit $(cat "$work/line")" >>"$work/results"
}

: >"$work/per_socket"
# shellcheck disable=SC2086 # The rows are words.
take_turns $rows

# --- report ---

others="none"
! "$python" -c 'import websockets' 2>/dev/null ||
    others="websockets $("$python" -c 'import websockets; print(websockets.__version__)')"
write_facts "$rounds rounds, peers in turn, $echoes echoes of 64 bytes. Others: $others.$missing"
table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v unit="CPU s" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$bench/aims.awk" "$work/results"
    echo
    echo "Medians and min-max of the rounds."
    echo
    echo "- CPU s: user and system time of the whole client process."
    echo "- Ratio: to raw (a loop over CURLOPT_CONNECT_ONLY), in row python to PyPI's websockets, in the same round."
    echo "- RSS: the process's peak. Aims: below 20 MiB in row stream, at most 35 KB for each socket in row idle."
    echo "- echo: one message of 64 bytes in flight; echo-64: 64 messages on one connection."
    echo "- stream: one message of $mebibytes MiB is sent and received in pieces of 64 KiB."
    if [ -s "$work/per_socket" ]; then
        echo "- idle: $sockets open sockets. Resident memory of each: $(sort -n "$work/per_socket" | tail -n 1) KB at most."
    fi
}
report WebSockets "$markdown"
