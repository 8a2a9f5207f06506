"""Draws docs/benchmarks/NAME.svg and .png from each NAME.md beside it: draw.py [NAME...]

Tables of rows and peers become bars. Tables of growing cost become lines on logarithmic axes. Nothing is measured here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import tables

# A peer has the same colour on every page: NetKit's are blue to green, plain libraries and system calls grey, others warm.
NETKIT_PEERS = ["c", "netkit", "check", "download", "store", "sealed", "swift-loop", "swift", "agent", "batch"]
NETKIT_PEERS += ["shape", "schema", "tree", "pieces", "avx2", "ssse3", "empty", "four", "ready"]
BASES = ["raw", "raw-one", "plain", "bare", "group", "curl", "unsynced"]
BLUES = plt.get_cmap("winter")
WARM = plt.get_cmap("autumn")
AXIS_LABELS = {
    "in-flight": ("Requests in flight, 1 KiB each", "requests at once"),
    "body": ("A body's length", "KiB"),
    "entries": ("Entries in the cache, 1 KiB each", "entries"),
    "batch": ("Members of a batch", "members"),
}


def colours(peers: list[str]) -> dict[str, object]:
    ours = [peer for peer in peers if peer in NETKIT_PEERS]
    others = [peer for peer in peers if peer not in NETKIT_PEERS and peer not in BASES]
    chosen: dict[str, object] = {}
    for i, peer in enumerate(ours):
        chosen[peer] = BLUES(0.15 + 0.7 * i / max(1, len(ours) - 1))
    for i, peer in enumerate(others):
        chosen[peer] = WARM(0.25 + 0.5 * i / max(1, len(others) - 1))
    for i, peer in enumerate(peer for peer in peers if peer in BASES):
        chosen[peer] = str(0.45 + 0.12 * (i % 4))
    return chosen


def in_order(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


def save(figure: plt.Figure, table: tables.Table) -> None:
    figure.text(0.01, 0.01, "\n".join(table.facts[:2]), fontsize=6.5, color="0.35", va="bottom")
    for ending in ("svg", "png"):
        path = tables.FOLDER / f"{table.name}.{ending}"
        # Without a date and random names, the same table gives the same file.
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        figure.savefig(path, dpi=110, metadata=metadata)
        print(f"drawn: {path}")
    plt.close(figure)


def show(page: Path, table: tables.Table) -> None:
    """Inserts the picture below the page's title, because a measurement writes the page without it."""
    line = f"![{table.title}, as a picture]({table.name}.svg)"
    text = page.read_text()
    if line not in text:
        page.write_text(text.replace(f"# {table.title}\n", f"# {table.title}\n\n{line}\n", 1))


def draw_bars(table: tables.Table) -> None:
    """Draws one panel per row, each from zero: rows can differ by a factor of thousands, and a log scale has no zero."""
    has_rows = "peer" in table.header
    cost = table.header[2 if has_rows else 1]
    name_of = (lambda row: row["peer"]) if has_rows else (lambda row: row[table.header[0]])
    row_of = (lambda row: row[table.header[0]]) if has_rows else (lambda row: "")
    measured = [row for row in table.rows if tables.number(row[cost]) is not None]
    chosen = colours(in_order([name_of(row) for row in measured]))
    panels = [[row for row in measured if row_of(row) == name] for name in in_order([row_of(row) for row in measured])]
    bars = [len(panel) for panel in panels]
    height = 1.4 + 0.19 * sum(bars) + 0.3 * len(panels)
    figure, grid = plt.subplots(len(panels), 1, figsize=(8.5, height), squeeze=False, height_ratios=[n + 1 for n in bars])
    for axes, panel in zip(grid.flat, panels):
        largest = 0.0
        for place, row in enumerate(panel):
            value = tables.number(row[cost]) or 0.0
            low, high = tables.spread(row.get("min-max", "")) or (value, value)
            axes.barh(place, value, height=0.85, color=chosen[name_of(row)])
            axes.plot([low, high], [place, place], color="0.15", lw=0.8)
            # Leading spaces would not work: browsers drop them in an SVG.
            axes.annotate(f"{name_of(row)}  {row[cost]}", (max(value, high), place), xytext=(5, 0),
                          textcoords="offset points", va="center", fontsize=6.5)
            largest = max(largest, high, value)
        axes.set_xlim(0, largest * 1.35)  # room for the names
        axes.set_ylim(len(panel) - 0.4, -0.6)
        axes.set_yticks([])
        axes.set_ylabel(row_of(panel[0]), rotation=0, ha="right", va="center", fontsize=7.5)
        axes.set_xticks([])
        axes.spines[["top", "right", "bottom"]].set_visible(False)
    grid.flat[-1].set_xlabel(f"{cost}: less is better; each row from zero; lines: best round to worst", fontsize=8)
    figure.suptitle(table.title, x=0.01, ha="left", fontweight="bold")
    figure.tight_layout(rect=(0, 0.35 / height, 1, 1 - 0.1 / height))
    save(figure, table)


def draw_growth(table: tables.Table) -> None:
    kinds = in_order([row["row"] for row in table.rows])
    figure, grid = plt.subplots((len(kinds) + 1) // 2, 2, figsize=(10, 4 * ((len(kinds) + 1) // 2)), squeeze=False)
    chosen = colours(in_order([row["peer"] for row in table.rows]))
    for axes, kind in zip(grid.flat, kinds):
        title, label = AXIS_LABELS[kind]
        for peer in in_order([row["peer"] for row in table.rows if row["row"] == kind]):
            points = [row for row in table.rows if row["row"] == kind and row["peer"] == peer]
            xs = [float(row["x"]) for row in points]
            ys = [tables.number(row["CPU us"]) for row in points]
            axes.loglog(xs, ys, marker="o", markersize=4, label=peer, color=chosen[peer])
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_xlabel(label, fontsize=8)
        axes.set_ylabel("CPU µs each", fontsize=8)
        axes.grid(True, which="major", lw=0.4)
        axes.legend(fontsize=7)
    for axes in list(grid.flat)[len(kinds) :]:
        axes.set_visible(False)
    figure.suptitle(table.title, x=0.01, ha="left", fontweight="bold")
    figure.tight_layout(rect=(0, 0.04, 1, 0.98))
    save(figure, table)


def main() -> int:
    # Text stays text, so that a page can be searched. Ids depend on the contents.
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "netkit", "font.size": 8})
    wanted = [tables.FOLDER / f"{name}.md" for name in sys.argv[1:]] or tables.pages()
    for page in wanted:
        if not Path(page).exists():
            print(f"draw: there is no {page}", file=sys.stderr)
            return 2
        table = tables.read(page)
        if "x" in table.header:
            draw_growth(table)
        else:
            draw_bars(table)
        show(Path(page), table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
