"""Statistics compared with NumPy, SciPy, plain Python and evalica, on the same leaderboards."""

import math
import random
import sys

import evalica
import numpy
import scipy.optimize
import scipy.stats

import report

Z = 1.959963984540054
MODELS, TASKS, DRAWS = 60, 12, 5000


def wilson(k, n):
    root = Z * math.sqrt(k * (n - k) / n + Z * Z / 4)
    return (k + Z * Z / 2 - root) / (n + Z * Z), (k + Z * Z / 2 + root) / (n + Z * Z)


def leaderboard():
    """C_P intervals of 60 models on 12 tasks, as `leaderboard` in lib.rs draws them."""
    rng = random.Random(42)
    board = []
    for model in range(MODELS):
        row = []
        for _ in range(TASKS):
            share = min(max(0.2 + 0.78 * model / (MODELS - 1) + rng.uniform(-0.1, 0.1), 0.02), 0.99)
            n = rng.randint(4500, 5500)
            n_t = math.floor(0.02 * n)
            n_u = n - n_t
            g = n_u / 4
            n_e = math.floor(share * (n_u - g) + g)
            known, completed = wilson(max(n_e - g, 0), n_u - g), wilson(n_u, n)
            row.append((known[0] * completed[0], known[1] * completed[1]))
        board.append(row)
    return board


BOARD = [[(max(low, 0.01), max(high, 0.01)) for low, high in row] for row in leaderboard()]


def scores_in_python():
    scores = []
    for row in BOARD:
        rng = random.Random(42)
        means = []
        for _ in range(DRAWS):
            logs = [math.log(low + (high - low) * rng.random()) for low, high in row]
            means.append(math.exp(sum(logs) / len(logs)))
        means.sort()
        scores.append((1000 * means[125], 1000 * means[4875]))
    return scores


def scores_in_numpy():
    board = numpy.array(BOARD)
    low, width = board[:, None, :, 0], (board[:, :, 1] - board[:, :, 0])[:, None, :]
    numbers = numpy.random.default_rng(42).random((DRAWS, TASKS))
    means = numpy.sort(numpy.exp(numpy.log(low + width * numbers).mean(axis=2)), axis=1)
    return 1000 * means[:, [125, 4875]]


def pairwise_in_numpy(draws=10_000):
    board = numpy.array(BOARD)
    mean, sd = board.mean(axis=2), (board[:, :, 1] - board[:, :, 0]) / 2 / Z
    shape = mean * (1 - mean) / sd**2 - 1
    rng = numpy.random.default_rng(42)
    samples = rng.beta((mean * shape)[:, :, None], ((1 - mean) * shape)[:, :, None], (MODELS, TASKS, draws))
    rates = numpy.full((MODELS, MODELS), 0.5)
    for a in range(MODELS):
        for b in range(a + 1, MODELS):
            rates[a, b] = (samples[a] > samples[b]).mean()
            rates[b, a] = 1 - rates[a, b]
    return rates


def matrix(models=100):
    """Win rates of models whose log ratings are evenly spaced from -2 to 2, as `even_matrix` in stats.rs."""
    ratings = numpy.exp(numpy.linspace(-2, 2, models))
    rates = ratings[:, None] / (ratings[:, None] + ratings[None, :])
    numpy.fill_diagonal(rates, 0)
    return rates


