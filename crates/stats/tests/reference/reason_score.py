"""Reference for the ReasonScore with its confidence interval, and for the paired test of two models.

Plain Python, no dependencies, no random numbers. `docs/statistics.md` explains the method; `ablation.py` has a design for
every rule that is not part of the formula of the likelihood, in which the interval is worse without it.

A sample is a pair (status, g): status 0 incorrect, 1 correct, 2 truncated; g is the probability of guessing correctly. A
problem is a list of samples, a point is a list of problems, and a task is a list of points.
"""

from math import comb, cosh, erfc, exp, log, log1p, pi, sqrt, tanh
from statistics import NormalDist

FLOOR = 0.01


# ---------------------------------------------------------------- one point


def point_sums(problems):
    """Sums over problems, each by the mean of its samples: the stored columns of a point."""
    sums = dict(problems=0, q=0.0, c=0.0, gm=0.0, a=0.0, b=0.0, yy=0.0)
    for samples in problems:
        mean = lambda values: sum(values) / len(samples)
        q = mean([status == 1 for status, g in samples])
        a = mean([g / (1 - g) if status == 0 else 0.0 for status, g in samples])
        sums["problems"] += 1
        sums["q"] += q
        sums["c"] += mean([status != 2 for status, g in samples])
        sums["gm"] += mean([g if status != 2 else 0.0 for status, g in samples])
        sums["a"] += a
        sums["b"] += mean([1 / (1 - g) if status == 0 else 0.0 for status, g in samples])
        sums["yy"] += (q - a) ** 2
    return sums


def counter_sums(n, n_e, n_t, g):
    """The same from counters: one sample per problem, all with the mean guess probability of the completed trials."""
    completed = n - n_t
    guess = g / completed if completed > 0 else 0.0
    odds = guess / (1 - guess)
    incorrect = completed - n_e
    return dict(problems=n, q=n_e, c=completed, gm=g, a=incorrect * odds, b=incorrect / (1 - guess),
                yy=n_e + incorrect * odds**2)


def wilson_margin(e, n):
    z = NormalDist().inv_cdf(0.975)
    p = e / n
    return z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)


def gms_table(round_size, margin, max_count):
    """{(n, e): (unbiased estimate of p, of p^2)} for rounds until the margin is reached.

    Girshick, Mosteller and Savage (1946): of the paths to (n, e) that didn't stop before, the proportions that begin with
    one and with two successes. Path counts are exact integers.
    """
    table = {}
    n, paths = 0, None
    while n < max_count and (paths is None or any(all_paths for all_paths, _, _ in paths)):
        step = min(round_size, max_count - n)
        if paths is None:
            begin = lambda e, fixed: comb(step - fixed, e - fixed) if e >= fixed else 0
            paths = [tuple(begin(e, fixed) for fixed in range(3)) for e in range(step + 1)]
        else:
            reached = [[0, 0, 0] for _ in range(n + step + 1)]
            for e, counts in enumerate(paths):
                if counts[0]:
                    for new in range(step + 1):
                        for kind in range(3):
                            reached[e + new][kind] += comb(step, new) * counts[kind]
            paths = [tuple(counts) for counts in reached]
        n += step
        for e, (all_paths, one, two) in enumerate(paths):
            if all_paths:
                table[n, e] = (one / all_paths, two / all_paths)
        paths = [counts if wilson_margin(e, n) > margin else (0, 0, 0) for e, counts in enumerate(paths)]
    return table


