#!/usr/bin/env python3
"""Keeps the figures of the demo study in the documentation equal to what the program prints.

    figures.py check     runs the demo twice and compares tables and sentences with it; exit code 1 where they differ
    figures.py update    writes the new figures into the pages; a sentence that isn't true anymore stays an error

A table is found by its heading and its columns, a sentence by its words; only the figures in them are replaced.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "reasonscape"
# The column that a terminal of 80 columns hides is part of the README's table.
WIDTH = "132"
NAME = r"([\w@-]+)"
NUMBER = r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"


class Study:
    """The demo study, and the commands that read it. Every command runs once."""

    def __init__(self, home):
        self.home, self.done = home, {}
        self.first, self.second = self.run("demo"), self.run("demo", repeat=True)

    def run(self, command, repeat=False):
        key = (command, repeat)
        if key not in self.done:
            words = command.split()
            # `demo` and `analyze X` take the study; the other commands describe the program.
            if words[0] == "demo":
                words[1:1] = ["--dir", "reasonscape-demo"]
            elif words[0] == "analyze":
                words.insert(2, "reasonscape-demo")
            done = subprocess.run(
                [PROGRAM, *words], cwd=self.home, env={**os.environ, "COLUMNS": WIDTH}, capture_output=True, text=True
            )
            if done.returncode != 0:
                sys.exit(f"error: `reasonscape {command}` ended with {done.returncode}: {done.stderr}")
            self.done[key] = done
        return self.done[key]

    def json(self, command):
        return json.loads(self.run(f"{command} --format json").stdout)

    def rows(self, command):
        """The rows of a command's Markdown table, by column."""
        lines = [line for line in self.run(f"{command} --format markdown").stdout.splitlines() if line.startswith("|")]
        header, _, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return [dict(zip(header, row)) for row in body]

    def note(self, command, pattern):
        """What the pattern captures in a note of a command."""
        notes = self.run(command).stderr
        found = re.search(pattern, notes)
        if not found:
            sys.exit(f"error: `reasonscape {command}` has no note like `{pattern}`: {notes}")
        return found.groups()


def whole(value):
    return f"{value:,.0f}"


def percent(part, of):
    return f"{100 * part / of:.0f}"


