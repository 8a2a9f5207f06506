#!/bin/sh
# CPU time, requests per second and memory of GETs over loopback: NetKit, plain libcurl, URLSession.
#
# Called by script/bench in the repository's root. The client is pinned to core 1, nginx to core 0; the peers take
# turns, and each figure is the median of the rounds.
set -eu

reference_cpu_s=1.73 # raw, 1 KiB, 64 in flight, where the aims were set
tolerance_percent=20
here=Benchmarks/transport
out=build/bench
all_peers="raw c swift-loop swift urlsession"
all_rows="1k:1 1k:64 1k:256 64k:64"

usage() {
    cat <<END
usage: script/bench transport [--rounds N] [--requests N] [--only PEER,..] [--rows ROW,..] [--markdown FILE]

  --rounds N       rounds over all peers (5)
  --requests N     measured requests of each run (100000); urlsession sends a tenth
  --only PEER,..   of: $all_peers
  --rows ROW,..    body:in-flight, of: $all_rows
  --markdown FILE  writes the table there too, with the machine and the versions
END
}

fail() {
    echo "bench transport: $*" >&2
    exit 1
}

rounds=5 requests=100000 peers=$all_peers rows=$all_rows markdown=
while [ $# -gt 0 ]; do
    case $1 in
    --help)
        usage
        exit 0
        ;;
    --rounds | --requests | --only | --rows | --markdown) [ $# -ge 2 ] || fail "$1 needs a value" ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    case $1 in
    --rounds) rounds=$2 ;;
    --requests) requests=$2 ;;
    --only) peers=$(echo "$2" | tr ',' ' ') ;;
    --rows) rows=$(echo "$2" | tr ',' ' ') ;;
    --markdown) markdown=$2 ;;
    esac
    shift 2
done
for number in "$rounds" "$requests"; do
    case $number in
    '' | *[!0-9]* | 0*) fail "'$number' is not a positive number" ;;
    esac
done
for peer in $peers; do
    case " $all_peers " in
    *" $peer "*) ;;
    *) fail "no peer '$peer'; there are: $all_peers" ;;
    esac
done
for row in $rows; do
    case $row in
    1k:[1-9]* | 64k:[1-9]*) case ${row#*:} in *[!0-9]*) fail "no row '$row'" ;; esac ;;
    *) fail "no row '$row'; they look like: $all_rows" ;;
    esac
done
has_peer() {
    case " $peers " in
    *" $1 "*) return 0 ;;
    esac
    return 1
}

# --- build ---

c_flags="-std=c11 -D_GNU_SOURCE -O2 -I$here/measure/include"
curl_flags=$(pkg-config --cflags --libs libcurl) || fail "pkg-config finds no libcurl"

compile() { # PROGRAM SOURCE.. [flags]
    program=$1
    shift
    # shellcheck disable=SC2086 # The flags are words.
    cc $c_flags -o "$out/$program" "$@" || fail "$program does not compile"
}

