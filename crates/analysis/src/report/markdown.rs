//! A report as Markdown, with its figures as SVG files.

use std::fmt::Write as _;

use super::{Block, Report};

/// A figure that the Markdown text links to.
#[derive(Debug)]
pub struct FigureFile {
    /// The file name.
    pub name: String,
    /// The SVG document.
    pub svg: String,
}

/// The Markdown text and its figures; links to them start with `dir`.
pub fn markdown(report: &Report, dir: &str) -> (String, Vec<FigureFile>) {
    let mut text = format!("# {}\n\n{}\n", escape_markdown(&report.title), escape_markdown(&report.summary));
    let mut figures = Vec::new();
    for section in &report.sections {
        let _ = writeln!(text, "\n## {}", section.title);
        for block in &section.blocks {
            text.push('\n');
            match block {
                Block::Text(words) => {
                    let _ = writeln!(text, "{}", escape_markdown(words));
                }
                Block::List(items) => {
                    for item in items {
                        let _ = writeln!(text, "- {}", escape_markdown(item));
                    }
                }
                Block::Table(table) => text.push_str(&table.to_markdown()),
                Block::Figure(figure) => {
                    let name = format!("{}-{}.svg", section.id, figures.len() + 1);
                    let _ = writeln!(text, "![{}]({dir}/{name})", escape_markdown(&figure.title));
                    figures.push(FigureFile { name, svg: figure.svg() });
                }
            }
        }
    }
    (text, figures)
}

/// Escapes the characters that Markdown or HTML would interpret.
fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '#') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
