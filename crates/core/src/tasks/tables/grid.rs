//! A table's cells, filled so that the rows which meet the conditions are as many as wanted.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::columns::{COUNTRIES, Cell, Column, LookAlikes, Role, Values, draw_text};
use crate::PyRandom;

/// What a condition asks of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) enum Requirement {
    Is(&'static str),
    AtLeast(i64),
    AtMost(i64),
    /// The customer in the cell is from this country.
    From(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Condition {
    pub(super) column: usize,
    pub(super) requirement: Requirement,
}

/// The second table: who is from where.
pub(super) struct Customers {
    pub(super) codes: Vec<i64>,
    pub(super) countries: Vec<&'static str>,
}

impl Customers {
    /// Two customers or more, at least one from `country` and one not.
    pub(super) fn draw(count: usize, country: &'static str, noise: f64, rng: &mut PyRandom) -> Self {
        let mut codes: Vec<i64> = (10..100).collect();
        rng.shuffle(&mut codes);
        codes.truncate(count);
        let mut countries: Vec<&'static str> = (0..count).map(|_| draw_text(COUNTRIES, noise, rng)).collect();
        countries[0] = country;
        countries[1] = other_text(COUNTRIES, country, noise, rng);
        rng.shuffle(&mut countries);
        Self { codes, countries }
    }

    /// The codes of those who are from a country, or of those who are not.
    fn codes_where(&self, country: &str, from_there: bool) -> Vec<i64> {
        let of = self.codes.iter().zip(&self.countries);
        of.filter(|(_, home)| (**home == country) == from_there).map(|(code, _)| *code).collect()
    }

    /// The cells of the table, row after row.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let rows = self.codes.iter().zip(&self.countries);
        rows.flat_map(|(code, country)| [Cell::Code(*code), Cell::Text(country)]).collect()
    }
}

/// A table, and which of its rows are asked about.
pub(super) struct Grid {
    pub(super) columns: Vec<Column>,
    pub(super) conditions: Vec<Condition>,
    pub(super) customers: Option<Customers>,
    /// Row after row.
    pub(super) cells: Vec<Cell>,
}

impl Grid {
    /// The place of the column in a role that the table is known to have.
    pub(super) fn column_index(&self, role: Role) -> usize {
        self.columns
            .iter()
            .position(|column| column.role == role)
            .expect("the operation asked for this column")
    }

    pub(super) fn rows(&self) -> impl ExactSizeIterator<Item = &[Cell]> {
        self.cells.chunks(self.columns.len())
    }

    /// The rows that meet every condition.
    pub(super) fn matching(&self) -> impl Iterator<Item = &[Cell]> {
        self.rows().filter(|row| self.conditions.iter().all(|condition| self.holds(*condition, row)))
    }

    fn holds(&self, Condition { column, requirement }: Condition, row: &[Cell]) -> bool {
        match (requirement, row[column]) {
            (Requirement::Is(wanted), Cell::Text(text)) => text == wanted,
            (Requirement::AtLeast(bound), Cell::Number(number)) => number >= bound,
            (Requirement::AtMost(bound), Cell::Number(number)) => number <= bound,
            (Requirement::From(country), Cell::Code(code)) => {
                let customers = self.customers.as_ref().expect("codes come with a second table");
                let index = customers.codes.iter().position(|other| *other == code);
                index.is_some_and(|index| customers.countries[index] == country)
            }
            (requirement, cell) => unreachable!("{requirement:?} does not apply to {cell:?}"),
        }
    }

    /// Draws the cells so that exactly `matching` of the rows meet the conditions, if there are any.
    ///
    /// Half of the other rows fail in one condition only, so that none of them can be left unread. The first `soles` of
    /// the conditions each rule out a row by themselves; returns these rows.
    pub(super) fn fill(
        &mut self,
        rows: usize,
        matching: usize,
        soles: usize,
        noise: f64,
        rng: &mut PyRandom,
    ) -> Vec<usize> {
        let mut kinds = vec![RowKind::Other; rows];
        kinds[..matching.min(rows)].fill(RowKind::Meets);
        for (kind, condition) in kinds[matching.min(rows)..].iter_mut().zip(0..soles) {
            *kind = RowKind::FailsOnly(condition);
        }
        rng.shuffle(&mut kinds);
        let choices: Vec<Choices> =
            self.conditions.iter().map(|condition| self.choices(*condition, noise)).collect();

        let mut key = rng.randint(1000, 4999);
        self.cells.reserve(rows * self.columns.len());
        for kind in &kinds {
            let start = self.cells.len();
            for column in &self.columns {
                self.cells.push(match &column.values {
                    Values::Rising => {
                        key += rng.randint(1, 9);
                        Cell::Number(key)
                    }
                    Values::Codes(codes) => Cell::Code(*rng.choice(codes)),
                    Values::Texts(texts) => Cell::Text(draw_text(texts, noise, rng)),
                    Values::Numbers { low, high } => Cell::Number(rng.randint(*low, *high)),
                });
            }
            if choices.is_empty() {
                continue;
            }
            let meets = *kind == RowKind::Meets;
            let near_miss = match kind {
                RowKind::Meets => false,
                RowKind::FailsOnly(_) => true,
                RowKind::Other => rng.random() < 0.5,
            };
            if meets || near_miss {
                for (condition, choices) in self.conditions.iter().zip(&choices) {
                    self.cells[start + condition.column] = choices.pass(rng);
                }
            }
            let row = &self.cells[start..];
            if !meets && self.conditions.iter().all(|condition| self.holds(*condition, row)) {
                let failed = match kind {
                    RowKind::FailsOnly(condition) => *condition,
                    _ => rng.index(choices.len()),
                };
                self.cells[start + self.conditions[failed].column] = choices[failed].fail(rng);
            }
        }
        (0..rows).filter(|row| matches!(kinds[*row], RowKind::FailsOnly(_))).collect()
    }

    /// The proportion of rows that have the commonest content of a column.
    pub(super) fn commonest(&self, column: usize) -> f64 {
        let mut counts: HashMap<Cell, usize> = HashMap::new();
        for row in self.rows() {
            *counts.entry(row[column]).or_default() += 1;
        }
        let most = counts.into_values().max().unwrap_or(1);
        most as f64 / self.rows().len() as f64
    }

    /// Puts exactly this many different texts in a column, look-alikes among them.
    pub(super) fn set_different(&mut self, role: Role, different: usize, noise: f64, rng: &mut PyRandom) {
        let (column, width) = (self.column_index(role), self.columns.len());
        let Values::Texts(texts) = &self.columns[column].values else {
            unreachable!("different values are counted of texts")
        };
        let mut chosen: Vec<&'static str> = Vec::with_capacity(different);
        let mut pairs = rng.sample(texts, texts.len());
        while chosen.len() < different {
            let [first, second] = pairs.pop().expect("each list has as many pairs as are counted");
            chosen.push(first);
            if chosen.len() < different && rng.random() < noise / 2.0 {
                chosen.push(second);
            }
        }
        let rows = self.cells.len() / width;
        let mut drawn: Vec<&'static str> =
            (0..rows).map(|row| chosen.get(row).copied().unwrap_or_else(|| *rng.choice(&chosen))).collect();
        rng.shuffle(&mut drawn);
        for (row, text) in drawn.into_iter().enumerate() {
            self.cells[row * width + column] = Cell::Text(text);
        }
    }

    /// Gives rows that only just fail more than the largest amount of the rows that meet the conditions, where no
    /// condition is about amounts.
    pub(super) fn raise(&mut self, rows: &[usize], rng: &mut PyRandom) {
        let column = self.column_index(Role::Measure);
        let Values::Numbers { high, .. } = self.columns[column].values else { return };
        let largest = self.matching().filter_map(|row| row[column].number()).max().unwrap_or(high);
        if largest >= high || self.conditions.iter().any(|condition| condition.column == column) {
            return;
        }
        for row in rows {
            let index = row * self.columns.len() + column;
            self.cells[index] = Cell::Number(rng.randint(largest + 1, high));
        }
    }

    /// Puts rows that only just fail in the group with the largest sum.
    pub(super) fn regroup(&mut self, rows: &[usize]) {
        let column = self.column_index(Role::Group);
        let Some((largest, _)) =
            super::sums_by_group(self).into_iter().max_by_key(|(group, sum)| (*sum, group.to_string()))
        else {
            return;
        };
        for row in rows {
            let index = row * self.columns.len() + column;
            self.cells[index] = largest;
        }
    }

    /// The cells that meet a condition and those that do not.
    fn choices(&self, Condition { column, requirement }: Condition, noise: f64) -> Choices {
        match (requirement, &self.columns[column].values) {
            (Requirement::Is(wanted), Values::Texts(texts)) => {
                Choices::Text { wanted, texts: texts.to_vec(), noise }
            }
            (Requirement::From(country), _) => {
                let customers = self.customers.as_ref().expect("codes come with a second table");
                Choices::Code {
                    pass: customers.codes_where(country, true),
                    fail: customers.codes_where(country, false),
                }
            }
            (requirement, Values::Numbers { low, high }) => {
                // Another condition may bound the same column from the other side.
                let mut pass = [*low, *high];
                for other in self.conditions.iter().filter(|other| other.column == column) {
                    match other.requirement {
                        Requirement::AtLeast(bound) => pass[0] = bound,
                        Requirement::AtMost(bound) => pass[1] = bound,
                        _ => {}
                    }
                }
                let (fail, nearest) = match requirement {
                    Requirement::AtLeast(bound) => ([*low, bound - 1], bound - 1),
                    _ => ([pass[1] + 1, *high], pass[1] + 1),
                };
                Choices::Number { pass, fail, nearest, noise }
            }
            (requirement, values) => unreachable!("{requirement:?} does not apply to {values:?}"),
        }
    }

    /// The conditions on the first table, as in `the city is "Milton" and the price is at least 20`.
    pub(super) fn write_conditions(&self, text: &mut String) {
        let own: Vec<&Condition> =
            self.conditions.iter().filter(|c| !matches!(c.requirement, Requirement::From(_))).collect();
        for (index, Condition { column, requirement }) in own.iter().enumerate() {
            text.push_str(match index {
                0 => "",
                _ if index + 1 == own.len() => " and ",
                _ => ", ",
            });
            let name = self.columns[*column].name;
            let _ = match requirement {
                Requirement::Is(wanted) => write!(text, "the {name} is \"{wanted}\""),
                Requirement::AtLeast(bound) => write!(text, "the {name} is at least {bound}"),
                Requirement::AtMost(bound) => write!(text, "the {name} is at most {bound}"),
                Requirement::From(_) => unreachable!("countries are in the second table"),
            };
        }
    }
}

/// What a row is made for.
#[derive(Clone, Copy, PartialEq)]
enum RowKind {
    Meets,
    /// It fails this condition and no other.
    FailsOnly(usize),
    Other,
}

/// What can be put in a cell to make a condition hold or fail.
enum Choices {
    Text { wanted: &'static str, texts: Vec<LookAlikes>, noise: f64 },
    Number { pass: [i64; 2], fail: [i64; 2], nearest: i64, noise: f64 },
    Code { pass: Vec<i64>, fail: Vec<i64> },
}

impl Choices {
    fn pass(&self, rng: &mut PyRandom) -> Cell {
        match self {
            Self::Text { wanted, .. } => Cell::Text(wanted),
            Self::Number { pass: [low, high], .. } => Cell::Number(rng.randint(*low, *high)),
            Self::Code { pass, .. } => Cell::Code(*rng.choice(pass)),
        }
    }

    fn fail(&self, rng: &mut PyRandom) -> Cell {
        match self {
            Self::Text { wanted, texts, noise } => Cell::Text(other_text(texts, wanted, *noise, rng)),
            // The look-alike of a number that passes is the one that just does not.
            Self::Number { nearest, noise, .. } if rng.random() < *noise => Cell::Number(*nearest),
            Self::Number { fail: [low, high], .. } => Cell::Number(rng.randint(*low, *high)),
            Self::Code { fail, .. } => Cell::Code(*rng.choice(fail)),
        }
    }
}

/// A text other than `wanted`: with probability `noise` its look-alike.
fn other_text(texts: &[LookAlikes], wanted: &str, noise: f64, rng: &mut PyRandom) -> &'static str {
    let index = texts.iter().position(|pair| pair.contains(&wanted)).expect("the list has the text wanted");
    let [first, second] = texts[index];
    if rng.random() < noise {
        return if first == wanted { second } else { first };
    }
    // One of the other pairs, which every list has.
    let shift = 1 + rng.index(texts.len() - 1);
    texts[(index + shift) % texts.len()][0]
}
