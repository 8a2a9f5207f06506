"""Starts the server of the Autobahn suite, runs the clients, and prints a table.

    compare.py STEP "CLIENT.." REPORTS CACHE PYTHON2..

Fails if libnetcore misses its target. Tests/Autobahn/run calls it in a network namespace.
"""

import fcntl
import json
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

URL = "ws://127.0.0.1:9001"
PROGRAM = "build/Tests/CNetCoreTests/programs/socket_suite_client"
MAX_NON_STRICT = 3
SECONDS = 3600
START = "import site, sys; site.addsitedir(sys.argv.pop(1)); from autobahntestsuite import wstest; wstest.run()"
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def bring_loopback_up() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


def start_server(reports: Path, packages: Path, python: list[str]) -> subprocess.Popen[bytes]:
    spec = reports / "spec.json"
    spec.write_text(json.dumps({"url": URL, "outdir": str(reports), "cases": ["*"], "exclude-cases": [],
                                "exclude-agent-cases": {}}))
    with open(reports / "server.log", "wb") as log:
        server = subprocess.Popen([*python, "-c", START, str(packages), "-m", "fuzzingserver", "-s", str(spec)],
                                  stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", 9001)).close()
            return server
        except ConnectionRefusedError:
            time.sleep(0.1)
    sys.exit(f"autobahn: the server did not start:\n{(reports / 'server.log').read_text()}")


def result(case: dict[str, str]) -> str:
    """Returns one word for a case: a wrong close counts as a failure, unless the case itself failed."""
    behavior, close = case["behavior"], case["behaviorClose"]
    if behavior not in ("OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED"):
        return "FAILED"
    return behavior if close in ("OK", "INFORMATIONAL") else "FAILED"


def main() -> int:
    step, clients, reports, cache, *python = sys.argv[1:]
    commands = {"netkit": [PROGRAM], "websockets": [f"{cache}/peer/bin/python", "Tests/Autobahn/peer.py"]}
    bring_loopback_up()
    server = start_server(Path(reports), Path(cache) / "server", python)
    seconds = {}
    try:
        for agent in clients.split():
            began = time.monotonic()
            subprocess.run([*commands[agent], URL, step], check=True, timeout=SECONDS)
            seconds[agent] = time.monotonic() - began
    finally:
        server.terminate()
        server.wait()
    words = ["OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED", "FAILED"]
    index = json.loads((Path(reports) / "index.json").read_text())
    print("| client | cases | " + " | ".join(word.lower() for word in words) + " | seconds |")
    print("|---" * (len(words) + 3) + "|")
    tally: dict[str, dict[str, int]] = {}
    for agent, took in seconds.items():
        results = [result(case) for case in index[agent].values()]
        tally[agent] = {word: results.count(word) for word in words}
        counts = [str(len(results)), *(str(tally[agent][word]) for word in words), f"{took:.0f}"]
        print(f"| {agent} | " + " | ".join(counts) + " |")
    for agent in seconds:
        for name, case in sorted(index[agent].items(), key=lambda item: [int(part) for part in item[0].split(".")]):
            if result(case) != "OK":
                print(f"{agent}: case {name}: {case['behavior']}, close {case['behaviorClose']}")
    if "netkit" not in tally:
        return 0
    ours = tally["netkit"]
    is_met = ours["FAILED"] == 0 and ours["UNIMPLEMENTED"] == 0 and ours["NON-STRICT"] <= MAX_NON_STRICT
    print(f"autobahn: {ours['FAILED']} failed, {ours['NON-STRICT']} non-strict: target {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


sys.exit(main())
