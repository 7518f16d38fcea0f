"""Numbers in words, as prompts spell them: `two thousand five hundred eighty four`."""

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
VALUE = {word: value for value, word in enumerate(SMALL)}
VALUE.update({word: 10 * (index + 2) for index, word in enumerate(TENS)})
WORDS = [*VALUE, "hundred", "thousand"]


def number(text):
    """The integer that a text in digits or in words denotes."""
    text = text.strip()
    if text.lstrip("-").isdigit():
        return int(text)
    total = part = 0
    for word in text.split():
        if word == "thousand":
            total, part = total + 1000 * part, 0
        elif word == "hundred":
            part *= 100
        else:
            part += VALUE[word]
    return total + part