def unbiased_sums(sums, table):
    """A point that was sampled by a stop rule, with the unbiased estimate in place of q/n.

    Without it, optional stopping biases every point in the same direction. The estimate varies more than q/n: hence the ratio
    of variances.
    """
    n, q = sums["problems"], sums["q"]
    mean, square = table[n, round(q)]
    if not 0 < mean < 1:
        return sums
    scale = (1 - mean) / (1 - q / n)  # what happens on trials that aren't correct is scaled with them
    c = n * mean + (sums["c"] - q) * scale
    a = sums["a"] * scale
    guess = sums["gm"] / sums["c"] if sums["c"] > 0 else 0.0
    odds = guess / (1 - guess)
    y = mean - a / n
    variance_ratio = max(mean * mean - square, 0.0) * n / (mean * (1 - mean))
    deviations = max(n * mean + (c - n * mean) * odds**2 - n * y * y, 0.0) * variance_ratio
    return dict(problems=n, q=n * mean, c=c, gm=guess * c, a=a, b=sums["b"] * scale, yy=deviations + n * y * y)


# ---------------------------------------------------------------- one task


def effective_task(points):
    """points: list of (weight, sums). -> dict(q, c, g, n, a), or None without data."""
    observed = [(weight, sums) for weight, sums in points if sums["problems"] > 0]
    total = sum(weight for weight, _ in observed)
    if total <= 0:
        return None
    observed = [(weight / total, sums) for weight, sums in observed]
    mean = lambda key: sum(weight * sums[key] / sums["problems"] for weight, sums in observed)
    q, c = mean("q"), mean("c")
    # The mean g of guessed answers. The mean over completed answers is inconsistent where g varies with difficulty.
    if mean("b") > 0:
        g = mean("a") / mean("b")
    else:
        g = mean("gm") / c if c > 0 else 0.0
    odds = g / (1 - g)
    s = (q - c * g) / (1 - g)
    variance = max(q + (c - q) * odds**2 - s * s, 0.0)  # of one trial
    has_variance = variance > 1e-9
    # The variance of one problem, from the observed ones and from four of one sample. That of one trial instead is too large
    # with several samples per problem. Without the four it is too uncertain with few problems.
    pseudo = 4 * sum(weight**2 / sums["problems"] for weight, sums in observed)
    one_problem = (max(mean("yy") - (q - mean("a")) ** 2, 0.0) + pseudo * variance) / (1 + pseudo)

    def relative_variance(sums):
        """Variance within the point relative to one trial of the task, with one pseudo-problem of the task.

        1 instead (pooled trials) is too wide where points differ; without the pseudo-problem, points whose few problems are
        all correct would have no variance.
        """
        n = sums["problems"]
        deviations = max(sums["yy"] - (sums["q"] - sums["a"]) ** 2 / n, 0.0)
        return (deviations + one_problem) / (n * variance) if has_variance else 1.0

    inverse_n = sum(weight**2 / sums["problems"] * relative_variance(sums) for weight, sums in observed)
    # Planned points without data are like random points that differ as much as trials do.
    planned = sum(weight for weight, _ in points)
    missing = [weight / planned for weight, sums in points if sums["problems"] == 0]
    inverse_n += sum(weight**2 for weight in missing)
    inverse_n += sum(missing) ** 2 * sum(weight**2 for weight, _ in observed)
    # The penalty cancels the bias of ln s of order 1/n.
    clamped = min(max(s, FLOOR), 1.0)
    penalty = min(1.0, clamped * (1 - clamped) / variance) if has_variance else 1 - g
    return dict(q=q, c=c, g=g, n=1 / inverse_n, a=0.5 * penalty)


# ---------------------------------------------------------------- the score


def times_log(count, probability):
    return count * log(max(probability, 1e-300)) if count > 0 else 0.0