def signed(value, digits=0):
    """As the tables print it: a negative zero has no sign."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def figures(study):
    """Sentences: page, words with `{}` for a number and `{w}` for a name, and the values."""
    board = {row["name"]: row for row in study.json("demo")["leaderboard"]}
    models, requests = len(board), sum(task["n"] for row in board.values() for task in row["tasks"].values())
    total = {
        name: {key: sum(task[key] for task in row["tasks"].values()) for key in ("n", "n_e", "n_u", "n_t", "g")}
        for name, row in board.items()
    }
    guessing, truncating, strong = total["guessing"], total["truncating"], total["strong"]
    knew = (guessing["n_e"] - guessing["g"]) / (guessing["n_u"] - guessing["g"])
    cached, planned = study_cached(study)
    suite = study.json("suite count r12")
    generators = len(study.json("tasks"))

    pair = study.json("analyze compare cheap specialist")
    results = [task["verdict"] for task in pair["tasks"]]
    better, worse = results.count("better"), results.count("worse")
    scores = [whole(pair["reason_score"][side]["estimate"]) for side in "ab"]
    difference = [signed(pair["reason_score"][key]) for key in ("difference", "ci_low", "ci_high")]
    p = f"{pair['test']['p']:.2f}"
    lead = study.json("analyze compare strong truncating")["reason_score"]

    yield "README.md", "sends each one {} problems over HTTP", [whole(requests / models)]
    yield "README.md", "suite `r12` covers {} settings of {} with {} problems", [
        whole(suite["points"]), str(len(suite["tasks"])), whole(suite["tests"])
    ]
    yield "README.md", "and another seed gives {} new ones", [whole(suite["tests"])]
    yield "README.md", "{} generators with difficulty parameters", [str(generators)]
    yield "README.md", "| {} generators; your datasets |", [str(generators)]
    yield "README.md", "model gets {} % of its answers correct; corrected for the options it could guess from, it knew {} %", [
        percent(guessing["n_e"], guessing["n_u"]), f"{100 * knew:.0f}"
    ]
    yield "README.md", "hits the token limit in {} % of its trials. Of the responses it completed, {} % are correct; of all, {} %", [
        percent(truncating["n_t"], truncating["n"]),
        percent(truncating["n_e"], truncating["n_u"]),
        percent(truncating["n_e"], truncating["n"]),
    ]
    yield "README.md", "it sends {} of its {} requests", [whole(planned - cached), whole(planned)]
    yield "README.md", "differ significantly on {} of {} tasks ({} and {} in favor of each);", [
        str(better + worse), str(len(results)), str(better), str(worse)
    ]
    yield "README.md", "their scores, {} and {}, differ by {} (95 % CI {} to {}, p = {})", [*scores, *difference, p]
    low, high = (whole(board["strong"]["reason_score"][key]) for key in ("ci_low", "ci_high"))
    yield "README.md", "`{} to {}` is its 95 % confidence interval", [low, high]
    yield "README.md", "published ReasonScore v2, `{} ± {}`", [whole(board["strong"]["score"][key]) for key in ("center", "margin")]
    coverage = (ROOT / "docs" / "coverage.md").read_text()
    designs, low, high = re.search(rf"Over {NUMBER} designs the confidence interval covers {NUMBER} to {NUMBER} %", coverage).groups()
    yield "README.md", "({} to {} in {} simulated designs)", [low, high, designs]
    yield "docs/original-reasonscape.md", "{} points (`reasonscape suite count r12`)", [whole(suite["points"])]
    yield "docs/original-reasonscape.md", "generators of our own, {} points |", [whole(suite["points"])]

    yield "docs/tutorial.md", "{} % of its responses are truncated. Of the others {} % are correct (`strong`: {} %), but its score is {} instead of {}", [
        percent(truncating["n_t"], truncating["n"]),
        percent(truncating["n_e"], truncating["n_u"]),
        percent(strong["n_e"], strong["n_u"]),
        *(whole(board[name]["reason_score"]["estimate"]) for name in ("truncating", "strong")),
    ]

    yield "docs/analyze.md", "`strong` is better than `truncating` by {} (95 % CI {} to {})", [
        signed(lead[key]) for key in ("difference", "ci_low", "ci_high")
    ]
    yield "docs/analyze.md", "`cheap` and `specialist` differ by {} ({} to {}, p = {})", [*difference, p]
    similar = study.json("analyze similarity")
    near = min(similar["members"], key=lambda member: member["nearest"]["distance"])
    other = next(member["name"] for member in similar["members"] if member["eval_id"] == near["nearest"]["eval_id"])
    yield "docs/analyze.md", "`{w}` and `{w}` are nearest, at {}, with {} by chance: {} models, {} groups", [
        *sorted([near["name"], other]),
        f"{near['nearest']['distance']:.3f}",
        f"{near['nearest']['by_chance']:.3f}",
        str(models),
        str(len({member["group"] for member in similar["members"]})),
    ]
    yield "docs/analyze.md", "For `sort` in the demo: {} dB, p = {},", list(
        study.note("analyze spectrum --filter base_task=sort", rf"no significant difference: distance {NUMBER} dB.*p = {NUMBER}\)")
    )
    yield "docs/analyze.md", (
        "For `strong`: beyond {} tokens accuracy falls by {} points ({} to {}), {} % of {} answers against {} % of {}"
    ), list(study.note("analyze hazard --by eval", (
        rf"strong: accuracy drops beyond {NUMBER} tokens, by {NUMBER} percentage points \({NUMBER} to {NUMBER}\): "
        rf"{NUMBER} % of {NUMBER} answers against {NUMBER} % of {NUMBER}"
    )))
    limit = rf"use {NUMBER} tokens per trial instead of {NUMBER}; outcomes beyond {NUMBER} tokens are unknown, {NUMBER} trials"
    yield "docs/analyze.md", (
        "`specialist` would need {} instead of {} tokens per trial. Beyond {} tokens nothing is known: {} of its trials"
    ), list(study.note("analyze tokens --by eval", rf"specialist: .*{limit}"))
    rows = study.json("analyze compression --by eval")["rows"]
    lengths = [row["equal_length_effect"]["length_correlation"] for row in rows]
    yield "docs/analyze.md", "correlate with the logarithm of the length by {} to {} (`length_correlation`)", [
        f"{max(lengths):.2f}", f"{min(lengths):.2f}"
    ]
    interval = rf"{NUMBER} \({NUMBER} to {NUMBER}\)"
    effect = study.note("analyze compression --by eval", (
        rf"strong: at equal length, correct answers don't differ significantly in bits per token, {NUMBER} % \({NUMBER} to {NUMBER}\)"
        rf"; not adjusted for length: delta {interval}"
    ))
    yield "docs/analyze.md", (
        'For `strong` delta is {} ({} to {}), "a large effect"; at equal length correct responses differ by {} % ({} to {})'
    ), [*effect[3:], *effect[:3]]
    loop = study.note(
        "analyze compression --by eval", rf'loop: {NAME} on {NAME} .*?: {NUMBER} bits per token over {NUMBER} tokens .*?: "([^"]*)"'
    )
    yield "docs/analyze.md", '`{w}` on `{w}` has one of {} bits per token over {} tokens: "{s}"', list(loop)


def claims(study):
    """Statements of the pages without a number: what they say, and whether it is so."""
    pair = study.json("analyze compare cheap specialist")
    results = {task["verdict"] for task in pair["tasks"]}
    cached, planned = study_cached(study)
    yield "README.md: the second demo sends nothing", cached == planned
    yield "README.md: cheap and specialist differ on tasks in both directions", {"better", "worse"} <= results
    spots = re.search(r"Measured \[weak spots\].*?(?=A model ranks above)", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    coverage = (ROOT / "docs" / "coverage.md").read_text()
    missing = [number for number in re.findall(r"\d+\.\d+", spots) if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", coverage)]
    yield f"README.md: docs/coverage.md has the figures of the weak spots, not {missing}", not missing
    projection = study.run("analyze projection --filter base_task=arithmetic --x length").stderr
    yield "docs/analyze.md: no clear change for strong", re.search(r"no significant change for [^\n]*strong", projection)
    effects = study.json("analyze compression --by eval")["rows"]
    yield "docs/analyze.md: at equal length no model's correct responses have more bits per token", not any(
        row["equal_length_effect"]["clear"] for row in effects
    )


def study_cached(study):
    """Cached and planned requests of the second demo."""
    for run, repeat in ((study.first, False), (study.second, True)):
        found = re.search(rf"cache: {NUMBER} of {NUMBER} requests answered from the cache", run.stderr)
        if repeat != bool(found):
            sys.exit(f"error: unexpected notes of the {'second' if repeat else 'first'} demo: {run.stderr}")
    return tuple(int(value.replace(",", "")) for value in found.groups())


# Tables: page, heading, command, the columns that identify a row (none: all rows in order).
TABLES = [
    ("docs/analyze.md", "Leaderboard", "analyze scores", []),
    ("docs/analyze.md", "Pairwise win rates and Bradley-Terry ratings", "analyze pairwise", ["#"]),
    ("docs/analyze.md", "Paired comparison of two models", "analyze compare strong truncating", ["task"]),
    ("docs/analyze.md", "Guess correction and truncation: nine estimators", "analyze modes", ["name", "family"]),
    ("docs/analyze.md", "Accuracy by parameter", "analyze projection --filter base_task=arithmetic --x length", ["eval", "at"]),
    ("docs/analyze.md", "Difficulty threshold", "analyze threshold --x length --filter base_task=arithmetic", ["eval"]),
    ("docs/analyze.md", "Hazard and survival", "analyze hazard --by eval", ["name"]),
    ("docs/analyze.md", "Token budgets", "analyze tokens --by eval", ["name"]),
    ("docs/analyze.md", "Compression and repetition loops", "analyze compression --by eval", ["name"]),
]


def is_same(a, b):
    """Whether two cells name the same, in any version of a task: `sort` and `sort@2`."""
    return re.sub(r"@\d+", "", a) == re.sub(r"@\d+", "", b)


def demo_table(study, text):
    """The README's block with the leaderboard as the demo prints it."""
    printed = re.match(r"┌.*?└[^\n]*\n", study.first.stdout, re.DOTALL)[0]
    return re.sub(r"(?<=^```text\n)┌.*?└[^\n]*\n", lambda _: printed, text, count=1, flags=re.MULTILINE | re.DOTALL)


