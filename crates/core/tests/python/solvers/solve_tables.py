"""Reads one or two tables and answers a question about them."""

import csv
import html.parser
import io
import json
import re


class HtmlTable(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.rows, self.cell = [], None

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell.strip())
            self.cell = None


def table(text, kind):
    """The rows as dictionaries of texts."""
    if kind == "JSON":
        return [{key: str(value) for key, value in row.items()} for row in json.loads(text)]
    if kind == "CSV":
        rows = list(csv.reader(io.StringIO(text)))
    elif kind == "Markdown":
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()]
        assert set("".join(rows.pop(1))) <= set("-: ")
    else:
        parser = HtmlTable()
        parser.feed(text)
        rows = [row for row in parser.rows if row]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


CONDITION = re.compile(r'the (\w+) is (?:"([^"]*)"|at (least|most) (-?\d+)|(-?\d+))')


def filters(text, columns):
    """The conditions in a text, as functions of a row."""
    found = []
    for match in CONDITION.finditer(text):
        column, word, bound, limit, number = match.groups()
        assert column in columns, f"no column {column!r}"
        if word is not None:
            found.append(lambda row, column=column, word=word: row[column] == word)
        elif bound == "least":
            found.append(lambda row, column=column, limit=limit: int(row[column]) >= int(limit))
        elif bound == "most":
            found.append(lambda row, column=column, limit=limit: int(row[column]) <= int(limit))
        else:
            found.append(lambda row, column=column, number=number: row[column] == number)
    # Nothing else may stand between the conditions.
    rest = CONDITION.sub("", text)
    assert re.fullmatch(r"(, | and |, and )*", rest), f"unread condition {rest!r}"
    return found


def solve(prompt):
    paragraphs = prompt.split("\n\n")
    kind = re.search(r" in (Markdown|CSV|JSON|HTML)[.:]", paragraphs[0])[1]
    rows = table(paragraphs[1], kind)
    question = paragraphs[-1]
    columns = list(rows[0])

    def chosen(text):
        conditions = filters(text, columns)
        return [row for row in rows if all(condition(row) for condition in conditions)]

    if match := re.match(r"What is the (\w+) in the row whose (\w+) is (?:\"([^\"]*)\"|(\d+))\?", question):
        wanted = match[3] if match[3] is not None else match[4]
        [row] = [row for row in rows if row[match[2]] == wanted]
        return row[match[1]]
    if match := re.match(r"In exactly one row (.*?)\. What is the (\w+) in that row\?", question):
        [row] = chosen(match[1])
        return row[match[2]]
    if match := re.match(r"How many different values are there in the column (\w+)\?", question):
        return str(len({row[match[1]] for row in rows}))
    if match := re.match(r"How many rows are there in which (.*?)\?", question):
        return str(len(chosen(match[1])))
    if match := re.match(r"What is the sum of the (\w+) over (?:all rows|the rows in which (.*?))\?", question):
        return str(sum(int(row[match[1]]) for row in chosen(match[2] or "")))
    largest = r"(?:Find the row|Of the rows in which (.*?), find the one) with the largest (\w+); if several share it, the first of them\. What is its (\w+)\?"
    if match := re.match(largest, question):
        # `max` takes the first of equals.
        return max(chosen(match[1] or ""), key=lambda row: int(row[match[2]]))[match[3]]
    group = r"For each (\w+), add up the (\w+) of its rows(?:, using only the rows in which (.*?))?\. What is the largest of these sums\?"
    if match := re.match(group, question):
        sums = {}
        for row in chosen(match[3] or ""):
            sums[row[match[1]]] = sums.get(row[match[1]], 0) + int(row[match[2]])
        return str(max(sums.values()))
    join = (
        r"Rows with the same ([\w ]+) in both tables belong together\. What is the sum of the (\w+) over the rows of the first "
        r'table whose customer has the (\w+) "([^"]*)"(?: and in which (.*?))?\?'
    )
    if match := re.match(join, question):
        others = table(paragraphs[3], kind)
        [key] = set(columns) & set(others[0])
        assert key.replace("_", " ") in (match[1], match[1].split()[0]), f"`{match[1]}` isn't the shared column `{key}`"
        keys = {row[key] for row in others if row[match[3]] == match[4]}
        assert len({row[key] for row in others}) == len(others), "a key occurs twice in the second table"
        return str(sum(int(row[match[2]]) for row in chosen(match[5] or "") if row[key] in keys))
    raise ValueError(f"unknown question {question!r}")