class Profile:
    """The log-likelihood of one task, maximal under constraints."""

    def __init__(self, q, c, g, n, a):
        positive = lambda count: count if count > 1e-9 else 0.0
        self.correct, self.incorrect, self.truncated = n * q, positive(n * (c - q)), positive(n * (1 - c))
        self.completed = self.correct + self.incorrect
        self.guess, self.penalty = g, a
        c = self.completed / (self.completed + self.truncated)
        accuracy = self.correct / self.completed if self.completed > 0 else 0.0
        kappa = min(max((accuracy - g) / (1 - g), 0.0), 1.0)
        self.maximum = self.log_likelihood(c, kappa)
        self.at_floor = self.maximum if c * kappa <= FLOOR else self.best_at_floor()
        self.floor_deviance = 2 * (self.maximum - self.at_floor)

    def log_likelihood(self, c, kappa):
        return (times_log(self.completed, c) + times_log(self.truncated, 1 - c)
                + times_log(self.correct, self.guess + (1 - self.guess) * kappa) + times_log(self.incorrect, 1 - kappa))

    def best_at_floor(self):
        """Maximum over c with c kappa = FLOOR; concave in c."""
        low, high = FLOOR, 1.0
        if self.truncated > 0:
            for _ in range(60):
                c = (low + high) / 2
                slope = (self.correct * self.guess / (c * self.guess + (1 - self.guess) * FLOOR)
                         + self.incorrect / (c - FLOOR) - self.truncated / (1 - c))
                low, high = (c, high) if slope > 0 else (low, c)
        return self.log_likelihood(high, min(1.0, FLOOR / high))

    def best(self, multiplier):
        """(penalized log-likelihood, ln s) where it plus multiplier * ln s is maximal."""
        pull, g = multiplier + self.penalty, self.guess
        if self.completed + pull > 0:
            square = (1 - g) * (self.completed + pull)
            linear = self.correct * (1 - g) - self.incorrect * g + pull * (1 - 2 * g)
            discriminant = linear**2 + 4 * square * pull * g
            if discriminant >= 0:
                kappa = min(1.0, (linear + sqrt(discriminant)) / (2 * square))
                c = (self.completed + pull) / (self.completed + self.truncated + pull)
                if kappa > 0 and c * kappa >= FLOOR:
                    value, ln_s = self.log_likelihood(c, kappa), log(c * kappa)
                    if value + pull * ln_s > self.at_floor + pull * log(FLOOR):
                        return value + self.penalty * ln_s, ln_s
        return self.at_floor + self.penalty * log(FLOOR), log(FLOOR)


