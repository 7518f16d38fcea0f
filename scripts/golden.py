#!/usr/bin/env python3
"""Opens what the first version of the program wrote and compares every JSON document with what that version printed.

    python3 scripts/golden.py check PROGRAM          compares with fixtures/v1/expected; exit code 1 where a value differs or a key is missing
    python3 scripts/golden.py print PROGRAM DIR      writes the documents to DIR, to look at or to compare two programs
    python3 scripts/golden.py make PROGRAM           makes fixtures/v1 again (only ever done with the first version)

The fixtures are a study of suite `quick` on simulated models, a run made in the browser inside it, a study of a dataset,
a study of imported logs, and an export of the cache. They are copied to a temporary folder, opened as they are, scored
again from the cache, and opened again. Paths and ports are masked. Sentences for readers may be reworded, but must state
the same numbers; names in charts may change only as TERMS lists. Everything else must be equal.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures" / "v1"
EXPECTED = FIXTURES / "expected"
LOGS = ROOT / "crates" / "points" / "tests" / "logs"

STUDY = """\
suite = "quick"
count = 8

[[eval]]
model = "sim-strong"
name = "strong"
base_url = "http://127.0.0.1:8089/v1"
groups = ["style:thorough", "size:large"]

[[eval]]
model = "sim-truncating"
name = "truncating"
base_url = "http://127.0.0.1:8089/v1"
groups = ["style:thorough", "size:large"]

