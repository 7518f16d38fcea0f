"""Evaluates a logical expression with the precedence that the prompt states."""

import re


def solve(prompt):
    expression = prompt.split("\n\n")[1]
    match = re.search(r"Here (\w+) means true and (\w+) means false", prompt)
    true, false = match.groups() if match else ("TRUE", "FALSE")
    assert match or f"{true} or {false}" in prompt
    # From the tightest to the loosest.
    order = re.search(r"Parentheses come first, then not, then (.*?)\. ", prompt)[1].split(", then ")
    words = sorted([true, false, "not", "and", "or", "xor", "implies", "(", ")"], key=len, reverse=True)
    symbols, rest = [], expression.strip()
    while rest:
        symbol = next((word for word in words if rest.startswith(word)), None)
        if symbol is None:
            raise ValueError(f"unexpected {rest[:20]!r}")
        symbols.append(symbol)
        rest = rest[len(symbol):].lstrip()
    assert all(symbol in order for symbol in symbols if symbol in ("and", "or", "xor", "implies")), "no stated precedence"
    apply = {
        "and": lambda a, b: a and b,
        "or": lambda a, b: a or b,
        "xor": lambda a, b: a != b,
        "implies": lambda a, b: not a or b,
    }

    def unary():
        symbol = symbols.pop(0)
        if symbol == "not":
            return not unary()
        if symbol == "(":
            value = binary(len(order) - 1)
            if symbols.pop(0) != ")":
                raise ValueError("a parenthesis is not closed")
            return value
        return {true: True, false: False}[symbol]

    def binary(level):
        if level < 0:
            return unary()
        operator = order[level]
        values = [binary(level - 1)]
        while symbols and symbols[0] == operator:
            symbols.pop(0)
            values.append(binary(level - 1))
        if operator == "implies" and len(values) > 2:
            assert "a implies b implies c means a implies (b implies c)" in prompt
        if operator == "implies":
            result = values.pop()
            while values:
                result = apply[operator](values.pop(), result)
            return result
        result = values[0]
        for value in values[1:]:
            result = apply[operator](result, value)
        return result

    value = binary(len(order) - 1)
    if symbols:
        raise ValueError(f"left over: {symbols[:5]}")
    return true if value else false
