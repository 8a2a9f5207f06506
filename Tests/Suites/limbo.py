#!/usr/bin/env python3
"""Runs x509-limbo (https://github.com/C2SP/x509-limbo) through `nk trust`.

usage: Tests/Suites/limbo.py [--nk PATH] [--strict] [--verbose] [--at-most N] [LIMBO.JSON]

LIMBO.JSON is the developer's own copy of the suite; without it the variable LIMBO_JSON names it. `limbo compile` of that
project makes one. With --strict every chain is judged under the strict profile. The exit code is 1 if more than N
chains are accepted that the suite refuses (by default: 49, with --strict 20).
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("json", nargs="?", default=os.environ.get("LIMBO_JSON"))
    parser.add_argument("--nk", default=os.environ.get("NK", ".build/release/nk"))
    parser.add_argument("--strict", action="store_true")
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


def judge(case, options, folder):
    """True: allowed, False: refused, None: nk could not read it. And what nk said."""
    chain = [case["peer_certificate"]] + case["untrusted_intermediates"]
    moment = case["validation_time"] or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    words = [options.nk, "trust", "--host", case["expected_peer_name"]["value"],
             "--chain", write(folder, "chain.pem", chain), "--ca", write(folder, "ca.pem", case["trusted_certs"]),
             "--time", moment.replace("+00:00", "Z")]
    if options.strict:
        words.append("--strict")
    if case["max_chain_depth"] is not None:
        # The suite counts intermediates; nk counts the leaf and the authority too.
        words += ["--max-chain", str(case["max_chain_depth"] + 2)]
    if case["crls"]:
        words += ["--crlfile", write(folder, "crl.pem", case["crls"])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return {0: True, 1: False}.get(done.returncode), (done.stdout + done.stderr).strip()


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
                counts["no host to ask for"] += 1
                continue
            allowed, said = judge(case, options, folder)
            expected = case["expected_result"] == "SUCCESS"
            kind = "unreadable" if allowed is None else "agrees" if allowed == expected else \
                "wrongly accepted" if allowed else "wrongly refused"
            counts[kind] += 1
            if kind != "agrees" or options.verbose:
                print(f"{kind}: {case['id']}: {said}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    at_most = options.at_most if options.at_most is not None else 20 if options.strict else 49
    return 1 if counts["wrongly accepted"] > at_most else 0


if __name__ == "__main__":
    sys.exit(main())
