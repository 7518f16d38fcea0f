"""Statistics compared with NumPy, plain Python and evalica, on the same leaderboard."""

import math
import random
import sys

import evalica
import numpy

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
    ])
