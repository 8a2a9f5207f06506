"""Compares new tables with the committed ones: check.py FOLDER [NAME...]

A ratio may be worse than the committed one by the noise that both runs state: the width of their min-max, and a tenth
for another day on the machine. Absolute figures are not compared: they are the machine's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tables

DAY = 0.10  # of the committed ratio


def ratios(table: tables.Table) -> dict[tuple[str, str], tuple[float, float]]:
    """By row and peer: the ratio, and half the width of its spread."""
    try:
        column = table.column("ratio", "/ raw")
    except KeyError:
        return {}
    found = {}
    for row in table.rows:
        value = tables.number(row[column])
        ends = tables.spread(row.get("min-max 2", ""))
        if value is not None:
            found[row[table.header[0]], row["peer"]] = (value, (ends[1] - ends[0]) / 2 if ends else 0.0)
    return found


def main() -> int:
    folder = Path(sys.argv[1])
    worse = 0
    compared = 0
    for page in sorted(folder.glob("*.md")):
        committed = tables.FOLDER / page.name
        if (sys.argv[2:] and page.stem not in sys.argv[2:]) or not committed.exists():
            continue
        before = ratios(tables.read(committed))
        for key, (value, width) in ratios(tables.read(page)).items():
            if key not in before:
                continue
            old, old_width = before[key]
            bound = old * (1 + DAY) + width + old_width
            compared += 1
            if value > bound:
                worse += 1
                print(f"WORSE {page.stem}: {key[1]} in row {key[0]}: {value:.2f}, was {old:.2f} (up to {bound:.2f} is noise)")
    print(f"bench check: {compared} ratios compared, {worse} worse than their noise")
    return 1 if worse > 0 or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
