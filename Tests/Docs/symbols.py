"""Checks that every public symbol of the symbol graphs has a description or inherits one, and that every public type of
NetKit is in exactly one topic group of its module page.

usage: symbols.py MODULE-PAGE GRAPH..
"""

import collections
import json
import re
import sys


def undescribed(symbols):
    """Returns the number of symbols, and a message for each one without a sentence."""
    count, faults = 0, []
    for symbol in symbols:
        # The protocol documents the members that the compiler synthesizes for a conformance.
        if "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
            continue
        count += 1
        lines = symbol.get("docComment", {}).get("lines", [])
        if not any(line["text"].strip() for line in lines):
            place = symbol.get("location", {})
            line = place.get("position", {}).get("line", -1) + 1
            faults.append(f"{place.get('uri', '?')}:{line}: {'.'.join(symbol['pathComponents'])} has no sentence")
    return count, sorted(faults)


def ungrouped(symbols, page):
    """Returns the number of public types, and a message for each one that is not in exactly one topic group."""
    types = {symbol["pathComponents"][0] for symbol in symbols if len(symbol["pathComponents"]) == 1}
    with open(page, encoding="utf-8") as file:
        topics = file.read().partition("\n## Topics\n")[2]
    links = collections.Counter(re.findall(r"^- ``(.+)``$", topics, re.MULTILINE))
    faults = [f"{page}: {name} is in {links[name] or 'no'} topic group{'s' * (links[name] > 1)}, not in one"
              for name in sorted(types | set(links)) if links[name] != 1]
    return len(types), faults


def main():
    page, faults, count, groups = sys.argv[1], [], 0, None
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            graph = json.load(file)
        described, bare = undescribed(graph["symbols"])
        count += described
        faults += bare
        if name.endswith("/NetKit.symbols.json"):
            groups, loose = ungrouped(graph["symbols"], page)
            faults += loose
    for fault in faults:
        print(f"docs: {fault}", file=sys.stderr)
    if not count or groups is None:
        sys.exit("docs: the graphs hold no symbols of NetKit")
    if faults:
        sys.exit(1)
    print(f"docs: {count} public symbols, each with a sentence; {groups} types, each in one topic group")


if __name__ == "__main__":
    main()
