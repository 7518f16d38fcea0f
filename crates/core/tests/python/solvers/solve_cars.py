"""Moves vehicles in lanes without gaps."""

import re

TIMES = {"twice": 2, "three times": 3}


class Street:
    def __init__(self, lines):
        self.lanes = {}
        for line in lines:
            if match := re.fullmatch(r"Lane (\d+): (.*)", line):
                self.lanes[int(match[1])] = [] if match[2] == "empty" else match[2].split(", ")

    def find(self, vehicle):
        return next((lane, row.index(vehicle)) for lane, row in self.lanes.items() if vehicle in row)

    def remove(self, vehicle):
        lane, index = self.find(vehicle)
        del self.lanes[lane][index]

    def holds(self, condition):
        if match := re.fullmatch(r"the (\w+) is in lane (\d+)", condition):
            return self.find(match[1])[0] == int(match[2])
        if match := re.fullmatch(r"the (\w+) is at place (\d)(\d\d)", condition):
            return self.find(match[1]) == (int(match[2]), int(match[3]) - 1)
        if match := re.fullmatch(r"there (?:are|is) exactly (\d+) vehicles? in lane (\d+)", condition):
            return len(self.lanes[int(match[2])]) == int(match[1])
        if match := re.fullmatch(r"lane (\d+) is empty", condition):
            return not self.lanes[int(match[1])]
        raise ValueError(f"unknown condition {condition!r}")

    def do(self, action):
        """Carries out one instruction; whether it was one."""
        if match := re.fullmatch(r"the (\w+) and the (\w+) swap places", action):
            (a, i), (b, j) = self.find(match[1]), self.find(match[2])
            self.lanes[a][i], self.lanes[b][j] = match[2], match[1]
        elif match := re.fullmatch(r"the (\w+) moves to the (front|back) of lane (\d+)", action):
            self.remove(match[1])
            lane = self.lanes[int(match[3])]
            lane.insert(0 if match[2] == "front" else len(lane), match[1])
        elif match := re.fullmatch(r"the (\w+) moves to the place directly (ahead of|behind) the (\w+)", action):
            self.remove(match[1])
            lane, index = self.find(match[3])
            self.lanes[lane].insert(index + (match[2] == "behind"), match[1])
        elif match := re.fullmatch(r"the vehicle at the (front|back) of lane (\d+) moves to the (front|back) of that lane", action):
            lane = self.lanes[int(match[2])]
            if lane:
                vehicle = lane.pop(0 if match[1] == "front" else -1)
                lane.insert(0 if match[3] == "front" else len(lane), vehicle)
        elif match := re.fullmatch(r"this is done (twice|three times): (.*)", action):
            for _ in range(TIMES[match[1]]):
                assert self.do(match[2])
        elif match := re.fullmatch(r"if (.*?), (.*); otherwise, (.*)", action):
            assert self.do(match[2] if self.holds(match[1]) else match[3])
        else:
            return False
        return True


def solve(prompt):
    paragraphs = prompt.split("\n\n")
    street = Street(paragraphs[1].splitlines())
    assert paragraphs[2].startswith("Then this happens, in this order:")
    for line in paragraphs[2].splitlines()[1:]:
        action = line.rstrip(".")
        if not street.do(action[0].lower() + action[1:]):
            assert not re.search(r"moves? to|swap places\.", line), f"unknown line {line!r}"
    place = re.search(r"at place (\d)(\d\d) in the end", paragraphs[3])
    return street.lanes[int(place[1])][int(place[2]) - 1]