POINTS = 1067
PROBLEMS = 4_000_000 // MODELS // POINTS
# By task: the number of points, and the probability of a guess.
SIZES = [POINTS // TASKS + (task < POINTS % TASKS) for task in range(TASKS)]
GUESSES = [0.25 if task % 3 == 0 else 0.0 for task in range(TASKS)]
INCORRECT, CORRECT, TRUNCATED = range(3)


def simulate(model):
    """By task, the outcomes on points x problems; `simulate` in large_board.rs has the same rates."""
    rng = numpy.random.default_rng(model)
    skill = 0.3 + 0.65 * model / MODELS
    tasks = []
    for points in SIZES:
        known = skill * (1 - 0.5 * numpy.arange(points)[:, None] / points)
        drawn = rng.random((points, PROBLEMS))
        tasks.append(numpy.where(drawn < known, CORRECT, numpy.where(drawn < 0.98, INCORRECT, TRUNCATED)))
    return tasks


def effective_tasks(tasks):
    """(q, c, g, n, a) of each task: docs/statistics.md, for points of equal weight with one sample per problem."""
    found = []
    for outcomes, guess in zip(tasks, GUESSES):
        odds = guess / (1 - guess)
        values = numpy.array([-odds, 1.0, 0.0])[outcomes]
        q, c = (outcomes == CORRECT).mean(), (outcomes != TRUNCATED).mean()
        s = (q - c * guess) / (1 - guess)
        variance = q + (c - q) * odds**2 - s * s
        deviations = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        points, problems = outcomes.shape
        inverse_n = ((deviations + variance) / (problems * variance)).sum() / problems / points**2
        found.append((q, c, guess, 1 / inverse_n, 0.5 * min(1.0, s * (1 - s) / variance)))
    return numpy.array(found).T


def profile_interval(tasks):
    """The ends of the likelihood interval by a general optimizer: the extreme means of ln s whose deviance is at most 3.84."""
    q, c, g, n, a = effective_tasks(tasks)
    correct, incorrect, truncated = n * q, n * (c - q), n * (1 - c)

    def likelihood(x):
        c, kappa = x[:TASKS], x[TASKS:]
        value = ((correct + incorrect + a) * numpy.log(c) + truncated * numpy.log(1 - c)
                 + correct * numpy.log(g + (1 - g) * kappa) + incorrect * numpy.log(1 - kappa) + a * numpy.log(kappa)).sum()
        slope_c = (correct + incorrect + a) / c - truncated / (1 - c)
        slope_kappa = correct * (1 - g) / (g + (1 - g) * kappa) - incorrect / (1 - kappa) + a / kappa
        return value, numpy.concatenate([slope_c, slope_kappa])

    bounds = [(0.01, 1 - 1e-9)] * (2 * TASKS)
    start = numpy.concatenate([c, (q / c - g) / (1 - g)])
    top = scipy.optimize.minimize(lambda x: tuple(-v for v in likelihood(x)), start, jac=True, method="L-BFGS-B", bounds=bounds)
    limit = -top.fun - scipy.stats.chi2.ppf(0.95, 1) / 2
    inside = {"type": "ineq", "fun": lambda x: likelihood(x)[0] - limit, "jac": lambda x: likelihood(x)[1]}
    ends = []
    for sign in (1, -1):
        goal = lambda x: (sign * numpy.log(x).sum() / TASKS, sign / x / TASKS)
        # At the maximum itself the constraint has no slope to follow.
        near = numpy.clip(top.x * (1 - 0.01 * sign), 0.01, 1 - 1e-9)
        found = scipy.optimize.minimize(goal, near, jac=True, method="SLSQP", bounds=bounds, constraints=[inside],
                                        options={"ftol": 1e-10, "maxiter": 1000})
        ends.append(1000 * math.exp(sign * found.fun))
    return ends


def paired_test(a, b):
    """The p-value of equal scores: the sign-flip test of docs/statistics.md, with equal coefficients merged."""
    total = linear = 0.0
    coefficients, linear_coefficients, counts = [], [], []
    for outcomes_a, outcomes_b, guess, points in zip(a, b, GUESSES, SIZES):
        values = numpy.array([-guess / (1 - guess), 1.0, 0.0])
        places = 9 * numpy.arange(points)[:, None] + 3 * outcomes_a + outcomes_b
        cells = numpy.bincount(places.ravel(), minlength=9 * points).reshape(points, 9)
        of_a, of_b = numpy.repeat(values, 3), numpy.tile(values, 3)
        weights = 1 / (points * cells.sum(axis=1))
        s_a, s_b = weights @ (cells @ of_a), weights @ (cells @ of_b)
        difference = math.log(max(s_a, 0.01)) - math.log(max(s_b, 0.01))
        slope = difference / (s_a - s_b) if s_a != s_b else 1 / s_a
        tangent = 1 / max((s_a + s_b) / 2, 0.01)
        total += difference
        linear += tangent * (s_a - s_b)
        parts, place = numpy.unique(numpy.outer(weights, abs(of_a - of_b)).ravel(), return_inverse=True)
        merged = numpy.bincount(place, weights=cells.ravel())
        keep = (parts > 1e-15) & (merged > 0)
        coefficients.append(slope * parts[keep])
        linear_coefficients.append(tangent * parts[keep])
        counts.append(merged[keep])
    if total * linear <= 0:
        return 1.0
    counts = numpy.concatenate(counts)
    tails = [tail(numpy.concatenate(c), counts, abs(goal)) for c, goal in ((coefficients, total), (linear_coefficients, linear))]
    return min(1.0, 2 * max(tails))


def tail(coefficients, counts, target):
    scale = math.sqrt((counts * coefficients**2).sum())
    coefficients, target = coefficients / scale, target / scale
    if target >= (counts * coefficients).sum() * (1 - 1e-9):
        return 0.5 ** counts.sum()
    t = target
    for _ in range(1000):
        tanh = numpy.tanh(coefficients * t)
        step = (target - (counts * coefficients * tanh).sum()) / (counts * coefficients**2 * (1 - tanh**2)).sum()
        if not step > t * 1e-15:
            break
        t += step
    x = coefficients * t
    cumulant = (counts * (x + numpy.log1p(numpy.exp(-2 * x)) - math.log(2))).sum()
    curvature = (counts * (coefficients / numpy.cosh(numpy.minimum(x, 300))) ** 2).sum()
    r, u = math.sqrt(max(2 * (t * target - cumulant), 0)), t * math.sqrt(curvature)
    z = target if r < 1e-3 else r + math.log(u / r) / r
    return min(0.5, max(0.5 ** counts.sum(), 0.5 * math.erfc(z / math.sqrt(2))))


def paired_bootstrap(a, b, replicates=2000):
    """The interval of the score difference by resampling the problems of each task: what a paired test replaces."""
    rng = numpy.random.default_rng(42)
    logs = numpy.zeros((2, replicates))
    for outcomes_a, outcomes_b, guess in zip(a, b, GUESSES):
        n = outcomes_a.size
        cells = numpy.bincount((3 * outcomes_a + outcomes_b).ravel(), minlength=9)
        drawn = rng.multinomial(n, cells / n, replicates).reshape(replicates, 3, 3)
        for side, axis in ((0, 2), (1, 1)):
            outcomes = drawn.sum(axis=axis)
            completed = n - outcomes[:, TRUNCATED]
            s = (outcomes[:, CORRECT] - guess * completed) / (1 - guess) / n
            logs[side] += numpy.log(numpy.maximum(s, 0.01)) / TASKS
    scores = 1000 * numpy.exp(logs)
    return numpy.quantile(scores[0] - scores[1], [0.025, 0.975])


def large_board(criterion):
    """Rows of the table. The slow peers do a part of the work, and their time is multiplied."""
    models = [simulate(model) for model in range(MODELS)]
    pairs = [(a, b) for a in range(MODELS) for b in range(a + 1, MODELS)]
    part = pairs[:: len(pairs) // 60]
    all_of = len(pairs) / len(part)
    few = models[::10]
    scores = report.ours(criterion, "large board/likelihood scores")
    tests = report.ours(criterion, "large board/paired tests")
    bootstrap = report.ours(criterion, "large board/v2 bootstrap")
    scipy_time = MODELS / len(few) * report.seconds(lambda: [profile_interval(tasks) for tasks in few], 2)
    test_time = all_of * report.seconds(lambda: [paired_test(models[a], models[b]) for a, b in part], 2)
    boot_time = all_of * report.seconds(lambda: [paired_bootstrap(models[a], models[b]) for a, b in part], 2)
    print(f"v2 bootstrap of the same 60 models: {report.shown(bootstrap)}")
    return [
        ("likelihood, 60 models x 12 tasks x 1,067 points", scores, "SciPy, SLSQP", scipy_time, None),
        ("1,770 paired tests, 4,000,000 trials", tests, "numpy, same test", test_time, None),
        ("  the same pairs", tests, "numpy, 2,000 replicates", boot_time, None),
    ]


if __name__ == "__main__":
    criterion = sys.argv[1]
    score = report.ours(criterion, "score/60x12x5000")
    exact = report.ours(criterion, "pairwise/exact 60x12")
    bradley_terry = report.ours(criterion, "bradley_terry/100 even")
    rates = matrix()
    _, sweeps = evalica.bradley_terry_naive(rates)
    print(f"evalica's fit ends after {sweeps} of at most 100 sweeps, at a tolerance of 1e-6; ours goes to 1e-11")
    report.table([
        ("ReasonScore, 60 models x 12 tasks x 5000", score, "numpy", report.seconds(scores_in_numpy), 8),
        ("  the same numbers, to 1e-9", score, "Python", report.seconds(scores_in_python, 1), 100),
        ("all pairs, 60 models x 12 tasks, exact", exact, "numpy, 10,000 draws", report.seconds(pairwise_in_numpy, 3), 10),
        ("Bradley-Terry, 100 models, even", bradley_terry, "evalica, numpy", report.seconds(lambda: evalica.bradley_terry_naive(rates)), None),
        *large_board(criterion),
    ])
