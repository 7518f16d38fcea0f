"""Sorts words or labels by the key that the first line states, ignoring case."""

import re


def solve(prompt):
    request, shown = prompt.split("\n\n")[:2]
    items = re.findall(r"\w+", shown)
    word = str.lower
    trailing = lambda item: int(re.search(r"\d+$", item)[0])
    if "natural order" in request:
        key = lambda item: (word(re.sub(r"\d+$", "", item)), trailing(item))
        result = sorted(items, key=key)
    elif "number at their end" in request:
        result = sorted(items, key=trailing)
    elif "reverse alphabetical" in request:
        result = sorted(items, key=word, reverse=True)
    elif "length" in request or "shortest" in request:
        result = sorted(items, key=lambda item: (len(item), word(item)))
    elif "alphabetical order" in request:
        result = sorted(items, key=word)
    else:
        raise ValueError(f"no known key in {request!r}")
    stated = re.search(r"all (\d+) ", prompt)
    assert not stated or int(stated[1]) == len(items)
    return ", ".join(result)
