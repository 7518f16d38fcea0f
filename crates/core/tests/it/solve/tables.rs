//! Reads tables back from their four notations, and the question as a sentence.

use std::collections::{BTreeMap, BTreeSet};

use reasonscape_core::Json;

use super::between;

/// A row by the names of its columns.
type Row = BTreeMap<String, String>;

pub(crate) fn solve(prompt: &str) -> String {
    let parts: Vec<&str> = prompt.split("\n\n").collect();
    let format = parts[0].split(" in ").nth(1).unwrap().split([':', '.']).next().unwrap();
    let rows = read(format, parts[1]);
    let question = *parts.last().unwrap();

    if let Some(rest) =
        question.strip_prefix("Rows with the same customer code in both tables belong together.")
    {
        let homes: BTreeMap<String, String> = read(format, parts[3])
            .into_iter()
            .map(|row| (row["customer"].clone(), row["country"].clone()))
            .collect();
        let country = between(rest, "has the country \"", "\"");
        let from = |row: &Row| homes.get(&row["customer"]).expect("every customer is listed") == country;
        let measure = between(rest, "the sum of the ", " over");
        return sum(filter(&rows, rest).into_iter().filter(|row| from(row)), measure).to_string();
    }

    let kept = filter(&rows, question);
    if let Some(column) = question.strip_prefix("How many different values are there in the column ") {
        let column = column.split('?').next().unwrap();
        kept.iter().map(|row| &row[column]).collect::<BTreeSet<_>>().len().to_string()
    } else if question.starts_with("How many rows") {
        kept.len().to_string()
    } else if question.starts_with("In exactly one row") {
        assert_eq!(kept.len(), 1, "{prompt}");
        kept[0][between(question, ". What is the ", " in that row")].clone()
    } else if question.contains(" in the row whose id is ") {
        let id = between(question, "whose id is ", "?");
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        row[between(question, "What is the ", " in the row")].clone()
    } else if question.starts_with("What is the sum") {
        sum(kept.into_iter(), between(question, "sum of the ", " over")).to_string()
    } else if question.contains(" with the largest ") {
        let measure = between(question, "with the largest ", ";");
        let largest = kept.iter().map(|row| number(&row[measure])).max().unwrap();
        kept.iter().find(|row| number(&row[measure]) == largest).unwrap()["id"].clone()
    } else {
        let (group, measure) =
            (between(question, "For each ", ","), between(question, "add up the ", " of its"));
        let groups: BTreeSet<&String> = kept.iter().map(|row| &row[group]).collect();
        let sums =
            groups.iter().map(|name| sum(kept.iter().copied().filter(|row| row[group] == **name), measure));
        sums.max().unwrap().to_string()
    }
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

fn sum<'a>(rows: impl Iterator<Item = &'a Row>, measure: &str) -> i64 {
    rows.map(|row| number(&row[measure])).sum()
}

/// The rows for which every `the … is …` of the question holds.
fn filter<'a>(rows: &'a [Row], question: &str) -> Vec<&'a Row> {
    let start = ["in which ", "In exactly one row "].iter().find_map(|mark| question.split_once(mark));
    let Some((_, rest)) = start else { return rows.iter().collect() };
    let end = rest.find(", find the one").or_else(|| rest.find(['?', '.'])).unwrap();
    let conditions: Vec<(&str, &str)> = rest[..end]
        .split("the ")
        .skip(1)
        .map(|text| text.trim_end_matches(" and ").trim_end_matches(", ").split_once(" is ").unwrap())
        .collect();
    let holds = |row: &Row, (column, wanted): &(&str, &str)| {
        let cell = &row[*column];
        if let Some(bound) = wanted.strip_prefix("at least ") {
            number(cell) >= number(bound)
        } else if let Some(bound) = wanted.strip_prefix("at most ") {
            number(cell) <= number(bound)
        } else {
            cell == wanted.strip_prefix('"').unwrap().strip_suffix('"').unwrap()
        }
    };
    rows.iter().filter(|row| conditions.iter().all(|condition| holds(row, condition))).collect()
}

fn read(format: &str, text: &str) -> Vec<Row> {
    if format == "JSON" {
        let Ok(Json::Array(rows)) = Json::parse(text) else { panic!("no JSON list: {text}") };
        return rows.iter().map(json_row).collect();
    }
    let mut lines: Vec<Vec<String>> = match format {
        "Markdown" => text.lines().map(markdown_line).collect(),
        "CSV" => text.lines().map(csv_line).collect(),
        "HTML" => html_lines(text),
        other => panic!("no such format: {other}"),
    };
    let names = lines.remove(0);
    if format == "Markdown" {
        assert!(lines.remove(0).iter().all(|cell| cell == "---"), "{text}");
    }
    assert!(lines.iter().all(|line| line.len() == names.len()), "ragged: {text}");
    lines.into_iter().map(|line| names.iter().cloned().zip(line).collect()).collect()
}

fn json_row(row: &Json) -> Row {
    let Json::Object(row) = row else { panic!("a row is no object") };
    let cell = |value: &Json| match value {
        Json::String(text) => text.clone(),
        Json::Int(integer) => integer.to_string(),
        other => panic!("neither text nor whole number: {other:?}"),
    };
    row.iter().map(|(name, value)| (name.clone(), cell(value))).collect()
}

fn markdown_line(line: &str) -> Vec<String> {
    let inner = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")).expect("bars at both ends");
    inner.split(" | ").map(str::to_owned).collect()
}

/// One line by the rules of RFC 4180.
fn csv_line(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(character),
        }
    }
    assert!(!quoted, "unclosed quote: {line}");
    fields
}

fn html_lines(text: &str) -> Vec<Vec<String>> {
    let inner =
        text.strip_prefix("<table>\n").and_then(|text| text.strip_suffix("\n</table>")).expect("a table");
    inner
        .lines()
        .enumerate()
        .map(|(index, line)| {
            let [open, close] = if index == 0 { ["<th>", "</th>"] } else { ["<td>", "</td>"] };
            let cells = line.strip_prefix("<tr>").and_then(|line| line.strip_suffix("</tr>")).expect("a row");
            cells.split_terminator(close).map(|cell| cell.strip_prefix(open).unwrap().to_owned()).collect()
        })
        .collect()
}
