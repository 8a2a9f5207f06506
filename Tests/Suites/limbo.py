#!/usr/bin/env python3
"""Runs x509-limbo (https://github.com/C2SP/x509-limbo) through nk.

usage: Tests/Suites/limbo.py [--nk PATH] [--strict] [--live] [--verbose] [--at-most N] [LIMBO.JSON]

LIMBO.JSON is the output of `limbo compile` of your copy of the suite. The default is the variable LIMBO_JSON. Only the
cases for servers are run, without those that the suite takes from BetterTLS (bettertls.py runs these).

Without --live, `nk trust` evaluates each chain at the time of its case. With --live, a TLS server on the loopback
interface presents the chain and `nk` fetches a page from it. This covers the cases that come with a private key which
OpenSSL can use. If a case has a time of its own, `faketime` sets the clock of nk; without `faketime` the case is left
out. With --strict, the strict trust profile applies.

The exit code is 1 if nk accepts more than N chains that the suite rejects (default 49, with --strict 20), or if a
verdict is missing.
"""
import argparse
import collections
import datetime
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
# Exit codes of nk, as of curl: handshake (nk does not offer DSA and P-192), chain or name, pin, OCSP status.
REFUSED = (35, 60, 90, 91)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("json", nargs="?", default=os.environ.get("LIMBO_JSON"))
    parser.add_argument("--nk", default=os.environ.get("NK", ".build/release/nk"))
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--at-most", type=int)
    found = parser.parse_args()
    if not found.json:
        parser.error("name the suite's limbo.json, or set LIMBO_JSON")
    return found


def write(folder, name, texts):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(texts))
    return path


def chain_of(case):
    return [case["peer_certificate"]] + case["untrusted_intermediates"]


def first_line(done):
    return (done.stdout + done.stderr).strip().partition("\n")[0]


def policy_words(case, options, folder, prefix):
    words = [f"--{prefix}strict"] if options.strict else []
    if case["max_chain_depth"] is not None:
        # The suite counts intermediates only. nk also counts the leaf and the authority.
        words += [f"--{prefix}max-chain", str(case["max_chain_depth"] + 2)]
    if case["crls"]:
        words += ["--crlfile", write(folder, "crl.pem", case["crls"])]
    return words


def evaluate(case, options, folder):
    """Evaluates the chain without a connection. Returns a verdict (None: nk gave none) and the output of nk."""
    moment = case["validation_time"] or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    words = [options.nk, "trust", "--host", case["expected_peer_name"]["value"],
             "--chain", write(folder, "chain.pem", chain_of(case)),
             "--ca", write(folder, "ca.pem", case["trusted_certs"]), "--time", moment.replace("+00:00", "Z")]
    done = subprocess.run(words + policy_words(case, options, folder, ""), capture_output=True, text=True, timeout=60)
    return {0: True, 1: False}.get(done.returncode), first_line(done)


def server_context(case, folder):
    """Returns the TLS settings of a server with this chain, or None if OpenSSL cannot use the chain or its key."""
    if not case["peer_certificate_key"]:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:@SECLEVEL=0")  # the keys of some cases are weak
    try:
        context.load_cert_chain(write(folder, "served.pem", chain_of(case)),
                                write(folder, "key.pem", [case["peer_certificate_key"]]))
    except ssl.SSLError:
        return None
    return context


def serve_once(listener, context):
    try:
        connection, _ = listener.accept()
        connection.settimeout(30)
        with connection, context.wrap_socket(connection, server_side=True) as stream:
            stream.recv(4096)
            stream.sendall(RESPONSE)
    except OSError:
        pass  # nk refused the chain


def clock_words(case):
    """Returns the words that set the clock of a command, or None if that is impossible here."""
    if case["validation_time"] is None:
        return []
    if shutil.which("faketime") is None:
        return None
    moment = datetime.datetime.fromisoformat(case["validation_time"]).astimezone(datetime.timezone.utc)
    # The clock is stopped: a case may depend on a single second.
    return ["env", "TZ=UTC", "faketime", "-f", moment.strftime("%Y-%m-%d %H:%M:%S")]


def connect(case, options, folder):
    """Connects to a server that presents the chain. Returns like evaluate(); "" means that the case cannot run."""
    context, clock = server_context(case, folder), clock_words(case)
    if context is None or clock is None:
        return "", "no usable key, or no faketime"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        server = threading.Thread(target=serve_once, args=(listener, context))
        server.start()
        host, port = case["expected_peer_name"]["value"], listener.getsockname()[1]
        host = f"[{host}]" if ":" in host else host
        words = clock + [options.nk, "-sS", "--noproxy", "*", "--connect-to", f"::127.0.0.1:{port}",
                         "--cacert", write(folder, "ca.pem", case["trusted_certs"])]
        words += policy_words(case, options, folder, "trust-") + [f"https://{host}:{port}/"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=60)
            code, said = done.returncode, first_line(done)
        except subprocess.TimeoutExpired:
            code, said = None, "no verdict within one minute"
        listener.close()
        server.join()
    return True if code == 0 else False if code in REFUSED else None, f"exit code {code}: {said}"


def kind_of(case, accepted):
    if accepted == "":
        return "left out"
    if accepted is None:
        return "without a verdict"
    if accepted == (case["expected_result"] == "SUCCESS"):
        return "right"
    return "wrongly accepted" if accepted else "wrongly refused"


def main():
    options = arguments()
    counts = collections.Counter()
    with open(options.json, encoding="utf-8") as file:
        cases = json.load(file)["testcases"]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if case["validation_kind"] != "SERVER" or case["id"].startswith("bettertls::"):
                continue
            if not case["expected_peer_name"]:
                counts["left out"] += 1
                continue
            accepted, said = (connect if options.live else evaluate)(case, options, folder)
            kind = kind_of(case, accepted)
            counts[kind] += 1
            if options.verbose or kind not in ("right", "left out"):
                print(f"  {kind}: {case['id']}: {said}")
    profile = "strict" if options.strict else "default"
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    print(f"x509-limbo, {'live' if options.live else 'offline'}, {profile}: {kinds}")
    at_most = options.at_most if options.at_most is not None else 20 if options.strict else 49
    return 1 if counts["wrongly accepted"] > at_most or counts["without a verdict"] else 0


if __name__ == "__main__":
    sys.exit(main())
