"""Compares new tables with the committed ones: check.py FOLDER [NAME...]

A ratio may be worse than the committed one by the noise of the two runs: the spread (min-max) in both tables, and a tenth
for differences from day to day. Absolute figures are not compared, because they depend on the machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tables

DAILY_NOISE = 0.10  # allowed difference from the committed ratio, which varies from day to day
NETKIT_PEERS = {"netkit", "netkit-from-JSON", "check", "shape", "schema", "tree", "pieces"}  # in tables without ratios


Ratios = dict[tuple[str, str], tuple[float, float]]


def ratios_of_column(table: tables.Table, column: str) -> Ratios:
    """Returns the ratios of a column."""
    found = {}
    for row in table.rows:
        value = tables.number(row[column])
        ends = tables.spread(row.get("min-max 2", ""))
        if value is not None:
            found[row[table.header[0]], row["peer"]] = (value, (ends[1] - ends[0]) / 2 if ends else 0.0)
    return found


def ratios_to_first_peer(table: tables.Table, column: str) -> Ratios:
    """Returns each time of NetKit's peers, divided by that of the row's first peer."""
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
        elif row["peer"] in NETKIT_PEERS:
            ratio = value / base[1]
            found[name, row["peer"]] = (ratio, ratio * (width + base[2]))
    return found


def ratios(table: tables.Table) -> Ratios:
    """Returns for each row and peer the ratio and half the width of its spread."""
    for column in ("ratio", "/ raw"):
        if column in table.header:
            return ratios_of_column(table, column)
    return ratios_to_first_peer(table, "ns") if "ns" in table.header else {}


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
            bound = old * (1 + DAILY_NOISE) + width + old_width
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
