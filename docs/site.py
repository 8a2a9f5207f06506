#!/usr/bin/env python3
"""Makes pages of the documents: docs/site.py FOLDER DOCUMENT..; links between documents become links between pages."""

import pathlib
import re
import shutil
import subprocess
import sys

STYLE = """
body{margin:0;font:16px/1.55 system-ui,sans-serif;color:#1c2026;background:#fff;display:flex}
nav{flex:0 0 13rem;padding:1.5rem 1rem;background:#f4f6f8;min-height:100vh;box-sizing:border-box;font-size:14px}
nav a{display:block;padding:.15rem 0}nav b{display:block;margin-top:1rem}
main{max-width:68rem;padding:1rem 2rem 4rem;min-width:0}a{color:#1b5fc4;text-decoration:none}
pre{background:#f4f6f8;padding:.8rem 1rem;overflow:auto;border-radius:6px;font-size:13.5px;line-height:1.45;tab-size:4}
code{font-family:ui-monospace,monospace;font-size:.9em}pre code{font-size:inherit}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #d9dde3;padding:.3rem .6rem;text-align:left}
img{max-width:100%}h1,h2,h3{line-height:1.25}
@media(max-width:48rem){body{flex-direction:column}nav{order:1;flex:none;min-height:0}}
"""
GUIDES = ["README.md", "docs/cookbook.md", "docs/nk.md", "docs/errors.md", "ARCHITECTURE.md"]


def page_of(document):
    return "index.html" if document == "README.md" else str(pathlib.PurePosixPath(document).with_suffix(".html"))


def slug(title):
    title = re.sub(r"<[^>]*>", "", title).replace("&amp;", "").replace("&quot;", "").lower()
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def body_of(document, known):
    html = subprocess.run(
        ["cmark-gfm", "-e", "table", "-e", "autolink", document], check=True, capture_output=True, text=True).stdout
    folder = pathlib.PurePosixPath(document).parent

    def link(match):
        target = match[1]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        file, mark, anchor = target.partition("#")
        place = str(pathlib.Path(folder / file).resolve().relative_to(pathlib.Path.cwd()))
        if place in known:
            up = "../" * page_of(document).count("/")
            return f'href="{up}{page_of(place)}{mark}{anchor}"'
        return f'href="{"../" * page_of(document).count("/")}files/{place}"'

    html = re.sub(r'href="([^"]*)"', link, html)
    return re.sub(r"<h([1-6])>(.*?)</h\1>", lambda m: f'<h{m[1]} id="{slug(m[2])}">{m[2]}</h{m[1]}>', html)


def title_of(document):
    for line in pathlib.Path(document).read_text().split("\n"):
        if line.startswith("# "):
            return re.sub(r"[`*]", "", line[2:])
    return document


def navigation(document, documents, site):
    up = "../" * page_of(document).count("/")
    pages = [name for name in documents if name not in GUIDES and "NetKit.docc" not in name]
    sections = {"Mechanisms": "docs/", "Languages": "docs/languages/", "Benchmarks": "docs/benchmarks/"}

    def section_of(name):
        folder = name[:name.rfind("/") + 1]
        return next((title for title, place in sections.items() if place == folder), "Project")

    def rows(names):
        return "".join(f'<a href="{up}{page_of(name)}">{title_of(name)}</a>' for name in names if name in documents)

    references = [("swift/documentation/netkit/index.html", "Swift"), ("c/index.html", "C")]
    made = "".join(f'<a href="{up}{place}">{name}</a>' for place, name in references if (site / place).exists())
    listed = "".join(
        f"<b>{title}</b>{rows(name for name in pages if section_of(name) == title)}" for title in [*sections, "Project"])
    return f"<nav>{rows(GUIDES)}<b>Reference</b>{made}{listed}</nav>"


def main():
    site, documents = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for document in documents:
        if "NetKit.docc" in document:
            continue
        page = site / page_of(document)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title_of(document)} · NetKit</title>\n'
            '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
            f"<style>{STYLE}</style></head>\n<body>"
            f"{navigation(document, documents, site)}<main>\n{body_of(document, documents)}</main></body></html>\n")
    # What pages link to beside pages: headers, sources, pictures.
    for page in list(site.glob("*.html")) + list((site / "docs").rglob("*.html")) + list((site / "Examples").rglob("*.html")):
        for place in re.findall(r'href="(?:\.\./)*files/([^"#]*)', page.read_text()):
            target = site / "files" / place
            if pathlib.Path(place).is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(place, target)
        for picture in re.findall(r'<img src="([^":]*)"', page.read_text()):
            source = (page.parent / picture).resolve().relative_to(site.resolve())
            (site / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, site / source)


if __name__ == "__main__":
    main()
