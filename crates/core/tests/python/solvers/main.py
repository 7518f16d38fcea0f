"""Reads the name of a task and prompts, each as a JSON string in a line, and prints the solver's answers as JSON strings."""

import importlib
import json
import sys
import traceback


def main():
    solver = importlib.import_module(f"solve_{sys.stdin.readline().strip()}")
    for line in sys.stdin:
        prompt = json.loads(line)
        try:
            answer = solver.solve(prompt)
        except Exception:
            # Counts as a disagreement, with the reason in place of an answer.
            answer = traceback.format_exc(limit=-1)
        print(json.dumps(answer))
