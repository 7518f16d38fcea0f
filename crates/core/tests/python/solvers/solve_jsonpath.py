"""Evaluates a JSONPath query by the rules that the prompt states."""

import json
import operator
import re

STEP = re.compile(
    r"\.\.(?P<deep>\w+)|\.(?P<star>\*)|\.(?P<name>\w+)|\[(?P<all>\*)\]|\[\?(?P<filter>[^\]]*)\]"
    r"|\[(?P<index>-?\d+)\]|\[(?P<start>-?\d*):(?P<end>-?\d*)\]"
)
COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq}


def descendants(value, name):
    """The members of this name at any depth, in the order of the document."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key == name:
                yield member
            yield from descendants(member, name)
    elif isinstance(value, list):
        for element in value:
            yield from descendants(element, name)


def holds(element, condition):
    match = re.fullmatch(r"@(?:\.(\w+))? (>=|<=|>|<|==) (-?\d+)", condition)
    name, sign, number = match.groups()
    if name:
        if not isinstance(element, dict) or name not in element:
            return False
        element = element[name]
    return isinstance(element, int) and COMPARE[sign](element, int(number))


def select(value, step):
    if name := step["deep"]:
        return list(descendants(value, name))
    if step["star"]:
        return list(value.values()) if isinstance(value, dict) else []
    if name := step["name"]:
        return [value[name]] if isinstance(value, dict) and name in value else []
    if not isinstance(value, list):
        return []
    if step["all"]:
        return value
    if condition := step["filter"]:
        return [element for element in value if holds(element, condition)]
    if step["index"]:
        position = int(step["index"])
        return [value[position]] if -len(value) <= position < len(value) else []
    start, end = (int(text) if text else None for text in (step["start"], step["end"]))
    return value[start:end]


def solve(prompt):
    match = re.search(r"What does the JSONPath query \$(.*?) select from it\?", prompt)
    document = json.loads(prompt[: match.start()].split("\n\n", 1)[1])
    query, values, position = match[1], [document], 0
    rules = prompt[match.end():]
    while position < len(query):
        step = STEP.match(query, position)
        if not step:
            raise ValueError(f"unknown step {query[position:]!r}")
        # Each kind of step has its rule in the prompt.
        stated = {"deep": "at any depth", "star": ".* selects", "all": "[*] selects", "filter": "[?condition]",
                  "index": "count from 0", "end": "[a:b] selects"}
        for kind, rule in stated.items():
            assert step[kind] is None or rule in rules, f"no rule for {step[0]}"
        values = [found for value in values for found in select(value, step)]
        position = step.end()
    return json.dumps(values)
