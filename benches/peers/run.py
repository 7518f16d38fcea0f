"""A run compared with inspect-ai and lm-eval: the same simulated server, prompts, token limit and 64 requests in flight.

The server is a process of its own on loopback. A row covers a complete command; CPU time is the
client's (user and system). Ours syncs every response to disk before it counts; the peers write theirs to a file at the end (inspect's log,
lm-eval's `--log_samples`). None of them scores the responses.

Rows show the quickest of RUNS (3) runs. PEER_COUNT and OWN_COUNT set the problems at each of the suite's 1,035 points, 2 and 94 by default.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

CONCURRENCY = 64
MODEL = "sim-p0.85"
MAX_TOKENS = 2048
PEER_COUNT = int(os.environ.get("PEER_COUNT", "2"))
OWN_COUNT = int(os.environ.get("OWN_COUNT", "94"))
RUNS = int(os.environ.get("RUNS", "3"))
# Goals.
WANTED_RATE, WANTED_RATIO, WANTED_CPU_MS, WANTED_START_MS, WANTED_CACHED_S = 20_000, 50, 0.1, 100, 3

ENVIRONMENT = os.environ | {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # Both insist on some key; the server asks for none.
    "OPENAI_API_KEY": "none",
    "SIMULATED_API_KEY": "none",
}

INSPECT_TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig


@task
def questions():
    return Task(dataset=json_dataset({dataset!r}), config=GenerateConfig(temperature=0, max_tokens={max_tokens}))
"""

LM_EVAL_TASK = """
task: questions
dataset_path: json
dataset_kwargs:
  data_files:
    test: {dataset}
test_split: test
output_type: generate_until
doc_to_text: "{{{{input}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs:
  until: []
  do_sample: false
  temperature: 0
  max_gen_toks: {max_tokens}
metric_list:
  - metric: bypass
"""


def ours(binary, folder, base_url, count):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(
        f'suite = "r12"\ncount = {count}\n[[eval]]\nmodel = "{MODEL}"\nbase_url = "{base_url}"\n'
        f'template = "zero-shot-cot-nosys"\nsampler = "greedy-2k"\nconcurrency = {CONCURRENCY}\n'
    )
    return [binary, "--quiet", "run", "--no-evaluate", folder]


def inspect_ai(folder, base_url, dataset, samples):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "questions.py").write_text(INSPECT_TASK.format(dataset=str(dataset), max_tokens=MAX_TOKENS))
    return [
        peer("inspect"), "eval", "questions.py", "--model", f"openai-api/simulated/{MODEL}",
        "--model-base-url", base_url, "--max-connections", str(CONCURRENCY), "--max-samples", str(CONCURRENCY),
        "--limit", str(samples), "--log-dir", folder / "logs", "--display", "none",
    ]


def lm_eval(folder, base_url, dataset, samples):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "questions.yaml").write_text(LM_EVAL_TASK.format(dataset=dataset, max_tokens=MAX_TOKENS))
    arguments = f"model={MODEL},base_url={base_url}/chat/completions,num_concurrent={CONCURRENCY},max_retries=3"
    return [
        peer("lm_eval"), "--model", "local-chat-completions", "--model_args", arguments, "--tasks", "questions",
        "--include_path", folder, "--apply_chat_template", "--limit", str(samples), "--output_path", folder / "out",
        "--log_samples",
    ]


def peer(name):
    return pathlib.Path(sys.executable).parent / name


def start(command, folder):
    log = open(folder / "log.txt", "wb")
    environment = ENVIRONMENT | {"HF_HOME": str(folder / "hf"), "XDG_DATA_HOME": str(folder / "data")}
    return subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, env=environment, cwd=folder)


