# Shared by the benchmarks, sourced by each run.sh in the repository's root: building, nginx, pinning, facts.
#
# The caller sets `name` first. It can define write_servers (the server blocks of the http section, on $port and
# $tls_port) before start_nginx, and runs clients with "$pin_client".

bench=Benchmarks
out=build/bench
work=
server=

fail() {
    echo "bench $name: $*" >&2
    exit 1
}

check_positive() { # NUMBER..
    for number in "$@"; do
        case $number in
        '' | *[!0-9]* | 0*) fail "'$number' is not a positive number" ;;
        esac
    done
}

# Succeeds if the first word is one of the others.
is_among() { # WORD WORD..
    wanted=$1
    shift
    case " $* " in
    *" $wanted "*) return 0 ;;
    esac
    return 1
}

check_words() { # KIND "KNOWN WORDS" WORD..
    kind=$1 known=$2
    shift 2
    for word in "$@"; do
        # shellcheck disable=SC2086 # The known ones are words.
        is_among "$word" $known || fail "no $kind '$word'; there are: $known"
    done
}

# Parses the options. Sets rounds, peers, rows and markdown from the common ones, and amount from the benchmark's own one.
# The caller defines usage, all_peers and all_rows.
read_options() { # OWN-OPTION ITS-DEFAULT ARGUMENT..
    own=$1 amount=$2
    shift 2
    rounds=5 peers=$all_peers rows=$all_rows markdown=
    while [ $# -gt 0 ]; do
        case $1 in
        --help)
            usage
            exit 0
            ;;
        --rounds | "$own" | --only | --rows | --markdown) [ $# -ge 2 ] || fail "$1 needs a value" ;;
        *)
            usage >&2
            exit 2
            ;;
        esac
        case $1 in
        --rounds) rounds=$2 ;;
        "$own") amount=$2 ;;
        --only) peers=$(echo "$2" | tr ',' ' ') ;;
        --rows) rows=$(echo "$2" | tr ',' ' ') ;;
        --markdown) markdown=$2 ;;
        esac
        shift 2
    done
    check_positive "$rounds" "$amount"
    # shellcheck disable=SC2086 # The peers are words.
    check_words peer "$all_peers" $peers
}

# --- build ---

c_flags="-std=c11 -D_GNU_SOURCE -O2 -I$bench/transport/measure/include"
curl_flags=$(pkg-config --cflags --libs libcurl) || fail "pkg-config finds no libcurl"
ssl_flags=$(pkg-config --libs openssl) || fail "pkg-config finds no openssl"
measure=$bench/transport/measure/measure.c

compile() { # PROGRAM SOURCE.. [flags]
    program=$1
    shift
    # shellcheck disable=SC2086 # The flags are words.
    cc $c_flags -o "$out/$program" "$@" || fail "$program does not compile"
}