[[eval]]
model = "sim-cheap"
name = "cheap"
base_url = "http://127.0.0.1:8089/v1"
groups = ["style:terse", "size:small"]
"""

# Arguments of `analyze` after the study's path, by the name of the document.
ANALYZE = {
    "evals": ["evals"],
    "tasks": ["tasks"],
    "points": ["points"],
    "scores": ["scores"],
    "scores-k_o": ["scores", "--mode", "K_O"],
    "pairwise": ["pairwise"],
    "pairwise-monte-carlo": ["pairwise", "--method", "monte-carlo"],
    "modes": ["modes"],
    "projection": ["projection"],
    "surface": ["surface"],
    "frontier": ["threshold"],
    "cluster": ["similarity"],
    "cluster-shape": ["similarity", "--shape", "--linkage", "ward"],
    "spectrum": ["spectrum", "--filter", "base_task=arithmetic", "--permutations", "99"],
    "compression": ["compression"],
    "compression-eval": ["compression", "--by", "eval"],
    "hazard": ["hazard"],
    "hazard-eval": ["hazard", "--by", "eval"],
    "tokens": ["tokens"],
    "tokens-eval": ["tokens", "--by", "eval"],
}
# Of the small studies: what does not need several points.
SMALL = ["evals", "tasks", "points", "scores", "modes", "compression-eval", "hazard-eval", "tokens-eval"]
API = [
    "leaderboard", "leaderboard?mode=K_P", "evals", "tasks", "points", "pairwise", "compare", "compare?a=strong&b=cheap",
    "differences?a=strong&b=cheap&limit=5", "differences?a=strong&b=cheap&right=a&limit=3", "trials?limit=3",
    "trials?status=truncated&limit=3", "trials?text=the&limit=2", "surface?task=arithmetic", "projection?task=arithmetic",
    "frontier?task=arithmetic", "hazard?by=eval", "tokens?by=eval", "compression?by=eval", "runs", "datasets",
    "figures/surface?task=arithmetic", "figures/projection?task=arithmetic", "figures/frontier?task=arithmetic",
    "figures/hazard?by=eval", "figures/tokens?by=eval", "figures/compression?by=eval", "figures/histogram?by=eval",
    "figures/size?by=eval",
]
# Documents that must be equal to another one, which is stored once.
SAME = {"opened-study-trials": "trials", "from-export-trials": "trials", "opened-dataset-trials": "dataset-trials"}
# Keys whose strings are sentences or labels for readers.
SENTENCES = {"finding", "sentence", "text", "hovertext", "warnings"}
# Names of series in charts, renamed since the first version.
CHART_NAMES = {"name", "legendgroup", "offsetgroup"}
TERMS = {"right": "correct", "wrong": "incorrect", "cut off": "truncated", "still thinking": "no answer yet"}  # wording: allow
TRIAL_COLUMNS = "eval_id, base_task, params, index, repeat"


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = str(Path(path).resolve()), str(folder)

    def run(self, *arguments, codes=(0,)):
        # `--format json` is a global option, so it may stand last.
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}, timeout=600)
        if done.returncode not in codes:
            sys.exit(f"error: `{' '.join(map(str, arguments))}` ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def json(self, *arguments, codes=(0,)):
        return self.mask(self.run(*arguments, "--format", "json", codes=codes))

    def mask(self, text):
        return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text.replace(self.folder, "DIR"))


class Server:
    """`reasonscape serve` or `simulate` on a free port."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program.path, *map(str, arguments), "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=program.folder)
        self.address = re.search(r"http://127\.0\.0\.1:\d+", self.process.stdout.readline()).group()

    def request(self, path, method="GET", body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        if data is not None:
            request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.read().decode()
        except urllib.error.HTTPError as error:
            sys.exit(f"error: {method} {path} answered {error.code}: {error.read().decode()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)


def file_name(text):
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_")


def trial_dump(program, study):
    return program.json("sql", study, f"SELECT * FROM trials ORDER BY {TRIAL_COLUMNS}")


def documents(program, folder):
    """Yields (name, text) of everything that is compared."""
    study, dataset, imported = folder / "study", folder / "dataset-study", folder / "imported"
    for name, path in [("study", study), ("dataset", dataset), ("imported", imported)]:
        yield f"opened-{name}-trials", trial_dump(program, path)
        yield f"opened-{name}-scores", program.json("analyze", "scores", path)
    yield "cache-stats", program.json("cache", "stats", study)
    yield "cache-verify", program.json("cache", "verify", study)
    yield "plan", program.json("plan", study)
    # Scored again from what the cache has; imported studies have no study.toml and are left as they are.
    program.run("evaluate", study, "--force")
    program.run("evaluate", dataset, "--force")
    for name, arguments in ANALYZE.items():
        yield f"analyze-{name}", program.json("analyze", arguments[0], study, *arguments[1:])
    for pair in [("strong", "truncating"), ("truncating", "cheap")]:
        yield f"analyze-compare-{'-'.join(pair)}", program.json("analyze", "compare", study, *pair)
    for prefix, path in [("dataset", dataset), ("imported", imported)]:
        for name in SMALL:
            yield f"{prefix}-{name}", program.json("analyze", ANALYZE[name][0], path, *ANALYZE[name][1:])
    yield "trials", trial_dump(program, study)
    yield "points", program.json("sql", study, "SELECT * FROM points ORDER BY eval_id, base_task, params")
    yield "dataset-trials", trial_dump(program, dataset)
    yield "export", program.mask(program.run("export", study, "--filter", "base_task=sort", "--filter", "model=sim-strong"))
    yield "metrics", program.json("metrics", dataset / "results" / "answers.jsonl")
    yield "results", (dataset / "results" / "tasks.jsonl").read_text()
    yield "score", program.json("score", ROOT / "examples" / "leaderboard.csv")
    yield "estimate", program.json("estimate", "--n", "128", "--correct", "100", "--truncated", "5", "--guess", "12.3", "--mode", "all")
    yield "suite-count", program.json("suite", "count", "quick@1")
    # The exported cache makes the same trials.
    again = folder / "again"
    again.mkdir()
    shutil.copy(study / "study.toml", again)
    program.run("cache", "import", again, folder / "cache-export.jsonl")
    program.run("evaluate", again)
    yield "from-export-trials", trial_dump(program, again)
    with Server(program, "serve", study) as server:
        get = lambda path: program.mask(server.request(path))
        for path in API:
            yield f"api-{path}", get("/api/v1/" + path)
        first = json.loads(server.request("/api/v1/trials?limit=1"))["rows"][0]
        yield "api-trial", get("/api/v1/trials/{eval_id}/{base_task}/{point}/{index}".format(**first))
        for run in json.loads(server.request("/api/v1/runs"))["runs"]:
            yield "api-run", get(f"/api/v1/runs/{run['name']}")
            yield "api-run-plan", get(f"/api/v1/runs/{run['name']}/plan")
            yield "api-run-leaderboard", get(f"/runs/{run['name']}/view/api/v1/leaderboard")
            yield "api-run-events", json.dumps({"events": events(get(f"/api/v1/runs/{run['name']}/events"))})


def pretty(text):
    """A document with a line per row, sorted by key: easy to compare, not too long."""
    return "".join(layout(value) + "\n" for value in values(text))


def layout(value, depth=0):
    flat = json.dumps(value, sort_keys=True)
    if len(flat) < 160 or depth > 2 or not isinstance(value, (dict, list)):
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, list):
        return "[\n" + ",\n".join(pad + layout(item, depth + 1) for item in value) + "\n" + pad[1:] + "]"
    rows = (f"{pad}{json.dumps(key)}: {layout(item, depth + 1)}" for key, item in sorted(value.items()))
    return "{\n" + ",\n".join(rows) + "\n" + pad[1:] + "}"


def collect(path):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder).resolve()
        for entry in FIXTURES.iterdir():
            if entry.name not in ("expected", "README.md"):
                (shutil.copytree if entry.is_dir() else shutil.copy)(entry, folder / entry.name)
        return {file_name(name): pretty(text) for name, text in documents(Program(path, folder), folder)}


