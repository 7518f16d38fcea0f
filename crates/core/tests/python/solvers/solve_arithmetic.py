"""Works out an integer expression: parentheses, then * and %, then + and -, each from left to right."""

import re

from words import WORDS, number

TOKEN = re.compile(r"\s*(?:(\d+)|((?:(?:%s)\b\s*)+)|([-+*%%()]))" % "|".join(sorted(WORDS, key=len, reverse=True)))


def tokens(text):
    position, found = 0, []
    text = text.strip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise ValueError(f"unexpected {text[position:position + 20]!r}")
        digits, words, sign = match.groups()
        found.append(sign or number(digits or words))
        position = match.end()
    return found


class Reader:
    def __init__(self, symbols):
        self.symbols = symbols

    def peek(self):
        return self.symbols[0] if self.symbols else None

    def primary(self):
        symbol = self.symbols.pop(0)
        if symbol == "(":
            value = self.sum()
            if self.symbols.pop(0) != ")":
                raise ValueError("a parenthesis is not closed")
            return value
        if not isinstance(symbol, int):
            raise ValueError(f"unexpected {symbol!r}")
        return symbol

    def product(self):
        value = self.primary()
        while self.peek() in ("*", "%"):
            if self.symbols.pop(0) == "*":
                value *= self.primary()
            else:
                divisor = self.primary()
                if divisor <= 0:
                    raise ValueError("the remainder of a division by zero or less isn't defined in the prompt")
                value -= divisor * (value // divisor)
        return value

    def sum(self):
        value = self.product()
        while self.peek() in ("+", "-"):
            value += self.product() if self.symbols.pop(0) == "+" else -self.product()
        return value


def solve(prompt):
    expression = prompt.split("\n\n")[1]
    symbols = tokens(expression)
    # Each precedence that is needed has to be stated.
    if {"*", "%"} & {symbol for symbol in symbols if isinstance(symbol, str)}:
        assert "then *" in prompt, "the precedence isn't stated"
    reader = Reader(symbols)
    value = reader.sum()
    if reader.symbols:
        raise ValueError(f"left over: {reader.symbols[:5]}")
    return str(value)
