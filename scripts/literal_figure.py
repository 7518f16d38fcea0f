#!/usr/bin/env python3
"""Draws docs/images/literal.svg: the margin of C_P as trials get truncated, reduced and by the literal products.

    python3 scripts/literal_figure.py > docs/images/literal.svg

128 trials on two options, of which 88 % of the completed ones are correct. The reduced estimate drops the factor
Wilson(n_u, n) where nothing was truncated, so its margin jumps between none and one truncated trial.
"""

import math

Z = 1.959963984540054
N, RATE = 128, 0.88
LEFT, TOP, WIDTH, HEIGHT = 70, 50, 560, 280
LOW, HIGH, LAST = 0.08, 0.12, 16


def wilson(k, n):
    root = Z * math.sqrt(max(k * (n - k) / n, 0) + Z * Z / 4)
    return (k + Z * Z / 2 - root) / (n + Z * Z) if k else 0.0, (k + Z * Z / 2 + root) / (n + Z * Z) if k < n else 1.0


def margins(n_t):
    """(reduced, literal)"""
    n_u = N - n_t
    g, n_e = n_u / 2, RATE * n_u
    known, done = wilson(n_e - g, n_u - g), wilson(n_u, N)
    literal = (known[1] * done[1] - known[0] * done[0]) / 2
    return (known[1] - known[0]) / 2 if n_t == 0 else literal, literal


def x(n_t):
    return LEFT + WIDTH * n_t / LAST


def y(margin):
    return TOP + HEIGHT * (HIGH - margin) / (HIGH - LOW)


def main():
    rows = [margins(n_t) for n_t in range(LAST + 1)]
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 400" font-family="sans-serif" font-size="13" role="img" '
          'aria-label="Margin of C_P against the number of truncated trials">')
    print('<rect width="660" height="400" fill="#fff"/>')
    for step in range(5):
        value = LOW + (HIGH - LOW) * step / 4
        print(f'<path d="M{LEFT} {y(value):.1f}h{WIDTH}" stroke="#ddd"/>'
              f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    for n_t in range(0, LAST + 1, 2):
        print(f'<text x="{x(n_t):.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{n_t}</text>')
    line = " ".join(f"{x(i):.1f},{y(literal):.1f}" for i, (_, literal) in enumerate(rows))
    print(f'<polyline points="{line}" fill="none" stroke="#1b6ca8" stroke-width="2" stroke-dasharray="6 4"/>')
    for i, (reduced, literal) in enumerate(rows):
        print(f'<circle cx="{x(i):.1f}" cy="{y(reduced):.1f}" r="4" fill="#c2410c"/>')
    print(f'<text x="{x(0) + 10:.1f}" y="{y(rows[0][0]) + 5:.1f}">reduced, n_t = 0: {rows[0][0]:.4f}</text>')
    print(f'<text x="{x(1) + 10:.1f}" y="{y(rows[1][0]) + 18:.1f}">n_t = 1: {rows[1][0]:.4f}</text>')
    print(f'<text x="{x(0) + 10:.1f}" y="{y(rows[0][1]) - 10:.1f}">literal, n_t = 0: {rows[0][1]:.4f}</text>')
    print(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 44}" text-anchor="middle">truncated trials n_t of {N}</text>')
    print(f'<text transform="translate(22 {TOP + HEIGHT / 2}) rotate(-90)" text-anchor="middle">margin of C_P</text>')
    print(f'<circle cx="{LEFT + 6}" cy="24" r="4" fill="#c2410c"/><text x="{LEFT + 18}" y="28">default (reduced)</text>')
    print(f'<path d="M{LEFT + 170} 24h36" stroke="#1b6ca8" stroke-width="2" stroke-dasharray="6 4"/>'
          f'<text x="{LEFT + 214}" y="28">--literal</text>')
    print("</svg>")


if __name__ == "__main__":
    main()
