"""Continues a sequence by rules that are stated in words."""

import re

from words import WORDS, number


def condition(text):
    """Whether a rule applies, as a function of the position and the term just before."""
    digits = lambda value: sum(map(int, str(value)))
    match = re.fullmatch(r"the (position of the new term|term just before|digit sum of the term just before) is (.*)", text)
    if not match:
        raise ValueError(f"unknown condition {text!r}")
    subject, predicate = match.groups()
    values = {
        "position of the new term": lambda position, before: position,
        "term just before": lambda position, before: before,
        "digit sum of the term just before": lambda position, before: digits(before),
    }
    value = values[subject]
    if predicate in ("even", "odd"):
        wanted = ("even", "odd").index(predicate)
        return lambda *state: value(*state) % 2 == wanted
    if match := re.fullmatch(r"a multiple of (\d+)", predicate):
        return lambda *state: value(*state) % int(match[1]) == 0
    if match := re.fullmatch(r"greater than (\d+)", predicate):
        return lambda *state: value(*state) > int(match[1])
    if match := re.fullmatch(r"(?:less|smaller) than (\d+)", predicate):
        return lambda *state: value(*state) < int(match[1])
    raise ValueError(f"unknown condition {text!r}")


def step(text):
    """One step, as a function of the running number and the terms so far."""
    if match := re.fullmatch(r"add (\d+)", text):
        return lambda running, terms: running + int(match[1])
    if match := re.fullmatch(r"subtract (\d+)", text):
        return lambda running, terms: running - int(match[1])
    if match := re.fullmatch(r"multiply by (\d+)", text):
        return lambda running, terms: running * int(match[1])
    if match := re.fullmatch(r"add the term (\d+) positions before the new term", text):
        return lambda running, terms: running + terms[-int(match[1])]
    if text == "add the digit sum of the running number":
        return lambda running, terms: running + sum(map(int, str(running)))
    raise ValueError(f"unknown step {text!r}")


def steps(text):
    return [step(part) for part in text.rstrip(".").split(", then ")]


def solve(prompt):
    paragraphs = prompt.split("\n\n")
    shown = re.findall(r"\d+|(?:(?:%s)\b ?)+" % "|".join(sorted(WORDS, key=len, reverse=True)), paragraphs[1])
    terms = [number(term) for term in shown]
    stated = re.search(r"The first (\d+) terms of", paragraphs[0])
    assert stated is None or int(stated[1]) == len(terms), "the number of terms differs from the stated one"
    modulus = int(re.search(r"remainder of the running number divided by (\d+)", prompt)[1])
    rules = []
    for line in re.findall(r"^\d+\. (.*)$", prompt, re.M):
        if match := re.fullmatch(r"If (.*?): (.*)", line):
            rules.append((condition(match[1]), steps(match[2])))
        else:
            rules.append((lambda *state: True, steps(re.fullmatch(r"Otherwise: (.*)", line)[1])))
    if not rules:
        only = re.search(r"change it by (?:these steps, in order|this step): ([^.]*)\.", prompt)[1]
        rules.append((lambda *state: True, steps(only)))
    if match := re.search(r"The first (\d+) terms are given", prompt):
        given = int(match[1])
    else:
        assert "The first term is given" in prompt
        given = 1

    def following(known):
        position, before = len(known) + 1, known[-1]
        running = before
        chosen = next(changes for holds, changes in rules if holds(position, before))
        for change in chosen:
            running = change(running, known)
        return running % modulus

    # The terms shown follow the rules as well.
    for position in range(given, len(terms)):
        assert following(terms[:position]) == terms[position], "a shown term breaks the rules"
    match = re.search(r"next (\d+) terms", prompt)
    count = int(match[1]) if match else 1
    for _ in range(count):
        terms.append(following(terms))
    return ", ".join(map(str, terms[-count:]))
