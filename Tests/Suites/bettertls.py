#!/usr/bin/env python3
"""Runs the name-constraint tests of BetterTLS (https://github.com/Netflix/bettertls) through `nk trust`.

usage: Tests/Suites/bettertls.py [--nk PATH] [--verbose] [--at-least N] [EXPORT.JSON]

EXPORT.JSON is the output of `bettertls export-tests` of your copy of the suite. The default is the variable
BETTERTLS_JSON. If the suite itself only warns, a different verdict is tolerated. The exit code is 1 if fewer than N
verdicts (default 9461 of 9491) are right or tolerated, if nk accepts a chain that the suite rejects, or if nk gives no
verdict.
"""
import argparse
import base64
import collections
import concurrent.futures
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


def judge(nk, case, folder, authority):
    """Returns the exit code of nk (None after one minute) and the first line of its output."""
    chain = write(folder, f"{case['id']}.pem", case["certificates"])
    try:
        done = subprocess.run([nk, "trust", "--host", case["hostname"], "--chain", chain, "--ca", authority],
                              capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None, "no verdict within one minute"
    finally:
        os.remove(chain)
    return done.returncode, (done.stdout + done.stderr).strip().partition("\n")[0]


def kind_of(case, code):
    if code not in (0, 1):
        return "without a verdict"
    if (code == 0) == (case["expected"] == "ACCEPT"):
        return "right"
    if case.get("failureIsWarning"):
        return "tolerated"
    return "wrongly accepted" if code == 0 else "wrongly refused"


def main():
    options = arguments()
    counts = collections.Counter()
    with open(options.json, encoding="utf-8") as file:
        export = json.load(file)
    cases = export["suites"]["nameconstraints"]["testCases"]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        authority = write(folder, "ca.pem", [export["trustRoot"]])
        verdicts = pool.map(lambda case: judge(options.nk, case, folder, authority), cases)
        for case, (code, said) in zip(cases, verdicts):
            kind = kind_of(case, code)
            counts[kind] += 1
            if options.verbose and kind != "right":
                print(f"{kind}: {case['id']} ({case['hostname']}): {said}")
    right = counts["right"] + counts["tolerated"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    print(f"BetterTLS: {right} of {len(cases)} right or tolerated ({kinds})")
    return 1 if right < options.at_least or counts["wrongly accepted"] or counts["without a verdict"] else 0


if __name__ == "__main__":
    sys.exit(main())
