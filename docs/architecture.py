#!/usr/bin/env python3
"""Draws docs/architecture.svg: python3 docs/architecture.py >docs/architecture.svg"""

WIDTH, LEFT, ROW, GAP = 960, 20, 62, 10
SWIFT, SEAM, CORE, SYSTEM, INK, SOFT = "#dbe9fb", "#fdf0d5", "#dcefe1", "#e9e9ee", "#1c2026", "#555b66"

ROWS = [
    (SWIFT, "Programs call", ["Agent", "Batch", "Chain", "Paging", "Endpoint", "Service"], ""),
    (SWIFT, "Wrap and observe", ["Interceptors", "Observers", "Starts"],
     "cache · retry · refresh · limits · logs"),
    (SEAM, "Bridging", ["engine as a Transport", "disk as a CacheStore", "pins, encoders"], "imports C"),
    (SWIFT, "Protocols and values", ["Transport", "Cache", "Request", "Response", "Trust", "Errors"],
     "parameters · JSON · policies"),
    (CORE, "net", ["engine", "pools", "transfers", "downloads", "path"], "one thread, epoll, libcurl"),
    (CORE, "body · store · trust", ["multipart, codings", "crash-safe entries", "pins, evaluation"], ""),
    (CORE, "text · digest · json", ["URLs, queries, charsets", "hashes", "scanner, shapes"], ""),
    (CORE, "base", ["status", "bytes", "clock", "files", "workers"], "hooks for all allocation"),
    (SYSTEM, "The system", ["libcurl", "OpenSSL", "zlib", "kernel"], ""),
]


def text(x, y, words, size=13, anchor="start", fill=INK, weight="normal"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" '
            f'font-weight="{weight}">{words}</text>')


def top(row):
    return 44 + row * (ROW + GAP)


def boxes(row, colour, names):
    left, right = LEFT + 222, WIDTH - 150
    width = (right - left - GAP * (len(names) - 1)) / len(names)
    for index, name in enumerate(names):
        x = left + index * (width + GAP)
        yield (f'<rect x="{x:.1f}" y="{top(row) + 12}" width="{width:.1f}" height="{ROW - 24}" rx="5" fill="#ffffff" '
               f'stroke="#c3c8d0"/>')
        yield text(round(x + width / 2, 1), top(row) + ROW / 2 + 4.5, name, 12, "middle")


def arrow(x, first, last, words):
    y1, y2 = (top(first), top(last) + ROW) if first < last else (top(first) + ROW, top(last))
    yield f'<path d="M{x} {y1}V{y2}" stroke="{SOFT}" stroke-width="2" fill="none" marker-end="url(#head)"/>'
    middle = (y1 + y2) / 2
    yield (f'<text transform="translate({x + 18} {middle}) rotate(90)" font-size="13" text-anchor="middle" '
           f'fill="{SOFT}">{words}</text>')


def picture():
    height = top(len(ROWS)) + 6
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
           f'font-family="sans-serif">')
    yield "<title>The layers of NetKit, and the path of a request</title>"
    yield ('<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           f'<path d="M0 0L8 4L0 8z" fill="{SOFT}"/></marker></defs>')
    yield '<rect width="100%" height="100%" fill="#ffffff"/>'
    yield text(LEFT, 26, "A row may use the rows below it, never those above", 14, fill=SOFT)
    for row, (colour, title, names, note) in enumerate(ROWS):
        yield f'<rect x="{LEFT}" y="{top(row)}" width="{WIDTH - 160}" height="{ROW}" rx="8" fill="{colour}"/>'
        yield text(LEFT + 14, top(row) + (27 if note else 36), title, 14, weight="bold")
        if note:
            yield text(LEFT + 14, top(row) + 45, note, 11, fill=SOFT)
        yield from boxes(row, colour, names)
    yield from arrow(WIDTH - 108, 0, 8, "request: a value, then bytes")
    yield from arrow(WIDTH - 54, 8, 0, "response: events, then a value")
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(picture()))
