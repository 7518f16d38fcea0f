//! The four ways in which a table is written down.

use std::fmt::Write as _;

use super::columns::Cell;

/// How tables are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    Markdown,
    Csv,
    Json,
    Html,
}

impl Format {
    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "csv" => Self::Csv,
            "json" => Self::Json,
            "html" => Self::Html,
            _ => Self::Markdown,
        }
    }

    /// The format as a sentence names it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Html => "HTML",
        }
    }

    /// Writes a table of which `cells` holds row after row.
    pub(super) fn write(self, names: &[&str], cells: &[Cell], text: &mut String) {
        let rows = cells.chunks(names.len());
        match self {
            Self::Markdown => {
                line(text, "| ", " | ", " |", names, |text, name| text.push_str(name));
                line(text, "\n| ", " | ", " |", names, |text, _| text.push_str("---"));
                for row in rows {
                    line(text, "\n| ", " | ", " |", row, push);
                }
            }
            Self::Csv => {
                line(text, "", ",", "", names, |text, name| text.push_str(name));
                for row in rows {
                    line(text, "\n", ",", "", row, push_csv);
                }
            }
            Self::Json => {
                text.push('[');
                for (index, row) in rows.enumerate() {
                    let start = if index == 0 { "\n  {" } else { ",\n  {" };
                    let named: Vec<(&str, Cell)> = names.iter().copied().zip(row.iter().copied()).collect();
                    line(text, start, ", ", "}", &named, push_json);
                }
                text.push_str("\n]");
            }
            Self::Html => {
                text.push_str("<table>");
                line(text, "\n<tr><th>", "</th><th>", "</th></tr>", names, |text, name| text.push_str(name));
                for row in rows {
                    line(text, "\n<tr><td>", "</td><td>", "</td></tr>", row, push);
                }
                text.push_str("\n</table>");
            }
        }
    }
}

/// Items one after the other between a start and an end.
fn line<T>(
    text: &mut String,
    start: &str,
    between: &str,
    end: &str,
    items: &[T],
    push: impl Fn(&mut String, &T),
) {
    text.push_str(start);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push_str(between);
        }
        push(text, item);
    }
    text.push_str(end);
}

fn push(text: &mut String, cell: &Cell) {
    match cell {
        Cell::Text(content) => text.push_str(content),
        _ => {
            let _ = write!(text, "{cell}");
        }
    }
}

/// A field with a comma is quoted, as RFC 4180 asks; no text holds a quote or a line break.
fn push_csv(text: &mut String, cell: &Cell) {
    match cell {
        Cell::Text(field) if field.contains(',') => {
            let _ = write!(text, "\"{field}\"");
        }
        _ => push(text, cell),
    }
}

fn push_json(text: &mut String, (name, cell): &(&str, Cell)) {
    let _ = match cell {
        Cell::Number(number) => write!(text, "\"{name}\": {number}"),
        _ => write!(text, "\"{name}\": \"{cell}\""),
    };
}
