"""Runs the code blocks of documents and checks their links.

usage: blocks.py run DOCUMENT..      sh blocks against a server of nk, C blocks compiled and run
       blocks.py links DOCUMENT..    files and anchors exist, other links are well-formed
       blocks.py swift PROGRAM       the Swift blocks, which script/docs has compiled to a program

A hidden comment before a block provides what the block needs:
    <!-- file: NAME          a file in the folder that the document's blocks share, beside those of Tests/Docs/files
    TEXT
    -->
    <!-- elsewhere: WHY -->  the next block is not run; the reason is printed
    <!-- in the sources -->  the next block runs in the repository; its HOME is the folder of the other blocks
A `text` block after an `sh` block is the expected standard output of the latter. "…" in a line matches anything.
The environment variables NK and NETCORE name the program nk and the build folder of the C core.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Languages with checked blocks: script/docs checks swift, this program the others.
KNOWN = {"sh", "text", "c", "swift"}
SECONDS = 120


class Fault(Exception):
    pass


def blocks(path):
    """Yields (line, language, text, notes) of each fenced block; notes are the comments before it."""
    notes, fence, start, text, comment = [], None, 0, [], None
    before = ""
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if fence is not None:
            if line == "```":
                yield start, fence, "\n".join(text) + "\n", notes
                fence, notes = None, []
            else:
                text.append(line)
        elif comment is not None:
            if line == "-->":
                notes.append("\n".join(comment))
                comment = None
            else:
                comment.append(line)
        elif line.startswith("```"):
            fence, start, text = line[3:], number, []
            if fence not in KNOWN:
                raise Fault(f"{path}:{number}: nothing checks a block of '{fence}'")
        elif line.startswith("<!-- ") and line.endswith(" -->"):
            notes.append(line[5:-4])
        elif line.startswith("<!-- "):
            comment = [line[5:]]
        elif line.startswith("    ") and before == "":
            raise Fault(f"{path}:{number}: a block without a fence")
        elif line:
            notes = []
        before = line


def serve(nk, folder, *options):
    process = subprocess.Popen(
        [nk, "mock", "--silent", *options, str(ROOT / "Tests/Docs/server.json")], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip().rstrip("/")


def matches(wanted, got):
    pattern = ".*".join(re.escape(part) for part in wanted.split("…"))
    return re.fullmatch(pattern, got) is not None


class Runner:
    def __init__(self, document, nk, netcore):
        self.document, self.netcore = document, netcore
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nk-docs-"))
        self.plain, self.url = serve(nk, self.folder)
        authority = self.folder / "authority.pem"
        self.secure, secure = serve(nk, self.folder, "--tls", str(authority))
        self.secure_host = secure.removeprefix("https://")
        self.environment = {
            "PATH": f"{os.path.dirname(nk)}:{os.environ['PATH']}", "HOME": str(self.folder), "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }
        self.output = None
        self.count = 0
        for file in (ROOT / "Tests/Docs/files").iterdir():
            (self.folder / file.name).write_text(self.here(file.read_text()))

    def close(self):
        for process in (self.plain, self.secure):
            process.terminate()
            process.wait()
        shutil.rmtree(self.folder)

    def here(self, text):
        """Replaces the example's hosts by servers on this machine."""
        text = re.sub(r"https?://(?:[a-z]+\.)?example\.com", lambda _: self.url, text)
        return re.sub(r"\bexample\.com\b", lambda _: self.secure_host, text)

    def fail(self, line, what, result=None):
        told = "" if result is None else f"\n{result.stdout}{result.stderr}"
        raise Fault(f"{self.document}:{line}: {what}{told}")

    def run(self, line, language, text, notes):
        for note in notes:
            if note.startswith("file: "):
                name, _, content = note[6:].partition("\n")
                (self.folder / name).write_text(self.here(content) + "\n")
        reasons = [note for note in notes if note.startswith("elsewhere: ")]
        if reasons:
            print(f"{self.document}:{line}: {reasons[0]}")
        elif language == "sh":
            self.run_shell(line, text, "in the sources" in notes)
        elif language == "text":
            self.compare(line, text)
        elif language == "c":
            self.run_c(line, text)

    def run_shell(self, line, text, is_in_sources):
        folder = ROOT if is_in_sources else self.folder
        result = subprocess.run(
            ["sh", "-euc", self.here(text)], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS)
        if result.returncode != 0:
            self.fail(line, f"the block ends with {result.returncode}", result)
        self.output = result.stdout
        self.count += 1

    def compare(self, line, text):
        got = self.output.rstrip("\n").split("\n") if self.output is not None else []
        wanted = self.here(text).rstrip("\n").split("\n")
        if len(got) != len(wanted) or not all(matches(a, b) for a, b in zip(wanted, got)):
            self.fail(line, "the block before prints this instead:\n" + "\n".join(got))
        self.output = None

    def run_c(self, line, text):
        source = self.folder / "quickstart.c"
        source.write_text(text)
        program = self.folder / "program"
        compiled = subprocess.run(
            ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", source, f"-L{self.netcore}", "-lnetcore",
             f"-Wl,-rpath,{self.netcore}", "-o", program], capture_output=True, text=True)
        if compiled.returncode != 0:
            self.fail(line, "the block does not compile", compiled)
        result = subprocess.run(
            [program, self.url + "/large.iso"], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=SECONDS)
        if result.returncode != 0:
            self.fail(line, f"the program ends with {result.returncode}", result)
        self.output = result.stdout
        self.count += 1