build_core() {
    if [ -f "$out/libnetcore.a" ] &&
        [ -z "$(find include Sources/CNetCore -name '*.[ch]' -newer "$out/libnetcore.a")" ]; then
        return
    fi
    rm -rf "$out/core"
    mkdir -p "$out/core"
    for source in Sources/CNetCore/*/*.c; do
        object=$(echo "${source#Sources/CNetCore/}" | tr '/' '_')
        cc -std=c11 -D_GNU_SOURCE -O2 -Iinclude -ISources/CNetCore -c "$source" -o "$out/core/${object%.c}.o" ||
            fail "the core does not compile"
    done
    rm -f "$out/libnetcore.a"
    ar rcs "$out/libnetcore.a" "$out"/core/*.o
}

build_swift() { # PRODUCT
    swift build --package-path Benchmarks --scratch-path "$out/swift" -c release --product "$1" >"$out/$1.log" 2>&1 || {
        cat "$out/$1.log" >&2
        fail "$1 does not build"
    }
    swift_bin=$(swift build --package-path Benchmarks --scratch-path "$out/swift" -c release --show-bin-path)
}

echo "building ..." >&2
mkdir -p "$out"
# shellcheck disable=SC2086
{
    compile probe "$here/probe.c" $curl_flags
    ! has_peer raw || compile bench-raw "$here/raw.c" "$here/measure/measure.c" $curl_flags
    if has_peer c; then
        build_core
        compile bench-engine "$here/engine.c" "$here/measure/measure.c" -Iinclude "$out/libnetcore.a" \
            $curl_flags $(pkg-config --libs openssl) -lpthread
    fi
}
if has_peer swift || has_peer swift-loop; then build_swift bench-netkit; fi
if has_peer urlsession; then build_swift bench-urlsession; fi

# --- server ---

work=$(mktemp -d "${TMPDIR:-/tmp}/netkit-bench.XXXXXX")
server=
stop() {
    status=$?
    trap - EXIT INT TERM HUP
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || :
        wait "$server" 2>/dev/null || :
    fi
    rm -rf "$work"
    exit "$status"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

nginx=$(command -v nginx || echo /usr/sbin/nginx)
[ -x "$nginx" ] || fail "nginx is not installed"
pin_client='' pin_server='' pinning="client pinned to core 1, nginx to core 0"
if taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null; then
    pin_client="taskset -c 1" pin_server="taskset -c 0"
else
    pinning="NOT PINNED: this machine lets no program choose its core"
fi

write_config() { # PORT
    # As root, workers would drop to a user who cannot read the temporary folder.
    [ "$(id -u)" -ne 0 ] || echo "user root;"
    cat <<END
daemon off;
worker_processes 1;
pid $work/nginx.pid;
error_log $work/error.log error;
events { worker_connections 8192; }
http {
    access_log off;
    sendfile on;
    tcp_nopush off;
    tcp_nodelay on;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
    client_body_temp_path $work/body;
    proxy_temp_path $work/proxy;
    fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi;
    scgi_temp_path $work/scgi;
    server {
        listen 127.0.0.1:$1 backlog=1024;
        root $work/files;
        location = /$status_path { stub_status; }
    }
}
END
}

accepts() {
    "$out/probe" accepts "$port" "/$status_path"
}

# Between the probe's look and nginx's bind another program may take the port; then the next one is tried. The status
# path carries our folder's name, so that no other server's answer is taken for nginx's.
start_server() {
    for attempt in 1 2 3 4 5; do
        port=$("$out/probe" free-port) || fail "no free port"
        write_config "$port" >"$work/nginx.conf"
        # shellcheck disable=SC2086
        $pin_server "$nginx" -p "$work" -c "$work/nginx.conf" 2>>"$work/start.log" &
        server=$!
        waited=0
        while kill -0 "$server" 2>/dev/null && [ "$waited" -lt 50 ]; do
            if accepts >/dev/null 2>&1; then
                return
            fi
            waited=$((waited + 1))
            sleep 0.1
        done
        kill "$server" 2>/dev/null || :
        wait "$server" 2>/dev/null || :
        server=
        echo "nginx did not start on port $port (attempt $attempt)" >&2
    done
    cat "$work/start.log" "$work/error.log" >&2 2>/dev/null || :
    fail "nginx does not start"
}

status_path=status-${work##*.}
mkdir "$work/files"
dd if=/dev/zero bs=1024 count=1 2>/dev/null | tr '\000' 'x' >"$work/files/1k"
dd if=/dev/zero bs=1024 count=64 2>/dev/null | tr '\000' 'x' >"$work/files/64k"
start_server

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
    before=$(accepts) || fail "nginx is gone"
    # shellcheck disable=SC2046,SC2086
    line=$(timeout --foreground 600 $pin_client $(program "$3") --url "http://127.0.0.1:$port/$body" \
        --body-bytes "$((${body%k} * 1024))" --in-flight "$in_flight" --requests "$count" \
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
            run_peer "$row" "$round" "$peer"
        done
        round=$((round + 1))
    done
done

# --- report ---

machine() {
    sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1
}
swift_version() {
    swift --version 2>/dev/null | sed -n 's/.*Swift version \([^ ]*\).*/Swift \1/p' | head -n 1
}
{
    echo "Machine: $(machine), $(getconf _NPROCESSORS_ONLN) cores, $(uname -srm); $pinning."
    echo "Versions: $("$out/probe" versions), $("$nginx" -v 2>&1 | sed 's/.*: *//'), $(swift_version)."
    echo "Release builds. $rounds rounds, peers in turn, $requests requests a run (urlsession a tenth of that)."
} >"$work/facts"

table() { # yes: Markdown; no: for a terminal
    awk -v is_markdown="$1" -v reference="$reference_cpu_s" -v tolerance="$tolerance_percent" \
        -f "$here/table.awk" "$work/results"
}

echo
cat "$work/facts"
echo
table no
if [ -n "$markdown" ]; then
    {
        echo "# Transport"
        echo
        # A list, because Markdown would run the lines together.
        sed 's/^/- /' "$work/facts"
        echo
        table yes
    } >"$markdown"
    echo
    echo "written: $markdown"
fi
