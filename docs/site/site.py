#!/usr/bin/env python3
"""Converts the documents to HTML pages: docs/site/site.py FOLDER DOCUMENT..

Links between documents become links between pages. GROUPS gives the order of the pages; a document that it does not name
is an error, so that a new page cannot be forgotten.
"""

import fnmatch
import html as markup
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

HERE = pathlib.Path(__file__).parent
GROUPS = {
    "Start": ["README.md", "docs/cookbook.md", "docs/nk.md", "docs/testing.md", "docs/comparison.md", "Examples/swift/README.md"],
    "How to": [
        "docs/requests.md", "docs/parameters.md", "docs/multipart.md", "docs/json.md", "docs/json-schema.md", "docs/serializers.md",
        "docs/interceptors.md", "docs/cache.md", "docs/shared.md", "docs/trust.md", "docs/downloads.md", "docs/uploads.md",
        "docs/batch-and-chain.md", "docs/events.md", "docs/reachability.md", "docs/starts.md", "docs/operations.md",
        "docs/cookies.md", "docs/c-cache.md", "docs/websocket.md", "docs/http3.md", "docs/cjson.md", "docs/xml.md", "docs/images.md", "docs/adapters.md", "docs/languages/*.md",
        "bindings/*/README.md", "docs/debian.md"],
    "Reference": ["docs/errors.md", "docs/limits.md", "docs/c-interface.md", "docs/platforms.md", "docs/parity.md", "CHANGELOG.md"],
    "Inside": [
        "ARCHITECTURE.md", "docs/engine.md", "docs/libcurl.md", "docs/private-files.md", "docs/dependencies.md",
        "docs/suites.md", "CONTRIBUTING.md", "SECURITY.md"],
    "Benchmarks": ["docs/benchmarks/*.md"],
}
FOLDED = {"Benchmarks"}


def page_of(document):
    return "index.html" if document == "README.md" else str(pathlib.PurePosixPath(document).with_suffix(".html"))


def root_of(document):
    return "../" * page_of(document).count("/")


def slug(title):
    title = re.sub(r"<[^>]*>", "", title).replace("&amp;", "").replace("&quot;", "").lower()
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def title_of(document):
    for line in pathlib.Path(document).read_text().split("\n"):
        if line.startswith("# "):
            return re.sub(r"[`*]", "", line[2:])
    return document


def coloured(match):
    """A code block with the colours of its language."""
    code = markup.unescape(match[2])
    lexer = get_lexer_by_name({"text": "text", "sh": "console" if code.startswith("$ ") else "sh"}.get(match[1], match[1]))
    lines = pygments.highlight(code, lexer, HtmlFormatter(nowrap=True))
    return f'<pre><code class="highlight">{lines}</code></pre>'


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
            return f'href="{root_of(document)}{page_of(place)}{mark}{anchor}"'
        return f'href="{root_of(document)}files/{place}"'

    html = re.sub(r'<pre><code class="language-(\w+)">(.*?)</code></pre>', coloured, html, flags=re.S)
    html = re.sub(r'href="([^"]*)"', link, html)
    return re.sub(r"<h([1-6])>(.*?)</h\1>", lambda m: f'<h{m[1]} id="{slug(m[2])}">{m[2]}</h{m[1]}>', html)


def sections_of(document, body):
    """What the search finds: one row for each heading, with the text below it."""
    pieces = re.split(r'<h[123] id="([^"]*)">(.*?)</h[123]>', body)
    rows = []
    for number in range(1, len(pieces), 3):
        anchor, title, content = pieces[number:number + 3]
        text = " ".join(markup.unescape(re.sub(r"<[^>]*>", " ", content)).split())
        heading = markup.unescape(re.sub(r"<[^>]*>", "", title))
        if number > 1:
            heading = f"{title_of(document)}: {heading}"
        rows.append([page_of(document), "" if number == 1 else anchor, heading, text])
    return rows


def grouped(documents):
    groups = {
        name: [one for pattern in patterns for one in documents if fnmatch.fnmatch(one, pattern)]
        for name, patterns in GROUPS.items()}
    forgotten = set(documents) - {one for pages in groups.values() for one in pages}
    if forgotten:
        sys.exit(f"docs: no group of docs/site/site.py names {', '.join(sorted(forgotten))}")
    return groups


def navigation(document, groups, site):
    root = root_of(document)

    def row(name):
        current = ' aria-current="page"' if name == document else ""
        title = "NetKit" if name == "README.md" else title_of(name)
        return f'<a href="{root}{page_of(name)}"{current}>{title}</a>'

    made = [("swift/documentation/netkit/index.html", "Swift: every symbol"), ("c/index.html", "C: every symbol")]
    lists = []
    for title, names in groups.items():
        rows = "".join(row(name) for name in names)
        if title == "Reference":
            rows += "".join(f'<a href="{root}{place}">{name}</a>' for place, name in made if (site / place).exists())
        if title in FOLDED:
            is_open = " open" if document in names else ""
            lists.append(f"<details{is_open}><summary>{title}</summary>{rows}</details>")
        else:
            lists.append(f"<b>{title}</b>{rows}")
    return (
        f'<nav data-root="{root}"><input type="search" placeholder="Search all pages" aria-label="Search all pages"><ol></ol>\n'
        f'<details class="pages" open><summary>All pages</summary>{"".join(lists)}</details></nav>')


def write_page(site, document, groups, body):
    page, root = site / page_of(document), root_of(document)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title_of(document)} · NetKit</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f'<link rel="stylesheet" href="{root}style.css"></head>\n<body>'
        f"{navigation(document, groups, site)}<main>\n{body}</main>"
        # On a narrow screen the list of pages begins closed.
        '<script>if (matchMedia("(max-width: 48rem)").matches) document.querySelector(".pages").open = false</script>'
        f'<script src="{root}index.js"></script><script src="{root}search.js"></script></body></html>\n')


def copy_linked_files(site, pages):
    """What pages link to beside pages: headers, sources, pictures."""
    for page in pages:
        for place in re.findall(r'href="(?:\.\./)*files/([^"#]*)', page.read_text()):
            target = site / "files" / place
            if pathlib.Path(place).is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(place, target)
        for picture in re.findall(r'<img src="([^":]*)"', page.read_text()):
            source = (page.parent / picture).resolve().relative_to(site.resolve())
            (site / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, site / source)


def main():
    site, documents = pathlib.Path(sys.argv[1]), [one for one in sys.argv[2:] if "NetKit.docc" not in one]
    groups, sections = grouped(documents), []
    for document in documents:
        body = body_of(document, documents)
        sections += sections_of(document, body)
        write_page(site, document, groups, body)
    (site / "index.js").write_text(f"const sections = {json.dumps(sections, ensure_ascii=False)};\n")
    (site / "style.css").write_text(
        (HERE / "style.css").read_text() + HtmlFormatter(style="default", nobackground=True).get_style_defs(".highlight") + "\n")
    shutil.copy(HERE / "search.js", site / "search.js")
    copy_linked_files(site, [site / page_of(document) for document in documents])


if __name__ == "__main__":
    main()
