#!/usr/bin/env python3
"""Runs `reasonscape serve` under mixed load and reports memory over time and failed requests.

    python3 scripts/soak.py target/release/reasonscape --minutes 20

Readers, uploads, runs, deletions, clients that don't read, wrong tokens and hostile queries at the same time, all on
loopback against simulated models. Exits with 1 after a status of 500 or above, a request without a response, or memory that
grows by more than a fifth from the second quarter of the time to the last. Linux only: memory is read from /proc.

A client that gets no processor time loses its connections too: it stops sending and reading, as a slow client does. So a
process beside the clients measures how long a millisecond of its work takes; a request that got no response while that was
more than STARVED times as long is counted as starved instead of as failed. A status of 500 or above is always a failure.
"""

import argparse
import collections
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOKEN = "soak-0123456789abcdef"
SUITE = """name = "soak"
count = 8
[[manifold]]
id = "arithmetic"
task = "arithmetic"
points = [{ length = 3, max_depth = 0 }, { length = 6, max_depth = 1 }]
[[manifold]]
id = "sort"
task = "sort"
points = [{ length = 4 }, { length = 8 }]
"""
# States of a run that is not over, as the API names them.
ACTIVE_STATES = ("planned", "running", "judging", "scoring")  # wording: allow
# A process that has less of a core than this part of it is starved.
STARVED = 20.0
# Works for a millisecond of processor time five times a second, and prints how many times as long that took.
METER = """
import time
while True:
    wall, work = time.monotonic(), time.process_time()
    while time.process_time() - work < 0.001:
        pass
    print((time.monotonic() - wall) / (time.process_time() - work), flush=True)
    time.sleep(0.2)
"""
READS = [
    "/", "/explorer", "/compare", "/compare/tests", "/trials", "/forensics", "/runs", "/runs/new", "/metrics",
    "/leaderboard.csv", "/assets/plotly.js", "/api/v1/evals", "/api/v1/points", "/api/v1/pairwise", "/api/v1/hazard",
    "/api/v1/trials?limit=50", "/api/v1/aggregate?by=params.length&mode=all", "/trials?text=4",
    "/api/v1/points?filter=params.length=" + ",".join(str(n) for n in range(200)),
]
HOSTILE = [
    "/?filter=model=" + ",".join(["a"] * 1773),
    "/?filter=model=" + ",".join(f"m{n}*" for n in range(900)),
    "/api/v1/trials?" + "&".join(f"eval=e{n}" for n in range(2000)),
    "/api/v1/aggregate?by=" + ",".join(f"params.p{n}" for n in range(2000)),
]


def start(arguments):
    """Starts the program as a server; returns the process and the host and port on its first line."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = process.stdout.readline()
    if not line.startswith("http://"):
        raise SystemExit(f"no address from {' '.join(arguments)}: {line!r}")
    return process, line[len("http://"):].strip().split("/")[0]


class Meter:
    """How many times as long the work of a process takes because others have the processors."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", METER], stdout=subprocess.PIPE, text=True)
        self.values = collections.deque(maxlen=4096)
        self.highest = 0.0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.values.append((time.time(), float(line)))
            self.highest = max(self.highest, float(line))

    def is_starved(self, began):
        """Whether work took STARVED times as long at some time since, or the meter itself had no turn for so long."""
        values = [(at, value) for at, value in list(self.values) if at >= began - 2.0]
        times = [began - 2.0] + [at for at, _ in values] + [time.time()]
        longest = max(after - before for before, after in zip(times, times[1:]))
        return longest > 5.0 or any(value > STARVED for _, value in values)


