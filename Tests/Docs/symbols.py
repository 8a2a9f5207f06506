"""Every public symbol of symbol graphs has a sentence of its own, or one that it inherits.

usage: symbols.py GRAPH..
"""

import json
import sys


def main():
    count, bare = 0, []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            graph = json.load(file)
        for symbol in graph["symbols"]:
            # The protocol documents the members that the compiler synthesizes for a conformance.
            if "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
                continue
            count += 1
            lines = symbol.get("docComment", {}).get("lines", [])
            if not any(line["text"].strip() for line in lines):
                place = symbol.get("location", {})
                line = place.get("position", {}).get("line", -1) + 1
                bare.append(f"{place.get('uri', '?')}:{line}: {'.'.join(symbol['pathComponents'])} has no sentence")
    for fault in sorted(bare):
        print(f"docs: {fault}", file=sys.stderr)
    if not count:
        print("docs: the graphs hold no symbols", file=sys.stderr)
    else:
        print(f"docs: {count - len(bare)} of {count} public symbols have a sentence")
    sys.exit(not count or bool(bare))


if __name__ == "__main__":
    main()