build_core() {
    if [ -f "$out/libnetcore.a" ] &&
        [ -z "$(find include Sources/CNetCore \( -name '*.[ch]' -o -name '*.inc' \) -newer "$out/libnetcore.a")" ]; then
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

compile_with_core() { # PROGRAM SOURCE..
    build_core
    # shellcheck disable=SC2086
    compile "$@" -Iinclude "$out/libnetcore.a" $curl_flags $ssl_flags -lz -lidn2 -lpsl -lpthread -ldl
}

build_swift() { # PRODUCT
    touch "$bench/Package.swift" # else SwiftPM misses new files of NetKit
    swift build --package-path "$bench" --scratch-path "$out/swift" -c release --product "$1" >"$out/$1.log" 2>&1 || {
        cat "$out/$1.log" >&2
        fail "$1 does not build"
    }
    swift_bin=$(swift build --package-path "$bench" --scratch-path "$out/swift" -c release --show-bin-path)
}

begin_build() {
    echo "building ..." >&2
    mkdir -p "$out"
    # shellcheck disable=SC2086
    compile probe "$bench/transport/probe.c" $curl_flags
}

# --- turns ---

# Calls run_peer ROW ROUND PEER of the benchmark, by row, then by round, with the peers in turn.
take_turns() { # ROW..
    for row; do
        round=1
        while [ "$round" -le "$rounds" ]; do
            echo "row $row, round $round of $rounds" >&2
            for peer in $peers; do
                run_peer "$row" "$round" "$peer"
            done
            round=$((round + 1))
        done
    done
}

# --- temporary directory and cores ---

stop() {
    status=$?
    trap - EXIT INT TERM HUP
    for each in $server; do
        kill "$each" 2>/dev/null || :
        wait "$each" 2>/dev/null || :
    done
    rm -rf "$work"
    exit "$status"
}

begin_work() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/netkit-bench.XXXXXX")
    trap stop EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    mkdir "$work/files"
    status_path=status-${work##*.}
    pin_client='' pin_server='' pinning="client pinned to core 1, server to core 0"
    if taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null; then
        pin_client="taskset -c 1" pin_server="taskset -c 0"
    else
        pinning="NOT PINNED: this machine lets no program choose its core"
    fi
    keep_awake
}

# A core that sleeps between two requests wakes with cold caches, above all on a virtual machine, where other guests used
# it meanwhile. The cost depends on the machine and is larger for larger programs. If permitted, descriptor 9 stays open on
# the kernel's PM QoS file, so that idle cores wake without latency.
keep_awake() {
    if (: >/dev/cpu_dma_latency) 2>/dev/null; then
        exec 9>/dev/cpu_dma_latency
        printf '\000\000\000\000' >&9 # 0 microseconds
        sleeping="idle cores were kept awake"
    else
        sleeping="idle cores SLEPT: /dev/cpu_dma_latency takes no wishes of ours"
    fi
}

let_sleep() {
    exec 9>&-
}

write_letters() { # FILE KIB
    dd if=/dev/zero bs=1024 count="$2" 2>/dev/null | tr '\000' 'x' >"$work/files/$1"
}

# --- certificates: a root, and a leaf for localhost that it signed, ECDSA on P-256, for a day ---

make_certificates() {
    command -v openssl >/dev/null || fail "openssl(1) is not installed"
    {
        echo "basicConstraints = critical, CA:FALSE"
        echo "subjectAltName = DNS:localhost, IP:127.0.0.1"
    } >"$work/leaf.ext"
    {
        new_key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        # shellcheck disable=SC2086
        openssl req -x509 $new_key -days 1 -subj "/CN=NetKit benchmark root" \
            -keyout "$work/root.key" -out "$work/root.pem" &&
            openssl req $new_key -subj "/CN=localhost" -keyout "$work/leaf.key" -out "$work/leaf.csr" &&
            openssl x509 -req -in "$work/leaf.csr" -CA "$work/root.pem" -CAkey "$work/root.key" -CAcreateserial \
                -days 1 -extfile "$work/leaf.ext" -out "$work/leaf.pem"
    } >"$work/openssl.log" 2>&1 || {
        cat "$work/openssl.log" >&2
        fail "no certificates could be made"
    }
}

# --- nginx ---

find_nginx() {
    nginx=$(command -v nginx || echo /usr/sbin/nginx)
    [ -x "$nginx" ] || fail "nginx is not installed"
}

write_config() {
    # As root, workers would drop to a user without access to the temporary directory.
    [ "$(id -u)" -ne 0 ] || echo "user root;"
    cat <<END
daemon off;
worker_processes 1;
pid $work/nginx.pid;
error_log $work/error.log error;
events { worker_connections 16384; }
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
    root $work/files;
END
    write_servers
    echo "}"
}

# Prints the number of connections accepted so far, including the one of this request.
accepts() {
    "$out/probe" accepts "$port" "/$status_path"
}

# Another program can take a port between the probe and nginx's bind; then another port is tried. The status path
# contains the name of the temporary directory, so the response of another server is not mistaken for nginx's.
start_nginx() {
    for attempt in 1 2 3 4 5; do
        port=$("$out/probe" free-port) || fail "no free port"
        tls_port=$("$out/probe" free-port) || fail "no free port"
        write_config >"$work/nginx.conf"
        # shellcheck disable=SC2086
        $pin_server "$nginx" -p "$work" -c "$work/nginx.conf" 2>>"$work/start.log" 9>&- &
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

stop_nginx() {
    kill "$server" 2>/dev/null || :
    wait "$server" 2>/dev/null || :
    server=
}

# --- facts and tables ---

machine() {
    sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1
}
swift_version() {
    swift --version 2>/dev/null | sed -n 's/.*Swift version \([^ ]*\).*/Swift \1/p' | head -n 1
}
load() {
    cut -d ' ' -f 1-3 /proc/loadavg 2>/dev/null || echo unknown
}

write_facts() { # HOW MUCH WAS RUN
    {
        echo "Machine: $(machine), $(getconf _NPROCESSORS_ONLN) cores, $(uname -srm); $pinning; $sleeping."
        echo "Versions: $("$out/probe" versions), $("$nginx" -v 2>&1 | sed 's/.*: *//'), $(swift_version)."
        echo "Load (1, 5, 15 minutes) before: $load_before; after: $(load)."
        echo "Release builds. $1"
    } >"$work/facts"
}

# Prints facts and table, and writes them as Markdown if requested. The caller defines table.
report() { # TITLE MARKDOWN-FILE
    echo
    cat "$work/facts"
    echo
    table no
    if [ -n "$2" ]; then
        {
            echo "# $1"
            echo
            # Written as a list, because Markdown would join plain lines.
            sed 's/^/- /' "$work/facts"
            echo
            table yes
        } >"$2"
        echo
        echo "written: $2"
    fi
}
