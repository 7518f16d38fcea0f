"""The metrics of answered questions in plain Python, from the definitions alone: lines of JSON in, one object a model out."""

import collections
import fractions
import functools
import itertools
import json
import math
import re
import sys

NUMBER = re.compile(r"[+\-\u2212]?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
STEP = re.compile(r"^\s*(\d+\.|-|\*)\s+")
PHRASES = ["actually", "sorry", "correction", "let me fix", "i made a mistake"]
Z = 1.959963984540054


def normalize(text):
    text = text.strip()
    if NUMBER.fullmatch(text):
        plain = text.replace(",", "").replace("_", "").replace("\u2212", "-")
        return fractions.Fraction(plain)
    return text.lower()


def tokens(text):
    return len(text.split())


@functools.cache
def student(degrees):
    """The 97.5th percentile of Student's t, by Simpson's rule and bisection."""
    constant = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    density = lambda x: constant * (1 + x * x / degrees) ** (-(degrees + 1) / 2)

    def below(t):
        steps = 1000
        h = t / steps
        inner = sum((4 if i % 2 else 2) * density(i * h) for i in range(1, steps))
        return 0.5 + (density(0) + inner + density(t)) * h / 3

    low, high = 0.0, 20.0
    for _ in range(48):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 0.975 else (low, middle)
    return (low + high) / 2


def mean(pairs, least=0.0, most=math.inf):
    """The mean of (task, value) with Student's interval, clustered by task."""
    pairs = [(task, value) for task, value in pairs if value is not None]
    n = len(pairs)
    if n == 0:
        return None, None, None, 0
    centre = math.fsum(value for _, value in pairs) / n
    tasks = collections.defaultdict(list)
    for task, value in pairs:
        tasks[task].append(value - centre)
    g = len(tasks)
    if g < 2:
        return centre, None, None, n
    error = math.sqrt(g / (g - 1) * math.fsum(math.fsum(residuals) ** 2 for residuals in tasks.values())) / n
    reach = student(g - 1) * error
    return centre, max(least, centre - reach), min(most, centre + reach), n


def wilson(k, n):
    centre = (k + Z * Z / 2) / (n + Z * Z)
    half = Z / (n + Z * Z) * math.sqrt(k * (n - k) / n + Z * Z / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


def rate(pairs):
    """The share of (task, hit) with Wilson's interval on as many trials as the clusters are worth."""
    pairs = [(task, hit) for task, hit in pairs if hit is not None]
    n, k = len(pairs), sum(hit for _, hit in pairs)
    if n == 0:
        return None, None, None, 0
    p = k / n
    tasks = collections.defaultdict(list)
    for task, hit in pairs:
        tasks[task].append(hit)
    g = len(tasks)
    if g < 2 or k in (0, n):
        effective = g
    else:
        residuals = math.fsum((sum(hits) - p * len(hits)) ** 2 for hits in tasks.values())
        effect = g / (g - 1) * residuals / (n * p * (1 - p))
        effective = n / min(max(effect, 1.0), sum(len(hits) ** 2 for hits in tasks.values()) / n)
    return (p, *wilson(p * effective, effective), n)


def proportion(pairs):
    """The mean of (task, value from 0 to 1) with Wilson's interval on as many trials as have the variance of the mean."""
    value, low, high, n = mean(pairs)
    tasks = collections.defaultdict(list)
    for task, one in pairs:
        tasks[task].append(one)
    if len(tasks) < 2:
        return value, low, high, n
    means = [math.fsum(held) / len(held) for held in tasks.values()]
    m = math.fsum(means) / len(means)
    most = m * (1 - m)
    deviations = math.fsum((one - m) ** 2 for one in means)
    effective = len(means) ** 2 * most / (deviations + most) if most > 0 else len(means)
    low, high = wilson(m * effective, effective)
    return value, min(low, value), max(high, value), n


def passes(held, k, enough):
    """The share of all subsets of k samples of which enough are right: any for pass@k, all for pass^k."""
    subsets = list(itertools.combinations([row["right"] for row in held], k))
    return sum(enough(subset) for subset in subsets) / len(subsets)


def split(held):
    """The variance between tasks and between samples of a task, by moments."""
    shares = [sum(row["right"] for row in rows) / len(rows) for rows in held]
    freedom = sum(len(rows) - 1 for rows in held)
    inside = sum((row["right"] - share) ** 2 for rows, share in zip(held, shares) for row in rows)
    if len(held) < 2 or freedom == 0:
        return None, None
    sampling = inside / freedom
    m = math.fsum(shares) / len(shares)
    # E (share - m)^2 summed over tasks is (G - 1) (between + sampling times the mean of 1 / n).
    between = math.fsum((share - m) ** 2 for share in shares) / (len(held) - 1)
    return max(0.0, between - sampling * math.fsum(1 / len(rows) for rows in held) / len(held)), sampling


def entropy(counts):
    n = sum(counts)
    return -math.fsum(count / n * math.log(count / n) for count in counts)


def calibration(rows, bin_of):
    """The mean of |accuracy - confidence| over bins, and the interval of the mean it is."""
    rows = [(row["id"], row["prob_correct"], row["right"]) for row in rows if row.get("prob_correct") is not None]
    if not rows:
        return None, None, None, 0
    bins = collections.defaultdict(list)
    for task, p, right in rows:
        bins[bin_of(p)].append((p, right))
    value, signs = 0.0, {}
    for name, held in bins.items():
        accuracy, confidence = sum(r for _, r in held) / len(held), math.fsum(p for p, _ in held) / len(held)
        value += len(held) / len(rows) * abs(accuracy - confidence)
        signs[name] = -1 if accuracy < confidence else 1
    _, low, high, n = mean([(task, signs[bin_of(p)] * (right - p)) for task, p, right in rows], 0.0, 1.0)
    return value, None if low is None else max(0.0, min(1.0, low)), None if high is None else max(0.0, high), n


def equal_mass(rows, bins):
    values = sorted(row["prob_correct"] for row in rows if row.get("prob_correct") is not None)
    places = collections.defaultdict(list)
    for place, p in enumerate(values):
        places[p].append(place + 0.5)
    return lambda p: math.floor(bins * (sum(places[p]) / len(places[p])) / len(values))


def p95(values):
    if not values:
        return None, None, None, 0
    values, n = sorted(values), len(values)
    share = fractions.Fraction(95, 100)
    chance = lambda k: math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(0.95) + (n - k) * math.log(0.05))
    below = list(itertools.accumulate(map(chance, range(n + 1))))
    above = list(itertools.accumulate(map(chance, range(n, -1, -1))))
    # The quantile is below value `place` if at most `place` of n are below it, and above it if more than `place` are.
    lows = [place for place in range(n) if below[place] <= 0.025]
    highs = [place for place in range(n) if above[n - place - 1] <= 0.025]
    low, high = (values[lows[-1]] if lows else None), (values[highs[0]] if highs else None)
    return values[math.ceil(share * n) - 1], low, high, n


def clustered_p95(pairs):
    """Woodruff's interval: the bounds of the share of answers up to the quantile, as quantiles."""
    if not pairs:
        return None, None, None, 0
    values, n = sorted(value for _, value in pairs), len(pairs)
    quantile = values[math.ceil(fractions.Fraction(95, 100) * n) - 1]
    _, low, high, _ = rate([(task, int(value <= quantile)) for task, value in pairs])
    at = lambda share: values[max(1, math.ceil(share * n)) - 1]
    return quantile, at(low), at(high) if high < 1 else None, n


def summary(rows):
    for row in rows:
        targets = row["target"] if isinstance(row["target"], list) else [row["target"]]
        answer = row["answer"]
        row["given"] = None if answer is None else normalize(str(answer))
        matches = answer is not None and row["given"] in [normalize(str(target)) for target in targets]
        if row.get("scorer") == "stored":
            matches = row["correct"]
        row["right"] = int(bool(matches) and not row.get("truncated"))
        if row.get("latency_us") is not None:
            row["latency_ms"] = row["latency_us"] / 1000
        row["cot"] = cot = row.get("cot")
        row["words"] = None if cot is None else tokens(cot)
    each = lambda value: [(row["id"], value(row)) for row in rows]
    reasoned = lambda value: each(lambda row: None if row["cot"] is None else value(row))
    steps = lambda cot: sum(bool(STEP.match(line)) for line in re.split("\r\n|\r|\n", cot))
    answered = [row for row in rows if row["given"] is not None]
    counts = collections.Counter(row["given"] for row in answered)
    sce = entropy(counts.values()) if counts else None
    surprise = mean([(row["id"], -math.log(counts[row["given"]] / len(answered))) for row in answered])
    if 2 * sum(count == 1 for count in counts.values()) > len(answered):
        surprise = (None, None, None, len(answered))
    total = lambda row: None if None in (row.get("prompt_tokens"), row.get("completion_tokens")) else row["prompt_tokens"] + row["completion_tokens"]
    found = {
        "accuracy": rate(each(lambda row: row["right"])),
        "err": rate(each(lambda row: 1 - row["right"])),
        "usr": rate(each(lambda row: 1 - row["right"])),
        "brier": mean(each(lambda row: None if row.get("prob_correct") is None else (row["prob_correct"] - row["right"]) ** 2), 0.0, 1.0),
        "ece": calibration(rows, lambda p: min(9, math.floor(p * 10))),
        "ece_adaptive": calibration(rows, equal_mass(rows, 10)),
        "sce": (sce, *surprise[1:]),
        "cot_tokens_mean": mean(each(lambda row: row["words"])),
        "cot_chars_mean": mean(reasoned(lambda row: len(row["cot"]))),
        "step_count_mean": mean(reasoned(lambda row: steps(row["cot"]))),
        "ra_ratio_mean": mean(reasoned(lambda row: None if row["answer"] is None else row["words"] / max(1, tokens(str(row["answer"]))))),
        "self_correction_rate": rate(reasoned(lambda row: int(any(phrase in row["cot"].lower() for phrase in PHRASES)))),
        "prompt_tokens_mean": mean(each(lambda row: row.get("prompt_tokens"))),
        "completion_tokens_mean": mean(each(lambda row: row.get("completion_tokens"))),
        "total_tokens_mean": mean(each(total)),
        "latency_mean_ms": mean(each(lambda row: row.get("latency_ms"))),
        "latency_p95_ms": (p95 if len({row["id"] for row in rows}) == len(rows) else lambda values: clustered_p95(
            [(row["id"], row["latency_ms"]) for row in rows if row.get("latency_ms") is not None]
        ))([row["latency_ms"] for row in rows if row.get("latency_ms") is not None]),
    }
    # Answers of one evaluation to one task are samples of each other; a task is a cluster.
    tasks = {row["id"] for row in rows}
    series = collections.defaultdict(list)
    for row in rows:
        series[row["id"], row.get("eval_id")].append(row)
    several = {task: held for task, held in series.items() if len(held) > 1}
    parts = None, None
    if several:
        per_task = collections.defaultdict(list)
        for (task, _), held in several.items():
            given = collections.Counter(row["given"] for row in held)
            most = max(given.values())
            modes = [answer for answer, count in given.items() if count == most]
            right = {row["given"] for row in held if row["right"]}
            per_task["sce_per_task_mean"].append((task, entropy(given.values())))
            per_task["mode_accuracy"].append((task, sum(mode in right for mode in modes) / len(modes)))
            per_task["stability"].append((task, most / len(held)))
            if all(row.get("temperature") == 0 for row in held):
                per_task["determinism_index"].append((task, int(len(given) == 1)))
        found["sce_per_task_mean"] = mean(per_task["sce_per_task_mean"])
        found["mode_accuracy"] = proportion(per_task["mode_accuracy"])
        if len({task for task, _ in several}) == len(several):
            k = max(map(len, several.values()))
            enough = [(task, held) for (task, _), held in several.items() if len(held) >= k]
            # One task alone has the interval of one trial.
            alone = lambda found: (found[0], *wilson(found[0], 1), found[3]) if len(enough) == 1 else found
            found["pass_at_k"] = alone(proportion([(task, passes(held, k, any)) for task, held in enough]))
            found["pass_hat_k"] = alone(proportion([(task, passes(held, k, all)) for task, held in enough]))
            parts = split(list(several.values()))
        found["stability"] = mean(per_task["stability"], 0.0, 1.0)
        found["determinism_index"] = rate(per_task["determinism_index"])
    plain = {
        "variance_problems": parts[0],
        "variance_sampling": parts[1],
        "n": len(rows),
        "tasks": len(tasks),
        "truncated": sum(bool(row.get("truncated")) for row in rows),
        "unanswered": len(rows) - len(answered),
        "repeats": max(map(len, series.values())),
        "sce_normalized": sce / math.log(len(counts)) if len(counts) > 1 else None,
    }
    correct = [[row["id"], row.get("repeat") or 0, bool(row["right"])] for row in rows]
    return {"plain": plain, "found": {name: list(value) for name, value in found.items()}, "correct": correct}


models = collections.defaultdict(list)
for number, line in enumerate(sys.stdin.buffer.read().decode("utf-8-sig").split("\n"), 1):
    if line.strip():
        row = json.loads(line)
        row["id"] = str(number if row.get("id") is None else row["id"])
        models[row.get("model")].append(row)
print(json.dumps([[model, summary(rows)] for model, rows in models.items()]))
