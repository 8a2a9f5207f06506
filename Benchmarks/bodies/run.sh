#!/bin/sh
# CPU time and memory of one body of 1 GiB: saved, streamed, uploaded; with slow readers and slow servers.
#
# Called by script/bench in the repository's root. A cost is that of a whole process, including its start. The files are
# sparse and read as zeros.
set -eu

name=bodies
here=Benchmarks/bodies
. Benchmarks/setup.sh
all_rows="save stream upload slow-reader slow-server slow-save slow-upload"
all_peers="raw curl c swift-loop swift"
rss_aim_mib=32

usage() {
    cat <<END
usage: script/bench bodies [--rounds N] [--mebibytes N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --mebibytes N    length of the body (1024)
  --only PEER,..   of: $all_peers
                   (raw: libcurl with a 512 KiB buffer; curl: curl -T)
  --rows ROW,..    of: $all_rows
                   (slow-reader pauses for 2 ms after every 2 MiB; the slow-* servers send or receive at most 256 MiB/s)
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

read_options --mebibytes 1024 "$@"
mebibytes=$amount
# shellcheck disable=SC2086
check_words row "$all_rows" $rows
bytes=$((mebibytes * 1024 * 1024))

# --- build ---

begin_build
compile bench-costs "$here/costs.c"
compile bench-discard "$here/discard.c"
# shellcheck disable=SC2086
compile bench-bodies-raw "$here/raw.c" $curl_flags
compile_with_core bench-bodies-engine "$here/engine.c"
case " $peers " in
*" swift"*) build_swift bench-bodies ;;
esac
case " $peers " in
*" curl "*) command -v curl >/dev/null || fail "curl(1) is not installed; leave it out with --only" ;;
esac

# --- servers ---

write_servers() {
    cat <<END
    server {
        listen 127.0.0.1:$port backlog=1024;
        location = /$status_path { stub_status; }
        location /slow/ { alias $work/files/; limit_rate 256m; }
    }
END
}

find_nginx
begin_work
truncate -s "$bytes" "$work/files/body"
start_nginx
nginx_pid=$server

# Starts a server that discards uploads, and sets $sink_port.
start_sink() { # PAUSE_EVERY_BYTES PAUSE_US
    : >"$work/sink"
    # shellcheck disable=SC2086
    $pin_server "$out/bench-discard" "$1" "$2" >"$work/sink" &
    sinks="$sinks $!"
    waited=0
    while [ ! -s "$work/sink" ]; do
        [ "$waited" -lt 50 ] || fail "the discarding server does not start"
        waited=$((waited + 1))
        sleep 0.1
    done
    sink_port=$(cat "$work/sink")
}
sinks=
stop_all() {
    status=$?
    # shellcheck disable=SC2086
    [ -z "$sinks" ] || kill $sinks 2>/dev/null || :
    (exit "$status") || :
    server=$nginx_pid
    stop
}
trap stop_all EXIT
start_sink 0 0
fast_sink=$sink_port
start_sink 524288 2000
slow_sink=$sink_port
load_before=$(load)

# --- runs ---

saved=$work/saved
nginx_url=http://127.0.0.1:$port

# Prints the command of a peer in a row, or nothing if it has none.
command_of() { # ROW PEER
    case $1 in
    save) task="save $nginx_url/body $bytes $saved" ;;
    slow-save) task="save $nginx_url/slow/body $bytes $saved" ;;
    stream) task="stream $nginx_url/body $bytes" ;;
    slow-server) task="stream $nginx_url/slow/body $bytes" ;;
    slow-reader) task="rest $nginx_url/body $bytes" ;;
    upload) task="upload http://127.0.0.1:$fast_sink/" ;;
    slow-upload) task="upload http://127.0.0.1:$slow_sink/" ;;
    esac
    case $2:$task in
    curl:upload*) task="-sS -o /dev/null -T $work/files/body ${task#upload }" ;;
    *:upload*) task="$task $bytes $work/files/body" ;;
    esac
    case $2:$task in
    raw:save* | raw:stream*) echo "$out/bench-bodies-raw $task" ;;
    curl:-*) echo "curl $task" ;;
    c:*) echo "$out/bench-bodies-engine $task" ;;
    swift-loop:*) echo "$swift_bin/bench-bodies loop $task" ;;
    swift:*) echo "$swift_bin/bench-bodies global $task" ;;
    esac
}

run_peer() { # ROW ROUND PEER
    base=- aim=-
    case $1 in
    save) base=raw aim=ratio:1.10 ;;
    stream) base=raw aim=ratio:1.5 ;;
    upload) base=curl aim=ratio:1.2 ;;
    slow-save | slow-server) base=raw ;;
    slow-upload) base=curl ;;
    esac
    # shellcheck disable=SC2086
    is_among "$base" $peers || base=-
    limit=$rss_aim_mib
    case $3 in
    raw | curl) aim=- limit=- ;;
    esac
    task=$(command_of "$1" "$3")
    [ -n "$task" ] || return 0
    # shellcheck disable=SC2086
    timeout --foreground 600 $pin_client "$out/bench-costs" $task 3>"$work/line" || fail "$3 failed in row $1"
    if [ -f "$saved" ]; then
        [ "$(stat -c %s "$saved")" -eq "$bytes" ] || fail "$3 saved a file of another length in row $1"
        rm "$saved"
    fi
    echo "row=$1 round=$2 name=$3 base=$base aim=$aim rss_aim_mib=$limit $(cat "$work/line")" >>"$work/results"
}

# shellcheck disable=SC2086 # The rows are words.
take_turns $rows

# --- report ---

write_facts "$rounds rounds, peers in turn, a body of $mebibytes MiB."
table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v unit="CPU s" -f "$bench/median.awk" -f "$bench/rows.awk" -f "$bench/aims.awk" "$work/results"
    echo
    echo "Medians and min-max of the rounds."
    echo
    echo "- CPU s: user and system time of the whole client process."
    echo "- Ratio: to raw (plain libcurl with a buffer of 512 KiB, which saves or discards) or to curl -T, in the same round."
    echo "- RSS: the process's peak; the aim is below $rss_aim_mib MiB in each row."
    echo "- slow-reader: pauses for 2 ms after every 2 MiB."
    echo "- slow-server, slow-save: nginx sends at most 256 MiB/s."
    echo "- slow-upload: the server pauses for 2 ms after every 512 KiB."
}
report "Large bodies" "$markdown"
