"""Time and size of the pages of a large study, and behavior under many concurrent clients.

    python3 serve.py POINTS_SPEED PROGRAM [CHROMEDRIVER]

TRIALS sets how many trials there are, 1,000,000 unless told otherwise, of 60 models on 12 tasks. The first time is of the
first reader, who waits while it is worked out; the second is the least of twenty. Beside them stands Python's own server
with the finished page as a file, which is the least that any server could take. With the driver of a Chromium, it is also
measured when a reader has the leaderboard and can use it.
"""

import functools
import gzip
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

MODELS, TASKS = 60, 12
TRIALS = int(os.environ.get("TRIALS", "1000000"))
READERS, REQUESTS = 200, 1_000
PAGES = [
    ("leaderboard", "/", "first byte under 200 ms"),
    ("leaderboard, other mode", "/?mode=K_P", ""),
    ("trials", "/trials", "under 300 ms"),
    ("trials, page 1,000", "/trials?page=1000", "under 300 ms"),
    ("trials, filtered", "/trials?task={task}&status=truncated", "under 300 ms"),
    ("trials, text", "/trials?text=17", ""),
    ("explorer", "/explorer", ""),
    ("compare", "/compare", ""),
    ("forensics", "/forensics", ""),
    ("runs", "/runs", ""),
]


def get(host, path):
    """Seconds to the first byte and to the last, and the body as it came."""
    connection = http.client.HTTPConnection(host, timeout=60)
    start = time.perf_counter()
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    response = connection.getresponse()
    first = time.perf_counter() - start
    body = response.read()
    last = time.perf_counter() - start
    assert response.status == 200, (path, response.status, body[:200])
    packed = response.headers.get("Content-Encoding") == "gzip"
    connection.close()
    return first, last, len(body), gzip.decompress(body) if packed else body


def crowd(host, path):
    """Seconds for so many requests by so many readers, and how many failed."""
    failed, left, lock = [0], [REQUESTS], threading.Lock()

    def read():
        while True:
            with lock:
                if left[0] == 0:
                    return
                left[0] -= 1
            try:
                get(host, path)
            except Exception:
                failed[0] += 1

    start = time.perf_counter()
    readers = [threading.Thread(target=read) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return time.perf_counter() - start, failed[0]


def plain(page, folder):
    """The time of the same page as a file from Python's server, and of its crowd."""
    with open(os.path.join(folder, "page.html"), "wb") as file:
        file.write(page)
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=folder))
    server.request_queue_size = 1_024
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_address[1]}"
    took = min(get(host, "/page.html")[1] for _ in range(20))
    server.shutdown()
    return took


def usable(driver, address):
    """Milliseconds until a browser has the leaderboard and its scripts have run, by its own clock; the least of five."""
    process = subprocess.Popen([driver, "--port=0", "--log-level=SEVERE"], stdout=subprocess.PIPE, text=True)
    try:
        port = next(found[1] for line in process.stdout if (found := re.search(r"successfully on port (\d+)", line)))

        def ask(method, path, body=None):
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
            connection.request(method, path, json.dumps(body) if body is not None else None)
            return json.loads(connection.getresponse().read())["value"]

        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu"]}
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        session = "/session/" + ask("POST", "/session", wanted)["sessionId"]
        clock = "const [page] = performance.getEntriesByType('navigation'); return page.loadEventEnd"
        took = []
        for _ in range(5):
            ask("POST", session + "/url", {"url": address})
            took.append(ask("POST", session + "/execute/sync", {"script": clock, "args": []}))
        ask("DELETE", session)
        return min(took)
    finally:
        process.terminate()
        process.wait()


def main(speed, program, driver=None):
    with tempfile.TemporaryDirectory(prefix="serve-") as folder:
        study = os.path.join(folder, "study")
        subprocess.run([speed, "make", study, str(MODELS), str(TASKS), str(TRIALS)], check=True)
        server = subprocess.Popen([program, "serve", study, "--port", "0", "--quiet"], stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().strip()
            host = urllib.parse.urlsplit(address).netloc
            task = json.loads(get(host, "/api/v1/tasks")[3])[0]["task"]
            rows = []
            for name, path, wanted in PAGES:
                path = path.format(task=task)
                first, _, size, page = get(host, path)
                again = min(get(host, path)[0] for _ in range(20))
                # What comes along, without the library of charts, which only pages with a chart load.
                files = {link for link in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.decode())}
                files = [link for link in files if "plotly" not in link]
                weight = size + sum(get(host, link)[2] for link in files)
                rows.append((name, first, again, weight, wanted))
                if name == "leaderboard":
                    board = page
            took, failed = crowd(host, "/")
            floor = plain(board, folder)
            seen = usable(driver, address) if driver else None
        finally:
            server.terminate()
            server.wait()
    print(f"{TRIALS:,} trials of {MODELS} models on {TASKS} tasks, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print(f"{'page':26} {'first time':>11} {'again':>9} {'weight':>9}  wanted")
    for name, first, again, weight, wanted in rows:
        print(f"{name:26} {first * 1e3:>8.0f} ms {again * 1e3:>6.1f} ms {weight / 1e3:>6.0f} kB  {wanted}")
    print(f"\n{REQUESTS:,} requests by {READERS} readers: {took:.1f} s, {failed} failed (none wanted)")
    print(f"the leaderboard as a file from Python's server: {floor * 1e3:.1f} ms; ratio {rows[0][2] / floor:.2f}")
    if seen:
        print(f"in Chromium, from the request to a leaderboard that can be used: {seen:.0f} ms (under 1 s wanted)")


main(*sys.argv[1:])
