"""Generators compared with reasoning-gym, one core each, at comparable settings; COMPARABLE in tasks.rs has ours.

Both sides write the question and work out the answer. The peer seeds its generator again for every item, and what it
keeps in `metadata` is part of its time; we leave out no prompt that the batch has shown already.
"""

import math
import sys

import reasoning_gym

import report

ITEMS = 500
WANTED = 40
# How much slower than version 1 a task may be.
MAX_RATIO = 1.2
TASKS = [
    "arithmetic", "boolean", "brackets", "cars", "dates", "jsonpath", "letters", "objects", "sequence", "shapes", "shuffle",
    "sort", "tables",
]

# Our name, the peer's, its settings.
COMPARABLE = [
    # Four numbers of up to two digits, +, - and *, with parentheses.
    ("arithmetic", "basic_arithmetic", {
        "min_terms": 4, "max_terms": 4, "min_digits": 2, "max_digits": 2, "operators": ["+", "-", "*"]}),
    # The same without parentheses or products.
    ("arithmetic, flat", "chain_sum", {"min_terms": 4, "max_terms": 4, "min_digits": 2, "max_digits": 2}),
    # Twelve truth values in groups of one level. The peer draws a circuit as well.
    ("boolean", "circuit_logic", {"min_terms": 4, "max_terms": 4, "min_inputs": 3, "max_inputs": 3}),
    # A date and a step of days; which date or weekday is it then?
    ("dates", "calendar_arithmetic", {"tasks": ["weekday_offset"], "offset_upper_bound": 365}),
    # One letter in ten words.
    ("letters", "letter_counting", {"min_words": 10, "max_words": 10}),
    # Six entries of a quantity and a noun; add up those of a kind (ours), or their legs (the peer's).
    ("objects", "leg_counting", {"min_animals": 6, "max_animals": 6, "max_instances": 12}),
    # Ten words in alphabetical order.
    ("sort", "word_sorting", {"min_words": 10, "max_words": 10}),
    # Ten whole numbers in order; ours are at the end of labels.
    ("sort, numbers", "number_sorting", {
        "min_numbers": 10, "max_numbers": 10, "min_decimals": 0, "max_decimals": 0}),
]


def item_time(name, settings):
    dataset = reasoning_gym.create_dataset(name, seed=42, size=ITEMS, **settings)
    return sum(report.seconds(lambda: dataset[index], 9) for index in range(ITEMS)) / ITEMS


if __name__ == "__main__":
    criterion = sys.argv[1]
    rows = []
    for what, peer, settings in COMPARABLE:
        mine = report.ours(criterion, f"comparable/{what}") / ITEMS
        rows.append((what, mine, peer, item_time(peer, settings), WANTED))
    report.table(rows)
    ratios = [theirs / mine for _, mine, _, theirs, _ in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"\ngeometric mean {mean:.1f}x, least {min(ratios):.1f}x, of {WANTED}x wanted")
    print("\nversion 2 beside version 1, at the defaults of each:")
    for task in TASKS:
        one, two = (report.ours(criterion, f"defaults/{task}@{version}") / ITEMS for version in (1, 2))
        verdict = "" if two / one <= MAX_RATIO else f"  more than {MAX_RATIO}"
        print(f"  {task:<11} {report.shown(one)} -> {report.shown(two)}  {two / one:.2f}{verdict}")
    r12 = report.ours(criterion, "suite/r12 x 64")
    print(f"r12 in full, 64 problems per point, all cores: {report.shown(r12)}, of 2 s wanted")
