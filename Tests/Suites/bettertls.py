#!/usr/bin/env python3
"""Runs the name constraints of BetterTLS (https://github.com/Netflix/bettertls) through `nk trust`.

usage: Tests/Suites/bettertls.py [--nk PATH] [--verbose] [--at-least N] [EXPORT.JSON]

EXPORT.JSON is what `bettertls export-tests` of the developer's own copy of the suite wrote; without it the variable
BETTERTLS_JSON names it. Verdicts that differ where the suite itself only warns are tolerated. The exit code is 1 if fewer than N verdicts (9461 of 9491) are the suite's, or if a chain is
accepted that the suite refuses.
"""
import argparse
import base64
import collections
import json
import os
import subprocess
import sys
import tempfile


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("json", nargs="?", default=os.environ.get("BETTERTLS_JSON"))
    parser.add_argument("--nk", default=os.environ.get("NK", ".build/release/nk"))
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--at-least", type=int, default=9461)
    found = parser.parse_args()
    if not found.json:
        parser.error("name the export of the suite, or set BETTERTLS_JSON")
    return found


def write(folder, name, certificates):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        for certificate in certificates:
            text = base64.encodebytes(base64.b64decode(certificate)).decode()
            file.write(f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n")
    return path


def main():
    options = arguments()
    counts = collections.Counter()
    with open(options.json, encoding="utf-8") as file:
        export = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        authority = write(folder, "ca.pem", [export["trustRoot"]])
        for case in export["suites"]["nameconstraints"]["testCases"]:
            chain = write(folder, "chain.pem", case["certificates"])
            done = subprocess.run([options.nk, "trust", "--host", case["hostname"], "--chain", chain, "--ca", authority],
                                  capture_output=True, text=True, timeout=60)
            expected = 0 if case["expected"] == "ACCEPT" else 1
            kind = "agree" if done.returncode == expected else \
                "tolerated" if case.get("failureIsWarning") else "wrongly accepted" if done.returncode == 0 else "wrongly refused" if done.returncode == 1 else "failed"
            counts[kind] += 1
            if options.verbose and kind not in ("agree", "tolerated"):
                print(f"{kind}: {case['id']} ({case['hostname']}): {done.stdout.splitlines()[:1]}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts["agree"] + counts["tolerated"] < options.at_least or counts["wrongly accepted"] > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
