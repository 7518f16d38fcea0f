//! Rows with named columns, as Markdown and CSV. Front ends render them for terminals.

/// One value of a table.
#[derive(Debug, Clone)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number: all digits for programs, this many decimals for readers.
    Number(f64, usize),
    /// A formatted value for readers, such as `752 ± 8`.
    Formatted(String),
    /// No value.
    Missing,
}

impl Cell {
    /// A cell of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number with this many decimals, or a missing value.
    pub fn optional(number: Option<f64>, decimals: usize) -> Self {
        number.map_or(Self::Missing, |number| Self::Number(number, decimals))
    }

    /// The text for readers.
    pub fn display(&self) -> String {
        match self {
            Self::Text(text) | Self::Formatted(text) => text.clone(),
            Self::Number(number, decimals) => format!("{number:.decimals$}"),
            Self::Missing => "-".to_owned(),
        }
    }

    /// The text for programs, with every digit.
    fn export(&self) -> String {
        match self {
            Self::Text(text) | Self::Formatted(text) => text.clone(),
            Self::Number(number, _) => number.to_string(),
            Self::Missing => String::new(),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Number(..) | Self::Missing | Self::Formatted(_))
    }
}

/// Rows with named columns.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &[impl ToString]) -> Self {
        Self { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When the row does not have one cell a column.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row has one cell a column");
        self.rows.push(row);
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows as people read them.
    pub fn display_rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(Cell::display).collect())
    }

    /// The rows as programs read them.
    fn export_rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(Cell::export).collect())
    }

    /// Whether the column holds numbers, which are read from the right.
    pub fn is_numeric(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column].is_number())
    }

    /// Whether all columns can be shown at once in so many characters, with no cell wrapped.
    pub fn fits(&self, width: usize) -> bool {
        let widest = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].display().chars().count());
            cells.chain([self.columns[column].chars().count()]).max().unwrap_or(0)
        };
        // Each column has a rule before it and space around; the last rule is one more.
        (0..self.columns.len()).map(|column| widest(column) + 3).sum::<usize>() < width
    }

    /// How many columns, from the left, can be shown without breaking a number or squeezing text too narrow.
    pub fn columns_that_fit(&self, width: usize) -> usize {
        let mut taken = 1;
        (0..self.columns.len())
            .take_while(|&column| {
                taken += self.min_width(column) + 3;
                taken <= width
            })
            .count()
            .max(1)
            .min(self.columns.len())
    }

    /// The width in characters that a column needs at least. Numbers and the words above them are not broken; text may
    /// be wrapped.
    pub fn min_width(&self, column: usize) -> usize {
        const MIN_TEXT_WIDTH: usize = 12;
        let cells = self.rows.iter().map(|row| row[column].display().chars().count());
        if self.is_numeric(column) {
            let words = self.columns[column].split(' ').map(|word| word.chars().count());
            cells.chain(words).max().unwrap_or(0)
        } else {
            cells.chain([self.columns[column].chars().count()]).max().unwrap_or(0).min(MIN_TEXT_WIDTH)
        }
    }

    /// The table as Markdown.
    pub fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.clone());
        let rule = |column| if self.is_numeric(column) { "--:" } else { "---" };
        text += &line((0..self.columns.len()).map(|column| rule(column).to_owned()).collect());
        for row in &self.rows {
            text +=
                &line(row.iter().map(|cell| cell.display().replace('|', "\\|").replace('\n', " ")).collect());
        }
        text
    }

    /// The table as CSV, with every digit.
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for record in std::iter::once(self.columns.clone()).chain(self.export_rows()) {
            writer.write_record(record).expect("memory takes every record, and all have one length");
        }
        let bytes = writer.into_inner().expect("memory needs no flush");
        String::from_utf8(bytes).expect("strings in, strings out")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_columns_that_do_not_fit_and_never_breaks_numbers() {
        let mut table = Table::new(&["name", "share", "remark"]);
        table.push(vec![Cell::text("a"), Cell::Number(0.123_456, 4), Cell::text("a rather long remark")]);
        assert_eq!(table.columns_that_fit(80), 3);
        // 1 + (4 + 3) + (6 + 3) + (12 + 3): text may be wrapped to twelve characters, a number not at all.
        assert_eq!(table.columns_that_fit(32), 3);
        assert_eq!(table.columns_that_fit(31), 2);
        assert_eq!(table.columns_that_fit(16), 1);
        assert_eq!(table.columns_that_fit(1), 1);
    }
}