def values(text):
    """The JSON values of a document, one after the other."""
    decoder, found, text = json.JSONDecoder(), [], text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def numbers(sentence):
    """The numbers of a sentence in their order. The first version wrote 50 % as "half"."""
    return re.findall(r"[-+]?\d+(?:\.\d+)?%?", re.sub(r"<[^>]*>", " ", sentence).replace("50 %", "half"))


def is_reworded(before, after, key):
    if not (isinstance(before, str) and isinstance(after, str)):
        return False
    if key in CHART_NAMES:
        return TERMS.get(before) == after
    return key in SENTENCES and bool(after) and numbers(before) == numbers(after)


def events(text):
    """The events of a server-sent stream, with their JSON parsed."""
    fields = [line.partition(": ") for line in text.splitlines() if line]
    return [{name: json.loads(value) if name == "data" else value} for name, _, value in fields]


def differences(before, after, path="", key=""):
    """Yields where something of the first version is missing or has another value. New keys are no difference."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key not in after:
                yield f"{path}.{key}: missing, was {json.dumps(value)[:80]}"
            else:
                yield from differences(value, after[key], f"{path}.{key}", key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after)):
            yield from differences(*pair, f"{path}[{index}]", key)
    elif is_reworded(before, after, key):
        return
    elif type(before) is not type(after) or before != after:
        yield f"{path}: was {json.dumps(before)[:100]}, is {json.dumps(after)[:100]}"


def check(path):
    found = collect(path)
    expected = {file.stem: file.read_text() for file in EXPECTED.glob("*.json")}
    expected |= {name: expected[other] for name, other in SAME.items() if other in expected}
    differing = 0
    for name in sorted(expected.keys() | found.keys()):
        lines = list(differences(values(expected.get(name, "null")), values(found.get(name, "null"))))
        if lines:
            differing += 1
            print(f"{name}: {len(lines)} values differ")
            print("\n".join("  " + line for line in lines[:12]))
    print(f"{len(expected) - differing} of {len(expected)} documents of the first version have the same values")
    return 1 if differing or not expected else 0


def write(documents, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        if name in SAME and text == documents[SAME[name]]:
            continue
        (folder / f"{name}.json").write_text(text)


def make(path):
    shutil.rmtree(FIXTURES, ignore_errors=True)
    FIXTURES.mkdir(parents=True)
    program = Program(path, FIXTURES)
    study, questions = FIXTURES / "study", ROOT / "examples" / "datasets" / "shelves.jsonl"
    study.mkdir()
    (study / "study.toml").write_text(STUDY)
    with Server(program, "simulate", "--dataset", questions) as simulator:
        base = simulator.address + "/v1"
        (study / "study.toml").write_text(STUDY.replace("http://127.0.0.1:8089/v1", base))
        program.run("run", study)
        program.run("run", questions, "--model", "sim-p0.7", "--model", "sim-p0.4", "--base-url", base, "--repeats", "3",
                    "--into", "dataset-study")
        with Server(program, "serve", study) as server:
            body = {"ask": "suite", "suite": "quick", "count": 2, "models": ["sim-specialist"], "base_url": base}
            made = json.loads(server.request("/api/v1/runs", "POST", body))
            server.request(f"/api/v1/runs/{made['name']}/start", "POST", {})
            while (state := json.loads(server.request(f"/api/v1/runs/{made['name']}"))["state"]) != "complete":
                if state in ("failed", "incomplete", "cancelled"):
                    sys.exit(f"error: the run is {state}")
                time.sleep(0.2)
        # A port that is the same whenever the fixtures are made. Requests are known by their content, not their address.
        for file in FIXTURES.glob("**/study.toml"):
            file.write_text(file.read_text().replace(base, "http://127.0.0.1:8089/v1"))
    program.run("import", "inspect", LOGS / "inspect" / "add.json", "--into", "imported")
    program.run("import", "lm-eval", LOGS / "lm-eval" / "chat", "--into", "imported", "--metric", "hit", "--metric", "exact_match", "--filter", "strict-match")
    (FIXTURES / "cache-export.jsonl").write_text(program.run("cache", "export", study))
    write(collect(path), EXPECTED)


if __name__ == "__main__":
    command, arguments = (sys.argv + [""])[1], sys.argv[2:]
    if command == "check" and len(arguments) == 1:
        sys.exit(check(arguments[0]))
    elif command == "print" and len(arguments) == 2:
        write(collect(arguments[0]), Path(arguments[1]))
    elif command == "make" and len(arguments) == 1:
        make(arguments[0])
    else:
        sys.exit(__doc__)