def chi_square_tail(x, degrees):
    y = x / 2
    if degrees % 2 == 0:
        term = total = 1.0
        for i in range(1, degrees // 2):
            term *= y / i
            total += term
        return exp(-y) * total
    total, term = erfc(sqrt(y)), 2 * exp(-y) * sqrt(y / pi)
    for i in range((degrees - 1) // 2):
        total += term
        term *= y / (i + 1.5)
    return total


def is_at_floor(deviance, tasks, level):
    """Whether a joint deviance from the floor is compatible with all tasks being there (50:50 chi-bar-square)."""
    tail = sum(comb(tasks, k) * chi_square_tail(max(deviance, 0.0), k) for k in range(1, tasks + 1)) / 2**tasks
    return tail > 1 - level


def reason_score(tasks, level=0.95):
    """tasks: list of dicts from effective_task. -> (estimate, low, high) from 10 to 1000."""
    limit = NormalDist().inv_cdf((1 + level) / 2) ** 2
    profiles = [Profile(**task) for task in tasks]
    top = sum(profile.best(0.0)[0] for profile in profiles)
    clamped = [min(1.0, max(FLOOR, (t["q"] - t["c"] * t["g"]) / (1 - t["g"]))) for t in tasks]
    estimate = sum(map(log, clamped)) / len(tasks)

    def end(sign):
        def at(x):
            values = [profile.best(sign * exp(x)) for profile in profiles]
            return 2 * (top - sum(value for value, _ in values)), sum(ln_s for _, ln_s in values) / len(values)

        low, high = -9.0, 21.0
        inside, outside = at(low), at(high)
        if outside[0] <= limit:
            return outside[1]
        for _ in range(60):
            x = (low + high) / 2
            found = at(x)
            if found[0] <= limit:
                low, inside = x, found
            else:
                high, outside = x, found
        # The mean jumps where a task leaves the floor.
        proportion = min(1.0, max(0.0, (limit - inside[0]) / max(outside[0] - inside[0], 1e-12)))
        return inside[1] + (outside[1] - inside[1]) * proportion

    high = end(1)
    # For the lower end, tasks that are jointly compatible with the floor may be there at no cost: at a boundary the deviance
    # is not chi-square.
    ordered = sorted(profiles, key=lambda profile: profile.floor_deviance)
    deviance, released = 0.0, 0
    for count, profile in enumerate(ordered, 1):
        deviance += profile.floor_deviance
        if is_at_floor(deviance, count, level):
            released = count
    for profile in ordered[:released]:
        profile.at_floor = profile.best(0.0)[0] - profile.penalty * log(FLOOR)
    low = end(-1)
    return tuple(1000 * exp(x) for x in (estimate, min(low, estimate), max(high, estimate)))


# ---------------------------------------------------------------- the paired test


def sign_flip_tail(coefficients, target):
    """P(sum of independent +-c >= target): saddlepoint approximation (Barndorff-Nielsen's r*)."""
    scale = sqrt(sum(c * c for c in coefficients))
    if scale == 0 or target <= 0:
        return 0.5
    coefficients = [c / scale for c in coefficients]
    target /= scale
    smallest = 0.5 ** len(coefficients)
    if target >= sum(coefficients) * (1 - 1e-9):
        return smallest
    slope = lambda t: sum(c * tanh(c * t) for c in coefficients)
    low, high = 0.0, 1.0
    while slope(high) < target:
        high *= 2
    for _ in range(100):
        t = (low + high) / 2
        low, high = (t, high) if slope(t) < target else (low, t)
    t = (low + high) / 2
    cumulant = sum(c * t + log1p(exp(-2 * c * t)) - log(2) for c in coefficients)
    curvature = sum((c / cosh(min(c * t, 300.0))) ** 2 for c in coefficients)
    r, u = sqrt(max(2 * (t * target - cumulant), 0.0)), t * sqrt(curvature)
    z = target if r < 1e-3 else r + log(u / r) / r
    return min(0.5, max(smallest, 0.5 * erfc(z / sqrt(2))))


def paired_test(tasks):
    """tasks: list of lists of points (weight, [(y_a, y_b) per shared problem]). -> (mean of ln s_a - ln s_b, p-value)

    y is the mean over samples of 1 if correct, -g/(1-g) if incorrect, 0 if truncated.
    """
    difference = linear = 0.0
    coefficients, linear_coefficients = [], []
    for points in tasks:
        points = [(weight, pairs) for weight, pairs in points if pairs]
        total = sum(weight for weight, _ in points)
        mean = lambda side: sum(w / total * sum(pair[side] for pair in pairs) / len(pairs) for w, pairs in points)
        s_a, s_b = mean(0), mean(1)
        ln_ratio = log(max(s_a, FLOOR)) - log(max(s_b, FLOOR))
        if abs(s_a - s_b) > 1e-12:
            slope = ln_ratio / (s_a - s_b)
        else:
            slope = 1 / s_a if s_a > FLOOR else 0.0
        tangent = 1 / max((s_a + s_b) / 2, FLOOR)
        difference += ln_ratio
        linear += tangent * (s_a - s_b)
        for weight, pairs in points:
            for y_a, y_b in pairs:
                part = abs(y_a - y_b) * weight / total / len(pairs)
                if part > 1e-15:
                    coefficients.append(slope * part)
                    linear_coefficients.append(tangent * part)
    # The larger p-value of two statistics: one alone rejects equal scores with unequal profiles too often.
    if difference * linear <= 0:
        return difference / len(tasks), 1.0
    tails = sign_flip_tail(coefficients, abs(difference)), sign_flip_tail(linear_coefficients, abs(linear))
    return difference / len(tasks), min(1.0, 2 * max(tails))