def run(documents):
    nk, netcore = os.path.abspath(os.environ["NK"]), os.path.abspath(os.environ["NETCORE"])
    for name in documents:
        runner = Runner(pathlib.Path(name), nk, netcore)
        try:
            for line, language, text, notes in blocks(runner.document):
                runner.run(line, language, text, notes)
            print(f"docs: {runner.count} blocks of {name} run")
        finally:
            runner.close()


def run_swift(words):
    """Runs the program of the Swift blocks with the URL of a server and a folder. It prints each block's position."""
    nk = os.path.abspath(os.environ["NK"])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nk-docs-"))
    process, url = serve(nk, folder)
    try:
        (folder / "a.jpg").write_text("no picture")
        result = subprocess.run(
            [os.path.abspath(words[0]), url, folder], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
        if result.returncode != 0 or "docs: failed: " in result.stdout:
            raise Fault(f"a Swift block fails; the program ends with {result.returncode}:\n{result.stdout}")
        print(f"docs: {result.stdout.count('docs: at ')} Swift blocks run")
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def prose(path):
    """Returns the text without fenced blocks and code spans."""
    text, in_fence = [], False
    for line in path.read_text().split("\n"):
        if line.startswith("```"):
            in_fence = not in_fence
            line = ""
        text.append("" if in_fence or line.startswith("    ") else re.sub(r"`[^`]*`", "``", line))
    return text


def anchors(path):
    """Returns the anchors of the headings, by GitHub's rules."""
    made, counts = set(), {}
    in_fence = False
    for line in path.read_text().split("\n"):
        in_fence ^= line.startswith("```")
        if not in_fence and re.match(r"#+ ", line):
            title = line.lstrip("#").strip().lower().replace("`", "")
            title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
            slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            count = counts.get(slug, 0)
            counts[slug] = count + 1
            made.add(slug if count == 0 else f"{slug}-{count}")
    return made


def links(documents):
    faults, count = [], 0
    for name in documents:
        path = pathlib.Path(name)
        for number, line in enumerate(prose(path), 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", line) + re.findall(r"<img[^>]*src=\"([^\"]+)\"", line):
                count += 1
                if re.match(r"[a-z]+:", target):
                    if not re.fullmatch(r"(https://[a-z0-9.-]+\.[a-z]+(/[^\s]*)?|mailto:[^\s@]+@[^\s@]+|doc:\w+)", target):
                        faults.append(f"{name}:{number}: {target} is no link")
                    continue
                file, _, anchor = target.partition("#")
                there = path if not file else path.parent / file
                if not there.exists():
                    faults.append(f"{name}:{number}: {target} is not there")
                elif anchor and anchor not in anchors(there):
                    faults.append(f"{name}:{number}: {there} has no place #{anchor}")
    if faults:
        raise Fault("\n".join(faults))
    print(f"docs: {count} links of {len(documents)} documents hold")


if __name__ == "__main__":
    try:
        {"run": run, "links": links, "swift": run_swift}[sys.argv[1]](sys.argv[2:])
    except Fault as fault:
        print(f"docs: {fault}", file=sys.stderr)
        sys.exit(1)
