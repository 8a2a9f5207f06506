"""Reads the tables that the benchmarks write as Markdown: docs/benchmarks/NAME.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("docs/benchmarks")


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    facts: list[str]
    header: list[str]
    rows: list[dict[str, str]]

    def column(self, *names: str) -> str:
        """Returns the first of these columns that the table has."""
        for name in names:
            if name in self.header:
                return name
        raise KeyError(f"{self.name}: none of {names} in {self.header}")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read(path: Path) -> Table:
    """Reads a page: its title, the facts above its first table, and that table. A repeated column name gets a ' 2'."""
    lines = path.read_text().splitlines()
    title = next(line[2:] for line in lines if line.startswith("# "))
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    facts = [line[2:] for line in lines[:start] if line.startswith("- ")]
    header: list[str] = []
    for cell in cells(lines[start]):
        header.append(cell if cell not in header else f"{cell} 2")
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(header, cells(line))))
    return Table(path.stem, title, facts, header, rows)


def pages() -> list[Path]:
    return sorted(FOLDER.glob("*.md"))


def number(text: str) -> float | None:
    """Returns a figure of a table, or None for an empty one ('-', '')."""
    match = re.match(r"-?[0-9][0-9.]*", text)
    return float(match.group()) if match else None


def spread(text: str) -> tuple[float, float] | None:
    """Returns the ends of a spread such as '3.45-3.88'."""
    match = re.fullmatch(r"([0-9.]+)-([0-9.]+)", text)
    return (float(match.group(1)), float(match.group(2))) if match else None
