#!/usr/bin/env python3
"""Keeps the documentation true.

  docs.py links          every relative link in a Markdown file leads to a file, and every #anchor to a heading
  docs.py commands       every `reasonscape …` in a Markdown file names a command and options that the program has
  docs.py run            every command in a ```sh block of the README runs (the test command is left to CI)
  docs.py own            the README's commands for your model and your dataset work, with the simulator as the model
  docs.py test-command   prints the one test command that the README names
  docs.py site           builds the documentation site into target/site and checks its links, anchors, external requests, search
                         (from disk, in a browser if REASONSCAPE_CHROMIUM names one) and dark mode
"""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
SECONDS_A_BLOCK = 900


def markdown_files():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def anchor(heading):
    """GitHub's anchor of a heading: its words, lower-case, joined by hyphens."""
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"[*`]|\[|\]\([^)]*\)", "", heading).strip().lower())
    return kept.replace(" ", "-")


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    return {anchor(match) for match in re.findall(r"^#+ (.+)$", without_code(path.read_text()), re.MULTILINE)}


def links():
    broken, count = [], 0
    for path in markdown_files():
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            file, _, heading = target.partition("#")
            linked = (path.parent / file).resolve() if file else path
            if not linked.exists():
                broken.append(f"{path.relative_to(ROOT)}: `{target}`: there is no such file")
            elif heading and linked.suffix == ".md" and heading not in anchors(linked):
                broken.append(f"{path.relative_to(ROOT)}: `{target}`: there is no such heading")
    for line in broken:
        print(f"error: {line}", file=sys.stderr)
    print(f"{count} links in {len(markdown_files())} files, {len(broken)} broken")
    return 1 if broken else 0


def named_commands(text):
    """Every command that a page names: in blocks of code, a line may go on after a backslash, and in `code`."""
    for block in re.findall(r"^```(?:text|sh)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            found = re.match(r"(?:\$ )?(?:cargo run (?:--quiet )?-- |reasonscape )(.*)", line.strip())
            if found:
                yield found[1]
    for code in re.findall(r"`([^`\n]+)`", without_code(text)):
        if code.startswith("reasonscape "):
            yield code.removeprefix("reasonscape ")


def help_of(program, words, known):
    """The help of the longest command that the words begin with, and how many words that takes."""
    for length in range(len(words), -1, -1):
        path = tuple(words[:length])
        if path not in known:
            done = subprocess.run([program, *path, "--help"], capture_output=True, text=True)
            known[path] = done.stdout if done.returncode == 0 and f"Usage: {' '.join(('reasonscape', *path))} " in done.stdout else None
        if known[path]:
            return known[path], length
    return "", 0


def commands():
    program = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "reasonscape"
    wrong, count, known = [], 0, {}
    for path in markdown_files():
        if path.name in ("CHANGELOG.md", "cli.md"):
            continue
        for command in named_commands(path.read_text()):
            words = re.split(r"\s+", re.split(r" [|>&#]|;", command)[0].strip())
            plain = [word for word in words if re.fullmatch(r"[a-z][a-z-]*", word)]
            leading = plain[: next((i for i, word in enumerate(words) if word not in plain), len(words))]
            if not leading:
                continue
            count += 1
            text, length = help_of(program, leading[:2], known)
            # `tasks` takes the name of a task or a subcommand.
            only_commands = "\nCommands:\n" in text and "\nArguments:\n" not in text
            if length == 0 or (only_commands and len(leading) > length):
                wrong.append(f"{path.relative_to(ROOT)}: `reasonscape {command}`: there is no such command")
                continue
            for option in re.findall(r"(?<!\S)(--[a-z][a-z-]*)", " ".join(words)):
                if option not in text:
                    wrong.append(f"{path.relative_to(ROOT)}: `reasonscape {command}`: there is no `{option}`")
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    print(f"{count} commands, {len(wrong)} wrong")
    return 1 if wrong else 0


def blocks():
    return re.findall(r"^```sh\n(.*?)^```", README.read_text(), flags=re.MULTILINE | re.DOTALL)


def is_test_command(block):
    return block.startswith("cargo test")


def test_command():
    commands = [block.strip() for block in blocks() if is_test_command(block)]
    if len(commands) != 1:
        print(f"error: README.md names {len(commands)} test commands in ```sh blocks, expected one", file=sys.stderr)
        return 1
    print(commands[0])
    return 0


def run():
    for block in blocks():
        if is_test_command(block):
            continue
        print("$ " + block.strip().replace("\n", "\n  "), flush=True)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=ROOT, timeout=SECONDS_A_BLOCK)
        if done.returncode != 0:
            print(f"error: README.md: this block ended with exit code {done.returncode}", file=sys.stderr)
            return 1
    return 0


