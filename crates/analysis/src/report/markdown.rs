//! A report as Markdown, with its pictures in files of their own.

use std::fmt::Write as _;

use super::{Block, Report};

/// A picture that a text links to.
#[derive(Debug)]
pub struct FigureFile {
    /// Its file, beside the text.
    pub name: String,
    /// The figure.
    pub svg: String,
}

/// The text and its pictures, which are to stand in `folder`, as seen from the text.
pub fn markdown(report: &Report, folder: &str) -> (String, Vec<FigureFile>) {
    let mut text = format!("# {}\n\n{}\n", plain(&report.title), plain(&report.summary));
    let mut pictures = Vec::new();
    for section in &report.sections {
        let _ = writeln!(text, "\n## {}", section.title);
        for block in &section.blocks {
            text.push('\n');
            match block {
                Block::Text(words) => {
                    let _ = writeln!(text, "{}", plain(words));
                }
                Block::List(items) => {
                    for item in items {
                        let _ = writeln!(text, "- {}", plain(item));
                    }
                }
                Block::Table(table) => text.push_str(&table.to_markdown()),
                Block::Figure(figure) => {
                    let name = format!("{}-{}.svg", section.id, pictures.len() + 1);
                    let _ = writeln!(text, "![{}]({folder}/{name})", plain(&figure.title));
                    pictures.push(FigureFile { name, svg: figure.svg() });
                }
            }
        }
    }
    (text, pictures)
}

/// Text in which nothing is a sign to Markdown or HTML.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '#') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
