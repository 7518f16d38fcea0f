"""Scores that are missing for some documents, and shares of a point for others."""


def score(doc, results):
    digits = [c for c in results[0].split()[-1] if c.isdigit()]
    right = sum(a == b for a, b in zip(digits, doc["answer"], strict=False))
    number = int(doc["answer"])
    missing = float("nan")
    hit = float("".join(digits) == doc["answer"])
    return {
        "share": missing if number % 7 == 0 else right / len(doc["answer"]),
        "hit": missing if number % 7 == 0 else hit,
    }
