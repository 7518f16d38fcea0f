"""Removes one rule of reason_score.py at a time and prints the coverage with and without it, in a design that needs it.

python3 crates/stats/tests/reference/ablation.py [repeats, 300 by default]

Each rule is removed by replacing a piece of the source, which must occur exactly once.
"""

import math
import pathlib
import random
import sys

SOURCE = pathlib.Path(__file__).with_name("reason_score.py").read_text()


def variant(old="", new=""):
    assert not old or SOURCE.count(old) == 1, f"{old!r} occurs {SOURCE.count(old)} times"
    module = {}
    exec(compile(SOURCE.replace(old, new) if old else SOURCE, "reason_score.py", "exec"), module)
    return module


def design(tasks=12, unskilled=0, p=0.8, spread=0.0, points=1, problems=24, samples=1, guesses=(0.0,), truncation=0.0,
           missing=0, rule=None):
    return dict(locals())


def simulate(rng, d, rule_margin):
    """-> (list of tasks, true score); a task is a list of (weight, list of problems)"""
    board, truth = [], 0.0
    for task in range(d["tasks"]):
        absent = set(rng.sample(range(d["points"]), d["missing"]))
        points, known_sum = [], 0.0
        for i in range(d["points"]):
            place = 2 * i / (d["points"] - 1) - 1 if d["points"] > 1 else 0.0
            log_odds = math.log(d["p"] / (1 - d["p"])) + d["spread"] * place
            known = 0.0 if task < d["unskilled"] else 1 / (1 + math.exp(-log_odds))
            known_sum += known
            guess = d["guesses"][i % len(d["guesses"])]
            problems, correct = [], 0
            while i not in absent:
                n = len(problems)
                if d["rule"] is None:
                    if n == d["problems"]:
                        break
                elif n % d["rule"][0] == 0 or n == d["rule"][2]:
                    if n == d["rule"][2] or (n and rule_margin(correct, n) <= d["rule"][1]):
                        break
                shifted = known
                if d["samples"] > 1:
                    shifted += rng.choice((-0.9, 0.9)) * min(known, 1 - known)
                samples = []
                for _ in range(d["samples"]):
                    if rng.random() < d["truncation"]:
                        samples.append((2, guess))
                    else:
                        samples.append((int(rng.random() < shifted or rng.random() < guess), guess))
                correct += samples[0][0] == 1
                problems.append(samples)
            points.append((1.0, problems))
        board.append(points)
        truth += math.log(max(0.01, known_sum / d["points"] * (1 - d["truncation"])))
    return board, 1000 * math.exp(truth / d["tasks"])


tables = {}


def covers(module, d, board, truth):
    tasks = []
    for points in board:
        summed = []
        for weight, problems in points:
            sums = module["point_sums"](problems)
            if d["rule"] and problems:
                if d["rule"] not in tables:
                    tables[d["rule"]] = module["gms_table"](*d["rule"])
                sums = module["unbiased_sums"](sums, tables[d["rule"]])
            summed.append((weight, sums))
        tasks.append(module["effective_task"](summed))
    _, low, high = module["reason_score"](tasks)
    return low - 1e-9 <= truth <= high + 1e-9, high - low


ADAPTIVE = design(p=0.97, spread=1.0, points=4, rule=(8, 0.07, 200))
RULES = [
    ("guess probability of guessed answers", 'g = mean("a") / mean("b")', 'g = mean("gm") / c',
     design(p=0.9, spread=2.0, points=8, problems=32, guesses=(0.5, 0.25, 0.2))),
    ("one pseudo-problem per point", "(deviations + one_problem) / (n * variance)", "max(deviations, 1e-3) / (n * variance)",
     design(p=0.97, spread=3.0, points=4, problems=4)),
    ("variance of a problem, not of a trial (compare the widths)", "+ pseudo * variance) / (1 + pseudo)", "* 0 + variance)",
     design(p=0.9, points=4, problems=8, samples=8)),
    ("four problems of one sample", "pseudo = 4 * sum", "pseudo = 0 * sum",
     design(tasks=1, p=0.5, problems=4, samples=8, guesses=(0.25,))),
    ("effective count (compare the widths)", "(deviations + one_problem) / (n * variance)", "1.0",
     design(p=0.5, spread=2.5, points=8, problems=12)),
    ("planned points without data", "inverse_n += sum(weight**2 for weight in missing)\n    inverse_n += ", "inverse_n += 0 * ",
     design(p=0.5, spread=2.5, points=8, problems=12, missing=3)),
    ("penalty", "a=0.5 * penalty", "a=0.0", design(p=0.1)),
    ("penalty of tasks near chance (compare the widths)", "min(1.0, clamped * (1 - clamped) / variance) if has_variance else 1 - g", "1 - g",
     design(unskilled=6, guesses=(0.25,))),
    ("interpolation at jumps", "return inside[1] + (outside[1] - inside[1]) * proportion", "return inside[1]",
     design(tasks=1, p=0.97, guesses=(0.5,))),
    ("floor rule of the lower end", "if is_at_floor(deviance, count, level):", "if False:",
     design(unskilled=11, guesses=(0.25,))),
    ("unbiased estimate after optional stopping", "if not 0 < mean < 1:", "if True:", ADAPTIVE),
    ("variance of the unbiased estimate", "variance_ratio = max(mean * mean - square, 0.0) * n / (mean * (1 - mean))",
     "variance_ratio = 1.0", ADAPTIVE),
]


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    complete = variant()
    print("| rule | coverage, % | width | without the rule, % | width |\n|---|---:|---:|---:|---:|", flush=True)
    for name, old, new, d in RULES:
        without = variant(old, new)
        rng = random.Random(22)
        sums = [0, 0.0, 0, 0.0]
        for _ in range(repeats):
            board, truth = simulate(rng, d, complete["wilson_margin"])
            for i, module in enumerate((complete, without)):
                is_covered, width = covers(module, d, board, truth)
                sums[2 * i] += is_covered
                sums[2 * i + 1] += width
        cells = [f"{100 * sums[0] / repeats:.0f}", f"{sums[1] / repeats:.0f}", f"{100 * sums[2] / repeats:.0f}", f"{sums[3] / repeats:.0f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


main()
