"""Follows things through swaps."""

import re


def solve(prompt):
    paragraphs = prompt.split("\n\n")
    start, events, question = paragraphs[0], paragraphs[1], paragraphs[2]
    if "people has one thing" in start:
        holder = dict((thing, who) for who, thing in re.findall(r"(\w+) has the (\w+)", start))
        for line in events.splitlines():
            if match := re.fullmatch(r"(\w+) and (\w+) swap what they have\.", line):
                swap = {match[1]: match[2], match[2]: match[1]}
                holder = {thing: swap.get(who, who) for thing, who in holder.items()}
            elif match := re.search(r"the (\w+) is with (\w+)\.|(\w+) has the (\w+)\.", line):
                thing, who = (match[1], match[2]) if match[1] else (match[4], match[3])
                assert holder[thing] == who, "a statement on the moment is false"
        return holder[re.search(r"Who has the (\w+) in the end", question)[1]]
    if "cups hides one thing" in start:
        cup_of = dict(re.findall(r"the (\w+) is under the (\w+) cup", start))
        for line in events.splitlines():
            if match := re.fullmatch(r"The things under the (\w+) cup and the (\w+) cup are swapped\.", line):
                swap = {match[1]: match[2], match[2]: match[1]}
                cup_of = {thing: swap.get(cup, cup) for thing, cup in cup_of.items()}
            elif match := re.search(r"the (\w+) is under the (\w+) cup\.|the (\w+) cup hides the (\w+)\.", line):
                thing, cup = (match[1], match[2]) if match[1] else (match[4], match[3])
                assert cup_of[thing] == cup, "a statement on the moment is false"
        return cup_of[re.search(r"Which cup hides the (\w+) in the end", question)[1]] + " cup"
    seat_of = {who: int(seat) for who, seat in re.findall(r"(\w+) is in seat (\d+)", start)}
    for line in events.splitlines():
        pair = None
        if match := re.fullmatch(r"The people in seats (\d+) and (\d+) swap seats\.", line):
            pair = [int(match[1]), int(match[2])]
        elif match := re.fullmatch(r"(\w+) and (\w+) swap seats\.", line):
            pair = [seat_of[match[1]], seat_of[match[2]]]
        elif match := re.search(r"(\w+) is in seat (\d+)\.|the person in seat (\d+) is (\w+)\.", line):
            who, seat = (match[1], match[2]) if match[1] else (match[4], match[3])
            assert seat_of[who] == int(seat), "a statement on the moment is false"
        if pair:
            swap = {pair[0]: pair[1], pair[1]: pair[0]}
            seat_of = {who: swap.get(seat, seat) for who, seat in seat_of.items()}
    if match := re.search(r"Who is in seat (\d+) in the end", question):
        return next(who for who, seat in seat_of.items() if seat == int(match[1]))
    if match := re.search(r"In which seat is (\w+) in the end", question):
        return f"seat {seat_of[match[1]]}"
    raise ValueError(f"unknown question {question!r}")
