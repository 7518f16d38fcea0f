"""Random results with everything that results may and may not have."""

import json
import random
import sys

rng = random.Random(int(sys.stdin.readline()))
ANSWERS = ["12", "12.0", "1,2", "1.2e1", " 12\t", "+12", "\u221212", "-12", "yes", "YES ", "Yes.", "\u00c9tat", "\u00e9tat",
           "\u0130stanbul", "i\u0307stanbul", "\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2", "1,000", "1000", "1e3", "1_000", "1,00", "0", "-0", ".5", "0.50", "", " ",
           "new york", "New  York", "x\u00a0", "\u001fx", "12 apples", "100000000000000000000001", "1e23", "\u4f60\u597d"]
PIECES = ["1. add\n", "2.\tthen\r\n", "- minus\r", "* star\n", "3.no\n", "\u0661. one\n", " word", " two words ", "\u00a0", "\u2003gap", "\n\n",
          "Actually, ", "SORRY ", "let me fix", "I made a mista\u212ae ", "\u00e9\u00e8 ", "\u4f60\u597d ", "\u001c", "-\n", "correct ion", "\U0001f600 ", "\u2014", "a" * 50]


def maybe(row, name, value, chance=0.8):
    if rng.random() < chance:
        row[name] = value
    elif rng.random() < 0.5:
        row[name] = None


def rows(model, count, most_repeats):
    for task in range(count):
        target = rng.choice(ANSWERS)
        temperature = rng.choice([0, 0.0, 0.7])
        for repeat in range(rng.randint(1, most_repeats)):
            row = {"id": rng.choice([f"q{task}", f"q{task}", f"q{task}"]), "answer": target if rng.random() < 0.4 else rng.choice(ANSWERS)}
            row["target"] = [target, "12"] if rng.random() < 0.1 else target
            if rng.random() < 0.05:
                row["answer"] = rng.choice([None, 12, 1.5])
            if model is not None:
                row["model"] = model
            if most_repeats > 1:
                row["repeat"] = repeat
                row["temperature"] = temperature
            maybe(row, "cot", "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 40))), 0.7)
            maybe(row, "prob_correct", rng.choice([0, 1, 0.5, 0.1, 0.3, 0.7, rng.random(), rng.random(), rng.random()]), 0.7)
            maybe(row, "prompt_tokens", rng.randint(0, 3000))
            maybe(row, "completion_tokens", rng.randint(0, 3000))
            maybe(row, "latency_ms", rng.choice([rng.randint(0, 100), rng.random() * 5000]))
            maybe(row, "truncated", rng.random() < 0.1)
            maybe(row, "unknown", {"nested": ["id", {"answer": 1}]}, 0.1)
            yield row


lines = []
for model, count, most in [("single \u00e9", 1400, 1), ("repeats", 300, 5), ("one", 1, 1), ("alone", 1, 4), ("few", 12, 2)]:
    lines += [json.dumps(row, ensure_ascii=rng.random() < 0.5) for row in rows(model, count, most)]
lines += [json.dumps({"id": i, "target": "a", "answer": "a", "model": "same"}) for i in range(25)]
rng.shuffle(lines)
ends = ["\n", "\r\n", "\n\n"]
sys.stdout.buffer.write(("\ufeff" + "".join(line + rng.choice(ends) for line in lines)).encode())
