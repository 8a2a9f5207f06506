"""Opens pages of the site in headless Chromium. Checks each title, that the console has no errors, and that the search of
the first page finds a page.

usage: pages.py URL PAGE=TITLE..
"""

import re
import subprocess
import sys
import tempfile

SECONDS = 90


def look(url, title):
    with tempfile.TemporaryDirectory(prefix="nk-pages-") as profile:
        result = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={profile}", "--virtual-time-budget=20000", "--enable-logging=stderr", "--log-level=0",
             "--dump-dom", url], capture_output=True, text=True, timeout=SECONDS)
    found = re.search(r"<title[^>]*>([^<]*)</title>", result.stdout)
    if "?q=" in url and '<ol><li><a href="' not in result.stdout:
        return ["the search finds nothing"]
    errors = [
        line for line in result.stderr.split("\n")
        if "CONSOLE" in line and re.search(r"(?i)error|failed|refused|uncaught", line)]
    if found is None or title not in found[1]:
        errors.append(f"the title is {found[1] if found else 'missing'}, not {title}")
    return errors


def main():
    base, failures = sys.argv[1].rstrip("/"), 0
    for word in sys.argv[2:]:
        page, _, title = word.rpartition("=")
        errors = look(f"{base}/{page}", title)
        failures += bool(errors)
        for error in errors:
            print(f"docs: {page}: {error}", file=sys.stderr)
    print(f"docs: {len(sys.argv) - 2 - failures} of {len(sys.argv) - 2} pages open in Chromium")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
