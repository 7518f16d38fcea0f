//! Tables to be read, filtered, joined and added up.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use self::columns::{COUNTRIES, Cell, Column, Role, Values, draw_text};
use self::grid::{Condition, Customers, Grid, Requirement};
use self::render::Format;
use super::Version;
use crate::{AnswerType, Dimension, Ineffective, ParamValue, Parameter, Params, PyRandom, Task, Test};

mod columns;
mod grid;
mod render;

/// The task in a version.
pub(super) struct Tables(pub(super) Version);

const PARAMETERS: &[Parameter] = &[
    Parameter::int("rows", Dimension::Length, [2, 256, 16], "how many rows the table has"),
    Parameter::int("columns", Dimension::Length, [2, 16, 5], "how many columns the table has"),
    Parameter::word(
        "format",
        Dimension::Format,
        &["markdown", "csv", "json", "html"],
        "how the table is written",
    ),
    Parameter::word(
        "operation",
        Dimension::MultiStep,
        &["lookup", "count", "sum", "max", "group", "join"],
        "what the question is about: one cell, how many rows, a sum, the row with the largest number, the largest sum of a group, or \
         a sum over a join with a second table",
    ).with_default(2),
    Parameter::int(
        "filters",
        Dimension::Depth,
        [0, 3, 2],
        "how many conditions choose the rows, as far as the columns allow",
    ),
    Parameter::proportion(
        "noise",
        Dimension::Interference,
        0.25,
        "how common look-alikes such as Anna and Anne are: at 1, as common as the texts themselves",
    ),
];

