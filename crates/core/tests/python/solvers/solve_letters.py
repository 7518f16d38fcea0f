"""Counts letters in the words that aren't in square brackets."""

import re


def solve(prompt):
    question, words = prompt.split("\n\n")[:2]
    letters = re.findall(r'"(\w)"', question)
    assert letters and "case count alike" in prompt
    assert "[" not in words or "Words in [square brackets] do not count" in prompt
    counted = re.sub(r"\[[^\]]*\]", " ", words).lower()
    return str(sum(counted.count(letter) for letter in letters))