def with_table(text, page, heading, rows, keys):
    """The text with the cells of the first table below the heading that has the key columns, replaced."""
    section = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not section:
        return text, f"{page}: no heading `{heading}`"
    columns = set(rows[0])
    for table in re.finditer(r"^\|[^\n]*\n\|[-:| ]+\n((?:\|[^\n]*\n)+)", section[0], re.MULTILINE):
        header = [cell.strip() for cell in table[0].splitlines()[0].strip("|").split("|")]
        if len(header) < 3 or not set(keys) <= set(header) or not set(header) <= columns:
            continue
        if keys:
            named = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]
            wanted = [{key: row[header.index(key)] for key in keys} for row in named]
            found = [next((row for row in rows if all(is_same(row[key], want[key]) for key in want)), None) for want in wanted]
            if None in found:
                return text, f"{page}: `{heading}` has a row that the command doesn't print: {wanted[found.index(None)]}"
        else:
            found = rows
        body = "".join("| " + " | ".join(row[column] for column in header) + " |\n" for row in found)
        start = section.start() + table.start(1)
        return text[:start] + body + text[start + len(table[1]):], None
    return text, f"{page}: `{heading}` has no table whose columns are columns of the command: {sorted(columns)}"


def with_sentence(text, page, words, values):
    kinds = {"{}": NUMBER, "{w}": NAME, "{s}": r"([^\"]*)"}
    parts = re.split(r"(\{[ws]?\})", words)
    pattern = "".join(kinds.get(part) or r"\s+".join(map(re.escape, part.split(" "))) for part in parts)
    found = re.search(pattern, text)
    if not found:
        return text, f"{page}: no sentence `{words}`"
    for group in range(len(values), 0, -1):
        # Words keep their line breaks when they are the same.
        if " ".join(found[group].split()) != values[group - 1]:
            text = text[: found.start(group)] + values[group - 1] + text[found.end(group):]
    return text, None