class Load:
    """Clients of one server, and what they saw."""

    def __init__(self, host, meter):
        self.host = host
        self.meter = meter
        self.starved = collections.Counter()
        self.address = ("127.0.0.1", int(host.rsplit(":", 1)[1]))
        self.is_over = threading.Event()
        self.lock = threading.Lock()
        self.statuses = collections.Counter()
        self.failures = []
        self.runs = 0
        self.slowest_health = 0.0

    def request(self, method, path, body=None, token=TOKEN, what=None):
        """Sends a request; returns its status and body."""
        connection = http.client.HTTPConnection(self.host, timeout=60)
        began = time.time()
        try:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            connection.request(method, path, body=body, headers=headers)
            reply = connection.getresponse()
            status, text = reply.status, reply.read()
        except OSError as error:
            status, text = type(error).__name__, str(error).encode()
        except http.client.HTTPException as error:
            status, text = type(error).__name__, str(error).encode()
        finally:
            connection.close()
        has_response = isinstance(status, int)
        is_starved = not has_response and self.meter.is_starved(began)
        with self.lock:
            self.statuses[what or status] += 1
            if is_starved:
                self.starved[f"{method} {path.split('?')[0]} {status}"] += 1
            elif not has_response or status >= 500:
                self.failures.append((time.time(), method, path[:80], status, text[:200].decode(errors="replace")))
        return status, text

    def json(self, method, path, value=None):
        status, text = self.request(method, "/api/v1" + path, json.dumps(value) if value is not None else None)
        return json.loads(text) if isinstance(status, int) and status < 300 and text else None

    def read(self):
        while not self.is_over.is_set():
            self.request("GET", random.choice(READS))

    def attack(self):
        while not self.is_over.wait(0.5):
            self.request("GET", random.choice(HOSTILE))

    def check_health(self):
        while not self.is_over.wait(0.1):
            began = time.time()
            self.request("GET", "/health", token=None)
            self.slowest_health = max(self.slowest_health, time.time() - began)

    def guess(self):
        """Guesses from another address, so that the other clients are not refused."""
        head = f"GET /api/v1/evals HTTP/1.1\r\nHost: {self.host}\r\nConnection: close\r\n"
        while not self.is_over.wait(0.2):
            try:
                with socket.create_connection(self.address, timeout=60, source_address=("127.0.0.2", 0)) as stream:
                    stream.sendall((head + "Authorization: Bearer wrong-0123456789\r\n\r\n").encode())
                    status = b"".join(stream.recv(64).split()[1:2]).decode()
            except OSError as error:
                status = type(error).__name__
            with self.lock:
                self.statuses["guess " + status] += 1

    def read_nothing(self):
        """Holds more connections than the server accepts, and replaces them again and again."""
        held = collections.deque()
        head = f"GET /assets/plotly.js HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode()
        while not self.is_over.wait(0.02):
            try:
                stream = socket.create_connection(self.address, timeout=10)
                stream.sendall(head)
                held.append(stream)
            except OSError:
                pass
            if len(held) > 600:
                held.popleft().close()
        for stream in held:
            stream.close()

    def upload(self):
        number = 0
        while not self.is_over.wait(0.2):
            number += 1
            lines = "".join(json.dumps({"input": f"What is {n} + {number}?", "target": str(n + number)}) + "\n"
                            for n in range(2000))
            name = f"soak-{number % 5}.jsonl"
            self.request("POST", f"/api/v1/datasets?name={name}", lines)
            self.request("DELETE", f"/api/v1/datasets/{name}")

    def run(self, models):
        """Creates, starts, watches and deletes runs; cancels every fourth."""
        while not self.is_over.is_set():
            request = {"source": "suite", "suite": "study", "models": ["sim-p0.9"], "base_url": models, "count": 16}
            created = self.json("POST", "/runs", request)
            if created is None:
                continue
            path = "/runs/" + created["name"]
            self.json("GET", path + "/plan")
            self.json("POST", path + "/start", {"keys": {}})
            if self.runs % 4 == 3:
                self.json("POST", path + "/cancel")
            while not self.is_over.wait(0.1):
                run = self.json("GET", path)
                if run is None or run["state"] not in ACTIVE_STATES:
                    break
            self.request("GET", f"{path}/view/")
            self.request("DELETE", "/api/v1" + path)
            self.runs += 1


def resident_mib(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--readers", type=int, default=4)
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            suite = os.path.join(folder, "soak.toml")
            with open(suite, "w") as file:
                file.write(SUITE)
            models, address = start([binary, "simulate", "--suite", suite, "--count", "64", "--port", "0"])
            processes.append(models)
            base_url = f"http://{address}/v1"
            with open(os.path.join(folder, "study.toml"), "w") as file:
                file.write('suite = "soak.toml"\n')
                for model in ["sim-p0.9", "sim-p0.5", "sim-cheap"]:
                    file.write(f'[[eval]]\nmodel = "{model}"\nbase_url = "{base_url}"\n')
            subprocess.run([binary, "run", folder, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            server, host = start([binary, "serve", folder, "--port", "0", "--token", TOKEN])
            processes.append(server)
            meter = Meter()
            processes.append(meter.process)
            load = Load(host, meter)
            work = [load.read] * options.readers
            work += [load.attack, load.check_health, load.guess, load.read_nothing, load.upload]
            work += [lambda: load.run(base_url)]
            threads = [threading.Thread(target=one) for one in work]
            for thread in threads:
                thread.start()
            began, samples = time.time(), []
            interval = max(1.0, options.minutes * 60 / 40)
            while time.time() - began < options.minutes * 60 and server.poll() is None:
                time.sleep(interval)
                files = len(os.listdir(f"/proc/{server.pid}/fd")) if server.poll() is None else 0
                samples.append(resident_mib(server.pid) if server.poll() is None else 0.0)
                print(f"{time.time() - began:7.0f} s  {samples[-1]:7.1f} MiB  {files:4} files  {load.runs:4} runs  "
                      f"{sum(load.statuses.values()):8} requests  {len(load.failures)} failures  "
                      f"{sum(load.starved.values())} starved", flush=True)
            load.is_over.set()
            for thread in threads:
                thread.join()
            is_alive = server.poll() is None
        finally:
            for process in processes:
                process.terminate()
                process.wait()
    quarter = len(samples) // 4
    before, after = (statistics.median(part) for part in (samples[quarter:2 * quarter], samples[-quarter:]))
    print("statuses:", ", ".join(f"{status}: {count}" for status, count in sorted(load.statuses.items(), key=str)))
    print(f"slowest health check: {load.slowest_health * 1000:.0f} ms")
    print(f"memory: {before:.1f} MiB in the second quarter, {after:.1f} MiB in the last")
    print(f"processor time: work took at most {meter.highest:.0f} times as long; {sum(load.starved.values())} requests starved")
    for name, count in load.starved.most_common(20):
        print(f"starved: {count} of {name}")
    for failure in load.failures[:20]:
        print("failure:", *failure[1:])
    # With more starved clients than this, the load was not what it is meant to be.
    is_too_busy = sum(load.starved.values()) > 0.01 * sum(load.statuses.values())
    if is_too_busy:
        print("the machine was too busy: more than one request in a hundred starved")
    if not is_alive or load.failures or is_too_busy or after > 1.2 * before:
        sys.exit(1)


if __name__ == "__main__":
    main()