impl Task for Tables {
    fn name(&self) -> &'static str {
        self.0.of(["tables", "tables@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Answer a question about a table: find a cell, count, add up, compare, group, or join with a second table. \
         Harder with more rows and columns, heavier notation, operations of more steps, more conditions and more \
         look-alike values."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn ineffective(&self, params: &Params) -> Option<Ineffective> {
        if self.0 == Version::V1 {
            return None;
        }
        let operation = Operation::from_name(params.word("operation"));
        let (rows, columns) = (params.size("rows"), params.size("columns"));
        let max_filters = operation.max_filters(rows, columns);
        let limit = format!("`operation` = \"{}\"", params.word("operation"));
        if params.size("filters") > max_filters {
            return Some(Ineffective {
                name: "filters",
                effective: ParamValue::Int(max_filters as i64),
                limit: format!("{limit}, `rows` = {rows} and `columns` = {columns}"),
            });
        }
        // An id and an amount have no look-alikes, except of amounts that a condition rules out.
        let has_only_numbers = columns == 2 && matches!(operation, Operation::Sum | Operation::Max);
        (has_only_numbers && params.size("filters") == 0 && params.real("noise") > 0.0).then(|| Ineffective {
            name: "noise",
            effective: ParamValue::Real(0.0),
            limit: format!("{limit}, `columns` = {columns} and `filters` = 0"),
        })
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Cell
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let operation = Operation::from_name(params.word("operation"));
        let plan = Plan {
            version: self.0,
            operation,
            rows: params.size("rows"),
            columns: params.size("columns"),
            filters: params.size("filters"),
            noise: params.real("noise"),
        };
        let (grid, counts) = plan.grid(rng);
        let question = operation.ask(&grid, rng);

        let format = Format::from_name(params.word("format"));
        let names: Vec<&str> = grid.columns.iter().map(|column| column.name).collect();
        let mut prompt = String::with_capacity(400 + 16 * grid.cells.len());
        if let Some(customers) = &grid.customers {
            let _ = write!(prompt, "Here are two tables in {}. This is the first:\n\n", format.title());
            format.write(&names, &grid.cells, &mut prompt);
            prompt.push_str("\n\nThis is the second:\n\n");
            format.write(&["customer", "country"], &customers.cells(), &mut prompt);
        } else {
            let _ = write!(prompt, "Here is a table in {}:\n\n", format.title());
            format.write(&names, &grid.cells, &mut prompt);
        }
        let compares_text = operation == Operation::Group
            || operation == Operation::Count && grid.conditions.is_empty()
            || grid
                .conditions
                .iter()
                .any(|condition| matches!(condition.requirement, Requirement::Is(_) | Requirement::From(_)));
        let spelling =
            if compares_text { " Texts are the same only if they are spelled exactly alike." } else { "" };
        let form = match (self.0, question.answer) {
            (Version::V1, Cell::Number(_)) => "The answer is one integer.",
            (Version::V1, _) => "The answer is the content of one cell, as it stands in the table.",
            (Version::V2, Cell::Number(_)) => "Reply with one integer.",
            (Version::V2, _) => "Reply with the content of that cell, as it stands in the table.",
        };
        let _ = write!(prompt, "\n\n{}{spelling} {form}", question.text);
        let test = Test::free_form(prompt, question.answer.to_string());
        match (self.0, operation) {
            (Version::V1, _) | (_, Operation::Sum | Operation::Group | Operation::Join) => test,
            (_, Operation::Lookup) => {
                let column = question.column.expect("a lookup asks for a column");
                test.with_guess(grid.commonest(column))
            }
            (_, Operation::Max) => test.with_guess(1.0 / plan.rows as f64),
            (_, Operation::Count) => test.with_guess(1.0 / counts as f64),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Lookup,
    Count,
    Sum,
    Max,
    Group,
    Join,
}

struct Question {
    text: String,
    answer: Cell,
    /// The column that a lookup asks for.
    column: Option<usize>,
}

impl Operation {
    /// How many columns the operation needs by itself.
    fn columns(self) -> usize {
        match self {
            Self::Lookup => 0,
            Self::Count | Self::Sum | Self::Max => 1,
            Self::Group | Self::Join => 2,
        }
    }

    /// How many conditions a table has room for: a column for each, and a row for each that only this condition rules
    /// out, beside one that meets all.
    fn max_filters(self, rows: usize, columns: usize) -> usize {
        let has_key = self.columns() < columns;
        // Groups and customers are not filtered by, and customers have a condition already.
        let taken = usize::from(has_key) + usize::from(matches!(self, Self::Group | Self::Join));
        (columns - taken).min(rows - 1 - usize::from(self == Self::Join))
    }

    fn from_name(name: &str) -> Self {
        match name {
            "count" => Self::Count,
            "sum" => Self::Sum,
            "max" => Self::Max,
            "group" => Self::Group,
            "join" => Self::Join,
            _ => Self::Lookup,
        }
    }

    fn ask(self, grid: &Grid, rng: &mut PyRandom) -> Question {
        let mut conditions = String::new();
        grid.write_conditions(&mut conditions);
        let filtered = !conditions.is_empty();
        let name = |role| grid.columns[grid.column_index(role)].name;
        match self {
            Self::Lookup => lookup(grid, &conditions, rng),
            Self::Count if filtered => Question {
                text: format!("How many rows are there in which {conditions}?"),
                answer: Cell::Number(grid.matching().count() as i64),
                column: None,
            },
            Self::Count => {
                let index = grid.column_index(Role::Group);
                let different: HashSet<Cell> = grid.rows().map(|row| row[index]).collect();
                Question {
                    text: format!(
                        "How many different values are there in the column {}?",
                        grid.columns[index].name
                    ),
                    answer: Cell::Number(different.len() as i64),
                    column: None,
                }
            }
            Self::Sum => {
                let rows =
                    if filtered { format!("the rows in which {conditions}") } else { "all rows".to_owned() };
                Question {
                    text: format!("What is the sum of the {} over {rows}?", name(Role::Measure)),
                    answer: Cell::Number(sum(grid)),
                    column: None,
                }
            }
            Self::Max => {
                let rows = if filtered {
                    format!("Of the rows in which {conditions}, find the one")
                } else {
                    "Find the row".to_owned()
                };
                let measure = name(Role::Measure);
                Question {
                    text: format!(
                        "{rows} with the largest {measure}; if several share it, the first of them. What is its id?"
                    ),
                    answer: largest(grid)[grid.column_index(Role::Key)],
                    column: None,
                }
            }
            Self::Group => {
                let only = if filtered {
                    format!(", using only the rows in which {conditions}")
                } else {
                    String::new()
                };
                Question {
                    text: format!(
                        "For each {}, add up the {} of its rows{only}. What is the largest of these sums?",
                        name(Role::Group),
                        name(Role::Measure)
                    ),
                    answer: Cell::Number(largest_sum(grid)),
                    column: None,
                }
            }
            Self::Join => {
                let country = grid
                    .conditions
                    .iter()
                    .find_map(|condition| match condition.requirement {
                        Requirement::From(country) => Some(country),
                        _ => None,
                    })
                    .expect("a join asks for a country");
                let and = if filtered { format!(" and in which {conditions}") } else { String::new() };
                Question {
                    text: format!(
                        "Rows with the same customer code in both tables belong together. What is the sum of \
                         the {} over the rows of the first table whose customer has the country \"{country}\"{and}?",
                        name(Role::Measure)
                    ),
                    answer: Cell::Number(sum(grid)),
                    column: None,
                }
            }
        }
    }
}

/// Asks for a cell of the one row that meets the conditions, or of the row with some key.
fn lookup(grid: &Grid, conditions: &str, rng: &mut PyRandom) -> Question {
    let key = grid.column_index(Role::Key);
    if conditions.is_empty() {
        let rows: Vec<&[Cell]> = grid.rows().collect();
        let row = *rng.choice(&rows);
        let column = 1 + rng.index(grid.columns.len() - 1);
        return Question {
            text: format!("What is the {} in the row whose id is {}?", grid.columns[column].name, row[key]),
            answer: row[column],
            column: Some(column),
        };
    }
    let free: Vec<usize> = (0..grid.columns.len())
        .filter(|index| grid.conditions.iter().all(|condition| condition.column != *index))
        .collect();
    let column = *rng.choice(&free);
    let row = grid.matching().next().expect("one row was made to meet the conditions");
    Question {
        text: format!(
            "In exactly one row {conditions}. What is the {} in that row?",
            grid.columns[column].name
        ),
        answer: row[column],
        column: Some(column),
    }
}

fn measured(grid: &Grid, row: &[Cell]) -> i64 {
    match row[grid.column_index(Role::Measure)] {
        Cell::Number(number) => number,
        other => unreachable!("{other} is no amount"),
    }
}

fn sum(grid: &Grid) -> i64 {
    grid.matching().map(|row| measured(grid, row)).sum()
}

/// The first of the matching rows that have the largest amount.
fn largest(grid: &Grid) -> &[Cell] {
    let better = |best: &'_ [Cell], row: &'_ [Cell]| measured(grid, row) > measured(grid, best);
    grid.matching()
        .reduce(|best, row| if better(best, row) { row } else { best })
        .expect("some row was made to meet the conditions")
}

fn largest_sum(grid: &Grid) -> i64 {
    sums_by_group(grid).into_values().max().expect("some row was made to meet the conditions")
}

fn sums_by_group(grid: &Grid) -> HashMap<Cell, i64> {
    let group = grid.column_index(Role::Group);
    let mut sums: HashMap<Cell, i64> = HashMap::new();
    for row in grid.matching() {
        *sums.entry(row[group]).or_default() += measured(grid, row);
    }
    sums
}

/// The shape of a table.
struct Plan {
    version: Version,
    operation: Operation,
    rows: usize,
    columns: usize,
    filters: usize,
    noise: f64,
}

impl Plan {
    /// The table, and how many answers a question for a count has.
    fn grid(&self, rng: &mut PyRandom) -> (Grid, usize) {
        let country = (self.operation == Operation::Join).then(|| draw_text(COUNTRIES, self.noise, rng));
        let customers =
            country.map(|country| Customers::draw((self.rows / 3).clamp(2, 40), country, self.noise, rng));
        let columns = self.draw_columns(customers.as_ref(), rng);
        let mut grid = Grid { columns, conditions: Vec::new(), customers, cells: Vec::new() };
        grid.conditions = self.draw_conditions(&grid.columns, rng);
        if let Some(country) = country {
            let column = grid.column_index(Role::Link);
            grid.conditions.push(Condition { column, requirement: Requirement::From(country) });
        }
        if self.version != Version::V1 {
            let counts = self.fill(&mut grid, rng);
            return (grid, counts);
        }
        let matching = match self.operation {
            Operation::Lookup => 1,
            // Every number up to half of the rows is as likely.
            _ => rng.randint(1, self.rows.div_ceil(2).max(2) as i64) as usize,
        };
        grid.fill(self.rows, matching, 0, self.noise, rng);
        (grid, 1)
    }

    /// Fills the table such that each condition rules out a row that the others let pass. Returns how many answers a
    /// question for a count has, all as likely.
    fn fill(&self, grid: &mut Grid, rng: &mut PyRandom) -> usize {
        const MAX_DIFFERENT: usize = 10;
        let conditions = grid.conditions.len();
        let most = self.rows - conditions;
        if self.operation == Operation::Count && conditions == 0 {
            grid.fill(self.rows, 0, 0, self.noise, rng);
            let different = 1 + rng.index(self.rows.min(MAX_DIFFERENT));
            grid.set_different(Role::Group, different, self.noise, rng);
            return self.rows.min(MAX_DIFFERENT);
        }
        let matching = match self.operation {
            Operation::Lookup => 1,
            Operation::Count => rng.index(most + 1),
            Operation::Max => 1 + rng.index(most.min(self.rows.div_ceil(2)).max(1)),
            // A sum of one number would be a number of the table.
            _ => {
                let fewest = 2.min(most);
                fewest + rng.index(most.min(self.rows.div_ceil(2)).max(fewest) - fewest + 1)
            }
        };
        let first_sole = grid.fill(self.rows, matching, conditions, self.noise, rng);
        match self.operation {
            // Without its condition, each of these rows would be the answer or change it.
            Operation::Max => grid.raise(&first_sole, rng),
            Operation::Group => grid.regroup(&first_sole),
            _ => {}
        }
        most + 1
    }

    /// The columns that the operation needs, and others until there are enough; the key stands first.
    fn draw_columns(&self, customers: Option<&Customers>, rng: &mut PyRandom) -> Vec<Column> {
        let mut columns = Vec::with_capacity(self.columns);
        match self.operation {
            Operation::Lookup => {}
            Operation::Count => {
                let mut text = Column::some_text(Role::Group, rng);
                if self.filters == 0 && self.version == Version::V1 {
                    text.narrow(2 + rng.index(self.rows.min(9)), rng);
                }
                columns.push(text);
            }
            Operation::Sum | Operation::Max => columns.push(Column::some_amount(Role::Measure, rng)),
            Operation::Group => {
                let mut text = Column::some_text(Role::Group, rng);
                text.narrow((self.rows / 4).clamp(2, 6), rng);
                columns.extend([text, Column::some_amount(Role::Measure, rng)]);
            }
            Operation::Join => {
                let codes = customers.expect("a join has a second table").codes.clone();
                columns.extend([Column::link(codes), Column::some_amount(Role::Measure, rng)]);
            }
        }
        let key = (columns.len() < self.columns).then(Column::key);
        let has_text = columns.iter().any(|column| matches!(column.values, Values::Texts(_)));
        if !has_text && columns.len() + usize::from(key.is_some()) < self.columns {
            // Without text there would be no look-alikes.
            columns.push(Column::some_text(Role::Other, rng));
        }
        for other in Column::extra_columns(rng) {
            if columns.len() + usize::from(key.is_some()) < self.columns
                && columns.iter().all(|column| column.name != other.name)
            {
                columns.push(other);
            }
        }
        rng.shuffle(&mut columns);
        key.into_iter().chain(columns).collect()
    }

    /// Conditions on different columns; where these run out, a column of numbers is bounded from both sides.
    fn draw_conditions(&self, columns: &[Column], rng: &mut PyRandom) -> Vec<Condition> {
        let mut candidates: Vec<usize> = (0..columns.len())
            .filter(|index| match columns[*index].role {
                Role::Key | Role::Link => false,
                // A group that is asked for by name would be the only one.
                Role::Group => self.operation != Operation::Group,
                Role::Measure | Role::Other => true,
            })
            .collect();
        rng.shuffle(&mut candidates);
        let mut conditions = Vec::with_capacity(self.filters + 1);
        for column in candidates.into_iter().take(self.filters) {
            let requirement = match &columns[column].values {
                Values::Texts(texts) => Requirement::Is(draw_text(texts, self.noise, rng)),
                Values::Numbers { low, high } if rng.random() < 0.5 => at_least(*low, *high, rng),
                Values::Numbers { low, high } => at_most(*low, *high, rng),
                Values::Rising | Values::Codes(_) => {
                    unreachable!("these columns are in roles left out above")
                }
            };
            conditions.push(Condition { column, requirement });
        }
        for index in 0..conditions.len() {
            if conditions.len() == self.filters {
                break;
            }
            let Condition { column, requirement } = conditions[index];
            if let Values::Numbers { low, high } = columns[column].values {
                let requirement = match requirement {
                    Requirement::AtLeast(_) => at_most(low, high, rng),
                    _ => at_least(low, high, rng),
                };
                conditions.push(Condition { column, requirement });
            }
        }
        conditions
    }
}

/// A bound from below, which always leaves room for one from above.
fn at_least(low: i64, high: i64, rng: &mut PyRandom) -> Requirement {
    let width = high - low;
    Requirement::AtLeast(rng.randint(low + width / 5, low + width * 9 / 20))
}

/// A bound from above, which always leaves room for one from below.
fn at_most(low: i64, high: i64, rng: &mut PyRandom) -> Requirement {
    let width = high - low;
    Requirement::AtMost(rng.randint(low + width * 11 / 20, low + width * 4 / 5))
}
