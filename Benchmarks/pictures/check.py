"""Compares new tables with the committed ones: check.py FOLDER [NAME...]

A ratio may be worse than the committed one by the noise that both runs state: the width of their min-max, and a tenth
for another day on the machine. Absolute figures are not compared: they are the machine's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tables

DAY = 0.10  # of the committed ratio
OURS = {"netkit", "netkit-from-JSON", "check", "shape", "pieces"}  # where a table has times alone


Ratios = dict[tuple[str, str], tuple[float, float]]


def stated(table: tables.Table, column: str) -> Ratios:
    """What a column of ratios says."""
    found = {}
    for row in table.rows:
        value = tables.number(row[column])
        ends = tables.spread(row.get("min-max 2", ""))
        if value is not None:
            found[row[table.header[0]], row["peer"]] = (value, (ends[1] - ends[0]) / 2 if ends else 0.0)
    return found


def reckoned(table: tables.Table, column: str) -> Ratios:
    """Each time of ours by that of its row's first peer."""
    found: Ratios = {}
    base = ("", 1.0, 0.0)
    for row in table.rows:
        value = tables.number(row[column])
        ends = tables.spread(row["min-max"])
        if not value or ends is None:
            continue
        width = (ends[1] - ends[0]) / 2 / value
        name = row[table.header[0]]
        if name != base[0]:
            base = (name, value, width)
        elif row["peer"] in OURS:
            ratio = value / base[1]
            found[name, row["peer"]] = (ratio, ratio * (width + base[2]))
    return found


def ratios(table: tables.Table) -> Ratios:
    """By row and peer: the ratio, and half the width of its spread."""
    for column in ("ratio", "/ raw"):
        if column in table.header:
            return stated(table, column)
    return reckoned(table, "ns") if "ns" in table.header else {}


def main() -> int:
    folder = Path(sys.argv[1])
    worse = 0
    compared = 0
    compared_all = True
    for page in sorted(folder.glob("*.md")):
        committed = tables.FOLDER / page.name
        if (sys.argv[2:] and page.stem not in sys.argv[2:]) or not committed.exists():
            continue
        before = ratios(tables.read(committed))
        known = compared
        for key, (value, width) in ratios(tables.read(page)).items():
            if key not in before:
                continue
            old, old_width = before[key]
            bound = old * (1 + DAY) + width + old_width
            compared += 1
            if value > bound:
                worse += 1
                print(f"WORSE {page.stem}: {key[1]} in row {key[0]}: {value:.2f}, was {old:.2f} (up to {bound:.2f} is noise)")
        if compared == known:
            print(f"{page.stem}: has no ratio to compare")
            compared_all = False
    print(f"bench check: {compared} ratios compared, {worse} worse than their noise")
    return 1 if worse > 0 or compared == 0 or not compared_all else 0


if __name__ == "__main__":
    sys.exit(main())