def main(update):
    errors, count = [], 0
    with tempfile.TemporaryDirectory() as home:
        study = Study(home)
        pages = {page: (ROOT / page).read_text() for page in ("README.md", "docs/analyze.md", "docs/tutorial.md", "docs/original-reasonscape.md")}
        new = dict(pages)
        new["README.md"] = demo_table(study, new["README.md"])
        if study.first.stdout != study.second.stdout:
            errors.append("the second demo prints other results than the first")
        for page, heading, command, keys in TABLES:
            new[page], error = with_table(new[page], page, heading, study.rows(command), keys)
            errors += [error] if error else []
            count += 1
        for page, words, values in figures(study):
            new[page], error = with_sentence(new[page], page, words, values)
            errors += [error] if error else []
            count += 1
        errors += [f"not true anymore: {statement}" for statement, holds in claims(study) if not holds]
    for page, text in new.items():
        if text == pages[page]:
            continue
        if update:
            (ROOT / page).write_text(text)
            print(f"{page}: updated")
            continue
        for number, (old, line) in enumerate(zip(pages[page].splitlines(), text.splitlines()), 1):
            if old != line:
                errors.append(f"{page}:{number}: the demo has\n  {line}\n  not\n  {old}\n  (`figures.py update` writes it)")
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    print(f"{count} tables and sentences with figures of the demo, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["check"], ["update"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1] == "update"))
