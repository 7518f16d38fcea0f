"""Moves a date by the lines that begin with "Go"."""

import calendar
import datetime
import re

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = {name: index for index, name in enumerate(calendar.month_name) if name}


def read(text, prompt):
    if match := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", text):
        return datetime.date(*map(int, match.groups()))
    if match := re.fullmatch(r"([A-Z][a-z]+) (\d+), (\d+)", text):
        return datetime.date(int(match[3]), MONTHS[match[1]], int(match[2]))
    if match := re.fullmatch(r"(\d+) ([A-Z][a-z]+) (\d+)", text):
        return datetime.date(int(match[3]), MONTHS[match[2]], int(match[1]))
    match = re.fullmatch(r"(\d\d?)([./])(\d\d?)[./](\d{4})", text)
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    lower = prompt.lower()
    month_first = "month/day/year" in lower or "mm/dd/yyyy" in lower or "month, day" in lower
    day_first = "day/month/year" in lower or "dd.mm.yyyy" in lower or "day.month.year" in lower or "day, month" in lower
    if match[2] == "/" and month_first:
        return datetime.date(year, first, second)
    if day_first:
        return datetime.date(year, second, first)
    raise ValueError(f"the prompt doesn't say how to read {text!r}")


def move(date, line):
    direction = 1 if line.startswith("Go forward") else -1
    if match := re.fullmatch(r"Go (?:forward|back) (\d+) (days?|weeks?|months?|business days?)\.", line):
        count, unit = int(match[1]), match[2].rstrip("s")
        if unit == "day":
            return date + datetime.timedelta(direction * count)
        if unit == "week":
            return date + datetime.timedelta(7 * direction * count)
        if unit == "month":
            months = 12 * date.year + date.month - 1 + direction * count
            year, month = months // 12, months % 12 + 1
            return date.replace(year=year, month=month, day=min(date.day, calendar.monthrange(year, month)[1]))
        # Whole weeks have five business days each; the rest is counted day by day.
        if date.weekday() < 5:
            date += datetime.timedelta(direction * 7 * (count // 5))
            count %= 5
        while count:
            date += datetime.timedelta(direction)
            count -= date.weekday() < 5
        return date
    match = re.fullmatch(r"Go (?:forward|back) to the nearest (\w+) strictly (?:after|before) the current date\.", line)
    if not match:
        raise ValueError(f"unknown line {line!r}")
    date += datetime.timedelta(direction)
    while DAYS[date.weekday()] != match[1]:
        date += datetime.timedelta(direction)
    return date


def solve(prompt):
    start = re.search(r"Start on (.*) and follow", prompt)[1]
    date = read(start, prompt)
    for line in prompt.splitlines():
        if line.startswith("Go "):
            if "month" in line:
                assert "if the month reached has no such day, take its last day" in prompt, "no month-end rule"
            date = move(date, line)
    if "day of the week" in prompt:
        return DAYS[date.weekday()]
    return date.isoformat()
