#!/bin/sh
# CPU seconds of HTTP/3 requests: NetKit's engine beside `curl --http3-only`, against nginx on loopback.
#
# usage: script/test-root trixie-backports run sh Benchmarks/http3/run.sh [ROUNDS]
#
# Needs a libcurl with HTTP/3, nginx with HTTP/3 and cmake; builds in build/.
set -eu
cd "$(dirname "$0")/../.."
rounds=${1:-5}
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT

cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DNETCORE_WARNINGS_AS_ERRORS=OFF --log-level=WARNING \
    >/dev/null
cmake --build build/bench --target netcore_static >/dev/null
# shellcheck disable=SC2046
cc -O2 -Iinclude -o "$folder/fetch" Benchmarks/http3/fetch.c build/bench/libnetcore.a \
    $(pkg-config --libs libcurl openssl zlib libidn2 libpsl) -lpthread

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$folder/key.pem" -out "$folder/ca.pem" \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2 2>/dev/null
mkdir "$folder/files" "$folder/t"
printf hello >"$folder/files/small"
truncate -s 200M "$folder/files/large"
port=47443
cat >"$folder/nginx.conf" <<END
user root; daemon off; worker_processes 1; pid $folder/pid; error_log $folder/log;
events { worker_connections 1024; }
http {
    access_log off; root $folder/files; keepalive_requests 1000000;
    client_body_temp_path t/b; proxy_temp_path t/p; fastcgi_temp_path t/f; uwsgi_temp_path t/u; scgi_temp_path t/s;
    server {
        listen 127.0.0.1:$port quic reuseport; listen 127.0.0.1:$port ssl;
        ssl_certificate $folder/ca.pem; ssl_certificate_key $folder/key.pem;
    }
}
END
nginx -p "$folder" -c "$folder/nginx.conf" &
server=$!
until curl -s --http3-only --cacert "$folder/ca.pem" -o /dev/null "https://localhost:$port/small"; do :; done

# Prints the CPU seconds of a command and its children.
cpu_of() {
    python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.3f}")' "$@"
}

base=https://localhost:$port
for round in $(seq "$rounds"); do
    for row in large small parallel; do
        case $row in
        large) count=1 width=1 url=$base/large globs=$base/large options= ;;
        small) count=2000 width=1 url=$base/small globs="$base/small?[1-2000]" options= ;;
        parallel) count=2000 width=50 url=$base/small globs="$base/small?[1-2000]" options='-Z --parallel-max 50' ;;
        esac
        # shellcheck disable=SC2086
        echo "$row curl $(cpu_of curl -s --http3-only --cacert "$folder/ca.pem" -o /dev/null $options "$globs")"
        echo "$row netkit $(cpu_of "$folder/fetch" "$folder/ca.pem" "$url" "$count" "$width")"
    done
done | sort -k1,2 -k3n | awk '
    { row = $1 " " $2; value[row, ++count[row]] = $3 }
    function median(row) { return value[row, int((count[row] + 1) / 2)] }
    END {
        print "| row | curl, CPU s | NetKit, CPU s | ratio |\n|---|---|---|---|"
        split("large small parallel", rows, " ")
        for (i = 1; i <= 3; i++) {
            theirs = median(rows[i] " curl"); ours = median(rows[i] " netkit")
            printf "| %s | %.3f | %.3f | %.2f |\n", rows[i], theirs, ours, ours / theirs
        }
    }'
curl --version | head -n 1
