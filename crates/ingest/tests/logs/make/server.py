"""A small OpenAI-compatible server on the loopback whose models have a known skill. Standard library only.

Chat and text completions. A question is `What is A + B?`, a choice is anything that lists `A)` to `D)` with one option
marked by being the sum. Whether a model is right depends on a hash of its name, the question and how often it was
asked, so that a run can be repeated. A model whose name ends in `-slow` stops answering after sixteen requests, until
somebody kills whoever waits.
"""

import collections
import hashlib
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SKILL = {"small": 0.5, "large": 0.8}
asked = collections.Counter()
lock = threading.Lock()


def chance(*parts):
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def answer(model, prompt):
    """The reply to a prompt: reasoning, text, and why it ended."""
    with lock:
        asked[model, prompt] += 1
        time_asked = asked[model, prompt]
        asked[model] += 1
        total = asked[model]
    if model.endswith("-slow") and total > 16:
        time.sleep(3600)
    numbers = re.findall(r"What is (-?\d+) \+ (-?\d+)\?", prompt)
    if not numbers:
        return None, "I do not know.", "stop"
    a, b = map(int, numbers[-1])
    right = chance(model, prompt, time_asked, "right") < SKILL.get(model.split("-")[0], 0.6)
    value = a + b if right else a + b + 1 + int(9 * chance(model, prompt, time_asked, "by"))
    thought = f"{a} and {b}: the tens first, then the ones." if chance(model, prompt, "thinks") < 0.4 else None
    if chance(model, prompt, time_asked, "cut") < 0.12:
        # Some of these end on the right number by luck: cut off, and yet scored as correct.
        return thought, f"Let me see. {a} and {b} make {value}", "length"
    options = re.findall(r"([A-D])\) (-?\d+)", prompt)
    if options:
        letters = [letter for letter, number in options if (int(number) == a + b) == right]
        return thought, f"ANSWER: {letters[0]}", "stop"
    return thought, f"{a} + {b} makes {value}.\nThe answer is {value}", "stop"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chat = "messages" in request
        prompt = request["messages"][-1]["content"] if chat else request["prompt"]
        if isinstance(prompt, list):
            prompt = prompt[0]["text"] if chat else prompt[0]
        thought, text, finish = answer(request["model"], prompt)
        message = {"role": "assistant", "content": text}
        if thought:
            message["reasoning_content"] = thought
        choice = {"index": 0, "finish_reason": finish} | ({"message": message} if chat else {"text": text})
        words = len(text.split()) + len((thought or "").split())
        reply = {
            "id": "reply",
            "object": "chat.completion" if chat else "text_completion",
            "created": 1_700_000_000,
            "model": request["model"],
            "choices": [choice],
            "usage": {
                "prompt_tokens": len(prompt.split()),
                "completion_tokens": words,
                "total_tokens": len(prompt.split()) + words,
                "completion_tokens_details": {"reasoning_tokens": len((thought or "").split())},
            },
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start():
    """Serves on a free port in the background and gives the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"
