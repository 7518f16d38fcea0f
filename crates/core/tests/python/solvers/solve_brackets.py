"""Closes the brackets that are still open, the last one first."""

import re


def solve(prompt):
    text = prompt.split("\n\n")[1]
    pairs = dict(re.findall(r"([(\[{<]) ([)\]}>])", prompt))
    open_brackets = []
    for character in text:
        if character in pairs:
            open_brackets.append(character)
        elif character in pairs.values():
            if pairs[open_brackets.pop()] != character:
                raise ValueError("a bracket is closed by another kind")
        elif character in "()[]{}<>":
            raise ValueError(f"{character} is not among the pairs of the prompt")
    return "".join(pairs[character] for character in reversed(open_brackets))
