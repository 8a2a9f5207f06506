"""Measures json.loads and jsonschema-rs: schema.py DOCUMENT SCHEMA. The line is that of timing.h."""
import json
import statistics
import sys
import time

import jsonschema_rs

BATCHES = 41


def main(document, schema):
    with open(document, "rb") as file:
        text = file.read()
    with open(schema, "rb") as file:
        validator = jsonschema_rs.validator_for(json.load(file))

    def once():
        if not validator.is_valid(json.loads(text)):
            sys.exit("the document does not match the schema")

    began = time.process_time_ns()
    runs = 0
    while time.process_time_ns() - began < 5_000_000 or runs == 0:
        once()
        runs += 1
    batches = []
    for _ in range(BATCHES):
        began = time.process_time_ns()
        for _ in range(runs):
            once()
        batches.append((time.process_time_ns() - began) / runs)
    print(f"ns={statistics.median(batches):.1f} bytes={len(text)}")


if sys.argv[1:] == ["--which"]:
    from importlib.metadata import version
    print(f"jsonschema-rs {version('jsonschema-rs')}, Python {sys.version.split()[0]}")
else:
    main(*sys.argv[1:3])
