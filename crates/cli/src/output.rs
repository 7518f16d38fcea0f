//! Prints tables in the four output formats.

use std::borrow::Cow;
use std::io::{IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, presets};
use reasonscape_core::escape_invisible;
use serde::Serialize;
use terminal_size::{Width, terminal_size_of};

use crate::Global;
use crate::error::CliError;

use reasonscape_analysis::tables::Table;

/// Width of a table that is not printed to a terminal.
const DEFAULT_WIDTH: u16 = 100;
/// Characters of a cell in a text table; CSV and JSON have all. Wrapping a text takes time that grows with the square of its
/// length.
const MAX_CELL_LENGTH: usize = 1_000;

/// Output format of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, rounded for reading.
    #[default]
    Table,
    /// JSON with full precision.
    Json,
    /// CSV with full precision.
    Csv,
    /// Markdown table.
    Markdown,
}

/// Width of the terminal. For a file or a pipe: `COLUMNS`, or [`DEFAULT_WIDTH`].
pub(crate) fn terminal_width() -> u16 {
    let of_terminal = terminal_size_of(std::io::stdout()).map(|(Width(columns), _)| columns);
    let of_variable = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    of_terminal.or_else(of_variable).unwrap_or(DEFAULT_WIDTH)
}

/// Rendering of a table in a `--format`.
pub(crate) trait Render {
    /// Renders the table as text, Markdown or CSV.
    fn render(&self, format: Format) -> Result<String, CliError>;
}

impl Render for Table {
    fn render(&self, format: Format) -> Result<String, CliError> {
        Ok(match format {
            Format::Table | Format::Json => as_text(self),
            Format::Markdown => self.to_markdown(),
            Format::Csv => self.to_csv(),
        })
    }
}

fn as_text(data: &Table) -> String {
    let width = terminal_width();
    let shown = data.columns_that_fit(usize::from(width));
    let mut table = comfy_table::Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(&data.columns()[..shown]);
    let is_terminal = std::io::stdout().is_terminal();
    for row in data.display_rows() {
        let cells = row[..shown].iter().map(|cell| abbreviate(cell));
        // Before the layout, which depends on the width of the text.
        if is_terminal {
            table.add_row(cells.map(|cell| escape_invisible(&cell).into_owned()));
        } else {
            table.add_row(cells);
        }
    }
    for index in 0..shown {
        let column = table.column_mut(index).expect("the header has this column");
        if data.is_numeric(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        // Numbers and short names must not be wrapped.
        let min_width = u16::try_from(data.min_width(index) + 2).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(comfy_table::Width::Fixed(min_width)));
    }
    format!("{table}\n")
}

/// The beginning of a cell that is too long for a text table.
fn abbreviate(cell: &str) -> Cow<'_, str> {
    match cell.char_indices().nth(MAX_CELL_LENGTH) {
        None => Cow::Borrowed(cell),
        Some((end, _)) => Cow::Owned(format!("{}…", &cell[..end])),
    }
}

/// Prints data as a table, or as JSON.
pub(crate) fn print(global: Global, table: &Table, json: &impl Serialize) -> Result<(), CliError> {
    if global.format == Format::Json {
        let text = serde_json::to_string_pretty(json).map_err(|error| CliError::Internal(error.into()))?;
        return print_text(&(text + "\n"));
    }
    print_rendered(global, table)
}

/// Prints a table, and notes the columns for which the terminal is too narrow.
pub(crate) fn print_rendered(global: Global, table: &Table) -> Result<(), CliError> {
    print_text(&table.render(global.format)?)?;
    let shown = table.columns_that_fit(usize::from(terminal_width()));
    match table.columns().len().saturating_sub(shown) {
        0 => {}
        1 => global.caption("`--format csv` has 1 more column"),
        more => global.caption(format_args!("`--format csv` has {more} more columns")),
    }
    Ok(())
}

/// Prints rows as a table for display, as CSV with all columns, or as JSON.
pub(crate) fn print_table(
    global: Global,
    display: impl FnOnce() -> Table,
    export: impl FnOnce() -> Table,
    json: &impl Serialize,
) -> Result<(), CliError> {
    print(global, &if global.format == Format::Csv { export() } else { display() }, json)
}

static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether something may have been written to standard output.
pub(crate) fn has_printed() -> bool {
    HAS_PRINTED.load(Ordering::Relaxed)
}

/// Standard output. On a terminal, control characters are made visible, since names and answers of models may contain
/// sequences that move the cursor, change the title or write to the clipboard. Files and pipes get every byte.
pub(crate) fn stdout() -> VisibleWriter<StdoutLock<'static>> {
    HAS_PRINTED.store(true, Ordering::Relaxed);
    VisibleWriter::new(std::io::stdout().lock())
}

/// A text for this stream: with visible control characters on a terminal, else unchanged.
pub(crate) fn on_terminal(stream: &impl IsTerminal, text: String) -> String {
    if stream.is_terminal() { escape_invisible(&text).into_owned() } else { text }
}

/// Makes control characters visible if the stream is a terminal.
pub(crate) struct VisibleWriter<W> {
    stream: W,
    is_terminal: bool,
    /// The beginning of a character whose end is not written yet.
    partial: Vec<u8>,
}

impl<W: Write + IsTerminal> VisibleWriter<W> {
    pub(crate) fn new(stream: W) -> Self {
        let is_terminal = stream.is_terminal();
        Self { stream, is_terminal, partial: Vec::new() }
    }
}

impl<W: Write> Write for VisibleWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !self.is_terminal {
            return self.stream.write(bytes);
        }
        self.partial.extend_from_slice(bytes);
        let complete = match std::str::from_utf8(&self.partial) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.partial.len(),
        };
        let rest = self.partial.split_off(complete);
        let text = std::mem::replace(&mut self.partial, rest);
        self.stream.write_all(escape_invisible(&String::from_utf8_lossy(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

/// Prints text to standard output.
pub(crate) fn print_text(text: &str) -> Result<(), CliError> {
    let mut stdout = stdout();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// [`reasonscape_study::write_file`] with this crate's error.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), CliError>,
) -> Result<(), CliError> {
    reasonscape_study::write_file(path, write)
}