def first_request_ms(command_for, folder):
    """From the start of a command to the moment its first request arrives at a socket that never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        listener.settimeout(120)
        base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        command = command_for(base_url)
        began = time.perf_counter()
        process = start(command, folder)
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(120)
                if not connection.recv(4).startswith(b"POST"):
                    sys.exit(f"error: the first thing that came was no request; see {folder / 'log.txt'}")
            return (time.perf_counter() - began) * 1e3
        finally:
            process.kill()
            process.wait()


class Server:
    """The simulated model, which knows the answer to every problem of the run."""

    def __init__(self, binary, count):
        command = [binary, "simulate", "--port", "0", "--suite", "r12", "--count", str(count)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.base_url = self.process.stdout.readline().strip()

    def asked(self, path, method="GET"):
        url = self.base_url.removesuffix("/v1") + path
        with urllib.request.urlopen(urllib.request.Request(url, method=method)) as reply:
            return json.load(reply)

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def measure(server, what, command, folder, samples=None):
    """Runs a command and returns wall and CPU time."""
    server.asked("/stats/reset", "POST")
    server_before, began = server.cpu_s(), time.perf_counter()
    process = start(command, folder)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    if status != 0:
        sys.exit(f"error: {what} failed:\n{(folder / 'log.txt').read_text()[-2000:]}")
    answered = server.asked("/stats")["answered"]
    if samples is not None and answered != samples:
        sys.exit(f"error: {what} got {answered} answers instead of {samples}; see {folder / 'log.txt'}")
    return {
        "what": what,
        "samples": answered,
        "seconds": seconds,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "server_s": server.cpu_s() - server_before,
        "memory_mb": usage.ru_maxrss / 1024,
    }


def least(server, what, command_for, folder, samples=None):
    """The fastest of several runs, each in its own directory: other load can only add time."""
    runs = (folder.with_name(f"{folder.name}-{run}") for run in range(RUNS))
    return min((measure(server, what, command_for(run), run, samples) for run in runs), key=lambda row: row["seconds"])


def questions(binary, study, dataset):
    """The prompts of our run, read from its cache, for the peers to send."""
    exported = subprocess.run(
        [binary, "cache", "export", study], check=True, capture_output=True, text=True
    )
    with open(dataset, "w") as out:
        for line in exported.stdout.splitlines():
            line = json.loads(line)
            if "kind" in line:
                continue
            prompt = line["request"]["messages"][0]["content"]
            out.write(json.dumps({"input": prompt, "target": ""}) + "\n")


def table(header, rows):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main(binary):
    root = pathlib.Path(tempfile.mkdtemp(prefix="reasonscape-run-", dir=os.environ.get("TMPDIR")))
    server = Server(binary, max(OWN_COUNT, PEER_COUNT))
    try:
        load = os.getloadavg()[0]
        small, large, dataset = root / "small", root / "large", root / "questions.jsonl"
        our = lambda count: lambda folder: ours(binary, folder, server.base_url, count)
        same = least(server, "reasonscape", our(PEER_COUNT), small)
        questions(binary, root / "small-0", dataset)
        many = least(server, "reasonscape", our(OWN_COUNT), large)
        cached = measure(server, "cached", our(OWN_COUNT)(root / "large-0"), root / "large-0", 0)
        peers = {"inspect-ai": inspect_ai, "lm-eval": lm_eval}
        rows = {"reasonscape": same, "reasonscape, more": many}
        starts = {"reasonscape": min(
            first_request_ms(lambda url, again=again: ours(binary, root / f"start-{again}", url, 1), root)
            for again in range(5)
        )}
        for name, command in peers.items():
            folder = root / name
            ask = lambda url, folder, command=command: command(folder, url, dataset, same["samples"])
            rows[name] = least(server, name, lambda folder: ask(server.base_url, folder), folder, same["samples"])
            starts[name] = first_request_ms(lambda url: ask(url, root / f"{name}-0"), root / f"{name}-0")
    finally:
        server.stop()

    def rate(row):
        return row["samples"] / row["seconds"]

    print(f"{CONCURRENCY} requests in flight, on {os.cpu_count()} cores shared with the server; load before: {load:.1f}")
    table(
        ("what", "samples", "time", "samples/s", "CPU a sample", "of the server", "memory", "first request"),
        [
            (
                name, f"{row['samples']:,}", f"{row['seconds']:.2f} s", f"{rate(row):,.0f}",
                f"{row['cpu_s'] / row['samples'] * 1e3:.3f} ms", f"{row['server_s'] / row['samples'] * 1e3:.3f} ms",
                f"{row['memory_mb']:.0f} MB", f"{starts[name]:,.0f} ms" if name in starts else "",
            )
            for name, row in rows.items()
        ],
    )
    best = max(rate(rows[name]) for name in peers)
    cheapest = min(rows[name]["cpu_s"] / rows[name]["samples"] for name in peers)
    for name, row in (("the same samples", same), ("more of them", many)):
        cpu = row["cpu_s"] / row["samples"]
        print(f"\n{name}, beside the better peer: {rate(row) / best:.0f}x its samples a second, 1/{cheapest / cpu:.0f} of its CPU", end="")
    print(f"\n\nwanted: {WANTED_RATIO}x, {WANTED_RATE:,} samples/s, {WANTED_CPU_MS} ms of CPU a sample, first request in {WANTED_START_MS} ms")
    print(f"all {many['samples']:,} cached: {cached['seconds']:.2f} s, of {WANTED_CACHED_S} s wanted")


if __name__ == "__main__":
    # The commands run in folders of their own.
    main(pathlib.Path(sys.argv[1]).resolve())
