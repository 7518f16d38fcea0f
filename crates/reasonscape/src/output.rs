//! Data for people and for programs: one table, four formats.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};
use serde::Serialize;

use crate::failure::Failure;

/// Columns of a table that does not go to a terminal.
const WIDTH_ELSEWHERE: u16 = 100;

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// For a person at a terminal.
    #[default]
    Table,
    /// For programs, with every digit.
    Json,
    /// For spreadsheets, with every digit.
    Csv,
    /// For documents.
    Markdown,
}

/// One value of a table.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// Text, as it is.
    Text(String),
    /// A number: all its digits for programs, so many decimals for people.
    Number(f64, usize),
    /// A value for people only, `752 ± 8`, beside the numbers that it is made of.
    Shown(String),
    /// No value.
    Missing,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn optional(number: Option<f64>, decimals: usize) -> Self {
        number.map_or(Self::Missing, |number| Self::Number(number, decimals))
    }

    fn for_people(&self) -> String {
        match self {
            Self::Text(text) | Self::Shown(text) => text.clone(),
            Self::Number(number, decimals) => format!("{number:.decimals$}"),
            Self::Missing => "-".to_owned(),
        }
    }

    fn for_programs(&self) -> String {
        match self {
            Self::Text(text) | Self::Shown(text) => text.clone(),
            Self::Number(number, _) => number.to_string(),
            Self::Missing => String::new(),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Number(..) | Self::Missing | Self::Shown(_))
    }
}

/// Columns of the terminal. A file or a pipe has no width: it gets what `COLUMNS` says, or what fits most places.
fn width() -> u16 {
    let said = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    comfy_table::Table::new().width().or_else(said).unwrap_or(WIDTH_ELSEWHERE)
}

/// Rows under named columns.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(columns: &[impl ToString]) -> Self {
        Self { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row has one cell a column");
        self.rows.push(row);
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows as people read them.
    pub(crate) fn shown(&self) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(Cell::for_people).collect())
    }

    /// Whether the column holds numbers, which are read from the right.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column].is_number())
    }

    /// Whether all columns can be shown at once, with no cell folded.
    pub(crate) fn fits(&self) -> bool {
        let widest = |place: usize| {
            let cells = self.rows.iter().map(|row| row[place].for_people().chars().count());
            cells.chain([self.columns[place].chars().count()]).max().unwrap_or(0)
        };
        // Each column has a rule before it and space around; the last rule is one more.
        (0..self.columns.len()).map(|place| widest(place) + 3).sum::<usize>() < usize::from(width())
    }

    fn as_text(&self) -> String {
        let width = width();
        let shown = self.columns_that_fit(usize::from(width));
        let mut table = comfy_table::Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        table.set_header(&self.columns[..shown]);
        for row in &self.rows {
            table.add_row(row[..shown].iter().map(Cell::for_people));
        }
        for place in (0..shown).filter(|place| self.is_numeric(*place)) {
            let column = table.column_mut(place).expect("the header has this column");
            column.set_cell_alignment(CellAlignment::Right);
            // A number broken over two lines is two wrong numbers.
            let least = u16::try_from(self.least_width(place) + 2).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
        }
        match self.columns.len() - shown {
            0 => format!("{table}\n"),
            more => format!("{table}\n`--format csv` has {more} more columns.\n"),
        }
    }

    /// How many columns, from the left, can be shown without breaking a number or squeezing text into a ribbon.
    fn columns_that_fit(&self, width: usize) -> usize {
        let mut taken = 1;
        (0..self.columns.len())
            .take_while(|&place| {
                taken += self.least_width(place) + 3;
                taken <= width
            })
            .count()
            .max(1)
    }

    /// The least that a column needs: its numbers and the words above them are not broken, text may be folded.
    fn least_width(&self, place: usize) -> usize {
        const RIBBON: usize = 10;
        let cells = self.rows.iter().map(|row| row[place].for_people().chars().count());
        if self.is_numeric(place) {
            let words = self.columns[place].split(' ').map(|word| word.chars().count());
            cells.chain(words).max().unwrap_or(0)
        } else {
            cells.chain([self.columns[place].chars().count()]).max().unwrap_or(0).min(RIBBON)
        }
    }

    /// The table in a format for people, or as CSV.
    pub(crate) fn render(&self, format: Format) -> Result<String, Failure> {
        match format {
            Format::Table | Format::Json => Ok(self.as_text()),
            Format::Markdown => Ok(self.as_markdown()),
            Format::Csv => self.as_csv(),
        }
    }

    fn as_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.clone());
        let rule = |column| if self.is_numeric(column) { "--:" } else { "---" };
        text += &line((0..self.columns.len()).map(|column| rule(column).to_owned()).collect());
        for row in &self.rows {
            text += &line(
                row.iter().map(|cell| cell.for_people().replace('|', "\\|").replace('\n', " ")).collect(),
            );
        }
        text
    }

    fn as_csv(&self) -> Result<String, Failure> {
        let broken = |error: csv::Error| Failure::Broken(error.into());
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns).map_err(broken)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::for_programs)).map_err(broken)?;
        }
        let bytes = writer.into_inner().map_err(|error| Failure::Broken(error.into_error().into()))?;
        Ok(String::from_utf8(bytes).expect("strings in, strings out"))
    }
}

/// Prints the same data as a table or, for programs that want structure, as JSON.
pub(crate) fn print(format: Format, table: &Table, json: &impl Serialize) -> Result<(), Failure> {
    let text = match format {
        Format::Table | Format::Markdown | Format::Csv => table.render(format)?,
        Format::Json => {
            serde_json::to_string_pretty(json).map_err(|error| Failure::Broken(error.into()))? + "\n"
        }
    };
    print_text(&text)
}

/// Prints text to standard output as it is.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Writes a file that appears whole or not at all: what stood there stays until the new one is complete and on disk.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::Broken(anyhow::Error::new(error).context(format!("failed to write `{}`", path.display())))
    };
    // What a link points to is replaced, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if std::fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
        // A pipe or a device cannot be replaced; a folder is refused by the system.
        let mut out = BufWriter::new(File::create(&target).map_err(failed)?);
        write(&mut out)?;
        return out.flush().map_err(failed);
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".reasonscape-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut out = BufWriter::new(builder.tempfile_in(folder).map_err(failed)?);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_and_whole_numbers() {
        let mut table = Table::new(&["name", "share", "remark"]);
        table.push(vec![Cell::text("a"), Cell::Number(0.123_456, 4), Cell::text("a rather long remark")]);
        assert_eq!(table.columns_that_fit(80), 3);
        // 1 + (4 + 3) + (6 + 3) + (10 + 3): text may be folded to ten, a number not at all.
        assert_eq!(table.columns_that_fit(30), 3);
        assert_eq!(table.columns_that_fit(29), 2);
        assert_eq!(table.columns_that_fit(16), 1);
        assert_eq!(table.columns_that_fit(1), 1);
    }
}
