"""Names a quadrilateral by the lengths and directions of its sides, as precisely as its rounded coordinates allow."""

import math
import re


def vertices(path):
    """The corners in the order of the outline, whose sides may come in any order."""
    commands = re.findall(r"([ML]) (-?[\d.]+) (-?[\d.]+)", path)
    sides, start, position = [], None, None
    for command, x, y in commands:
        point = (float(x), float(y))
        if command == "L":
            sides.append((position, point))
        else:
            start = point
        position = point
    if path.rstrip().endswith("Z"):
        sides.append((position, start))
    outline = [*sides.pop(0)]
    while sides:
        side = next(side for side in sides if outline[-1] in side)
        sides.remove(side)
        outline.append(side[1] if side[0] == outline[-1] else side[0])
    assert outline[0] == outline[-1], "the outline isn't closed"
    return outline[:-1]


def solve(prompt):
    path = re.search(r'<path id="shape" d="([^"]*)"', prompt)[1]
    corners = vertices(path)
    assert len(corners) == 4, f"{len(corners)} corners"
    sides = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(corners, corners[1:] + corners[:1])]
    lengths = [math.hypot(*side) for side in sides]
    cross = lambda a, b: a[0] * b[1] - a[1] * b[0]
    angle = lambda a, b: math.degrees(math.asin(max(-1, min(1, cross(a, b) / math.hypot(*a) / math.hypot(*b)))))
    parallel = lambda i: abs(angle(sides[i], sides[i + 2])) < 9
    equal = lambda i, j: abs(lengths[i] - lengths[j]) < 0.11 * max(lengths[i], lengths[j])
    right = lambda i: abs(abs(angle(sides[i - 1], sides[i])) - 90) < 25 and abs(
        (sides[i - 1][0] * sides[i][0] + sides[i - 1][1] * sides[i][1]) / lengths[i - 1] / lengths[i]
    ) < 0.16
    both = parallel(0) and parallel(1)
    turns = [cross(sides[i - 1], sides[i]) > 0 for i in range(4)]
    is_convex = len(set(turns)) == 1
    if both:
        all_equal = equal(0, 1) and equal(1, 2) and equal(2, 3)
        if right(0) and right(1):
            name = "square" if all_equal else "rectangle"
        else:
            name = "rhombus" if all_equal else "parallelogram"
    elif parallel(0) or parallel(1):
        # The legs are the sides that aren't parallel.
        legs = (1, 3) if parallel(0) else (0, 2)
        if sum(right(i) for i in range(4)) == 2:
            name = "right trapezoid"
        else:
            name = "isosceles trapezoid" if equal(*legs) else "trapezoid"
    elif (equal(0, 1) and equal(2, 3)) or (equal(1, 2) and equal(3, 0)):
        name = "kite" if is_convex else "dart"
    else:
        name = "irregular quadrilateral"
    options = re.findall(r"^[A-J]\) (.*)$", prompt, re.M)
    assert name in options, f"{name} is not among the options"
    return name