def own():
    """Installs the program and runs the README's commands for your model and your dataset."""
    section = README.read_text().split("## Evaluate your model", 1)[1].split("## What makes it different", 1)[0]
    install = re.search(r"`(cargo install [^`]+)`", section)[1]
    blocks = re.findall(r"^```text\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    lines = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        print(f"$ {install}", flush=True)
        # In the dev profile, which shares the build that the tests use; the release build belongs to the benchmarks.
        subprocess.run([*install.split(), "--debug", "--root", folder, "--quiet"], cwd=ROOT, check=True)
        program = home / "bin" / "reasonscape"
        questions = home / "questions.jsonl"
        rows = [json.loads(line) for line in (ROOT / "examples/datasets/word-problems.jsonl").read_text().splitlines()]
        plain = [
            {"id": str(number), "input": row["question"], "target": row["answer"].split("#### ")[-1]}
            for number, row in enumerate(rows, 1)
        ]
        questions.write_text("".join(json.dumps(row) + "\n" for row in plain))
        shutil.copy(ROOT / "examples/answers.jsonl", home / "answers.jsonl")
        simulate = [program, "simulate", "--port", "0", "--suite", "quick", "--dataset", questions, "--quiet"]
        simulator = subprocess.Popen(simulate, stdout=subprocess.PIPE, text=True)
        try:
            base_url = simulator.stdout.readline().strip()
            for line in lines:
                print(f"$ {line}", flush=True)
                command = line.replace("my-model", "sim-strong").replace("http://127.0.0.1:8000/v1", base_url).split()
                command[0] = program
                if command[1] == "serve":
                    serve([*command, "--port", "0"], home)
                    continue
                subprocess.run(command, cwd=home, check=True, timeout=SECONDS_A_BLOCK)
                study = home / "my-study" / "study.toml"
                if command[1] == "init":
                    # The values that the README leaves to the reader.
                    text = re.sub(r"^model = .*$", 'model = "sim-strong"', study.read_text(), flags=re.MULTILINE)
                    study.write_text(re.sub(r"^base_url = .*$", f'base_url = "{base_url}"', text, flags=re.MULTILINE))
        finally:
            simulator.terminate()
            simulator.wait()
    return 0


def serve(command, home):
    """Starts it, reads its first page and ends it."""
    server = subprocess.Popen(command, cwd=home, stdout=subprocess.PIPE, text=True)
    try:
        page = urllib.request.urlopen(server.stdout.readline().strip(), timeout=60).read().decode()
        assert "<h1>Leaderboard</h1>" in page, page
    finally:
        server.terminate()
        assert server.wait(timeout=60) == 0


class SitePage(html.parser.HTMLParser):
    """The ids and links of a built page, and the files that a browser loads with it."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(filter(None, (values.get("id"), values.get("name") if tag == "a" else None)))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(values.get("href", ""))
        elif tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.loaded.append(values["src"])


def site():
    """Builds the site with MkDocs in strict mode and checks the HTML: links, anchors, and that nothing is loaded from elsewhere."""
    target = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
    venv, built = target / "docs-venv", target / "site"
    requirements = ROOT / "docs" / "requirements.txt"
    stamp = venv / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != requirements.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", requirements], check=True)
        shutil.copy(requirements, stamp)
    # Material prints a notice on MkDocs 2 unless this is set.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    build = [venv / "bin" / "mkdocs", "build", "--strict", "--quiet", "--clean", "--site-dir", built]
    if subprocess.run(build, cwd=ROOT, env=environment).returncode != 0:
        return 1
    pages = {path: SitePage(path.read_text()) for path in built.rglob("*.html")}
    broken, count = [], 0
    for path, page in pages.items():
        for reference in [*page.links, *page.loaded]:
            parts = urllib.parse.urlsplit(reference)
            if parts.scheme or parts.netloc:
                if reference in page.loaded and parts.scheme != "data":
                    broken.append(f"{path.relative_to(built)}: loads `{reference}` from another host")
                continue
            # The error page is served under any path, so its links are absolute.
            if path.name == "404.html":
                continue
            count += 1
            linked = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            linked = linked / "index.html" if linked.is_dir() else linked
            fragment = urllib.parse.unquote(parts.fragment)
            if not linked.exists():
                broken.append(f"{path.relative_to(built)}: `{reference}`: no such file")
            elif fragment and linked in pages and fragment not in pages[linked].ids and not fragment.startswith("__"):
                broken.append(f"{path.relative_to(built)}: `{reference}`: no such anchor")
    for style in built.rglob("*.css"):
        for address in re.findall(r"""(?:url\(|@import)\s*["']?(https?:[^"')]+)""", style.read_text()):
            broken.append(f"{style.relative_to(built)}: loads `{address}` from another host")
    broken += search_problems(built)
    dark = 'data-md-color-media="(prefers-color-scheme: dark)" data-md-color-scheme="slate"'
    if dark not in (built / "index.html").read_text():
        broken.append("index.html: no dark color scheme")
    for line in broken:
        print(f"error: {line}", file=sys.stderr)
    print(f"{len(pages)} pages in {built}, {count} links, {len(broken)} problems")
    return 1 if broken else 0


# What a reader searches for, and a page that has it in a heading.
SEARCHES = {
    "confidence interval": "coverage.html",
    "resume": "running.html",
    "rate limit": "running.html",
    "pass@k": "running.html",
    "paired test": "comparing.html",
}


def search_problems(built):
    """Searches the index that pages load from disk, and the built site in a browser."""
    index = (built / "search" / "search_index.js").read_text()
    entries = json.loads(index.removeprefix("var __index = "))["docs"]
    found = []
    for words, page in SEARCHES.items():
        titles = [entry["title"].lower() for entry in entries if entry["location"].startswith(page)]
        if not any(words in title for title in titles):
            found.append(f"search: no heading of {page} has `{words}`")
    browser = os.environ.get("REASONSCAPE_CHROMIUM")
    if not browser:
        return found
    for query, is_found in (("confidence", True), ("zzzxqy", False)):
        with tempfile.TemporaryDirectory() as profile:
            headless = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
            address = f"{(built / 'tutorial.html').as_uri()}?q={query}"
            done = subprocess.run(
                [*headless, "--virtual-time-budget=20000", "--dump-dom", address], capture_output=True, text=True, timeout=120
            )
        count = len(re.findall(r'class="md-search-result__link', done.stdout))
        if is_found != (count > 0):
            found.append(f"search from disk: {count} results for `{query}`")
    return found


if __name__ == "__main__":
    actions = {"links": links, "commands": commands, "run": run, "own": own, "test-command": test_command, "site": site}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        sys.exit(__doc__)
    sys.exit(actions[sys.argv[1]]())
