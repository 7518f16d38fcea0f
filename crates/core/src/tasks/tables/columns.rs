//! The columns of a table: names and contents.

use std::borrow::Cow;
use std::fmt;

use crate::PyRandom;

/// A text and another that is easily taken for it.
pub(super) type LookAlikes = [&'static str; 2];

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    Text(&'static str),
    Number(i64),
    /// The code of a customer: `C42`.
    Code(i64),
}

impl Cell {
    pub(super) fn number(self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Code(number) => write!(f, "C{number}"),
        }
    }
}

/// Why a table has a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Distinguishes rows.
    Key,
    /// Refers to the second table.
    Link,
    /// What rows are grouped by, or different values are counted of.
    Group,
    /// What is added up or compared.
    Measure,
    Other,
}

/// The values that a column draws from.
#[derive(Debug, Clone)]
pub(super) enum Values {
    /// A number that rises from row to row.
    Rising,
    Codes(Vec<i64>),
    Texts(Cow<'static, [LookAlikes]>),
    Numbers {
        low: i64,
        high: i64,
    },
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) role: Role,
    pub(super) values: Values,
}

impl Column {
    pub(super) fn key() -> Self {
        Self { name: "id", role: Role::Key, values: Values::Rising }
    }

    pub(super) fn link(codes: Vec<i64>) -> Self {
        Self { name: "customer", role: Role::Link, values: Values::Codes(codes) }
    }

    fn text(&(name, texts): &(&'static str, &'static [LookAlikes])) -> Self {
        Self { name, role: Role::Other, values: Values::Texts(Cow::Borrowed(texts)) }
    }

    fn number(&(name, low, high): &(&'static str, i64, i64)) -> Self {
        Self { name, role: Role::Other, values: Values::Numbers { low, high } }
    }

    /// A column of text in a role.
    pub(super) fn some_text(role: Role, rng: &mut PyRandom) -> Self {
        Self { role, ..Self::text(rng.choice(TEXTS)) }
    }

    /// A column of amounts in a role.
    pub(super) fn some_amount(role: Role, rng: &mut PyRandom) -> Self {
        Self { role, ..Self::number(rng.choice(AMOUNTS)) }
    }

    /// Every column that a table may have besides those in a role, in random order.
    pub(super) fn extra_columns(rng: &mut PyRandom) -> Vec<Self> {
        let numbers = AMOUNTS.iter().chain(OTHER_NUMBERS).map(Self::number);
        let mut extra_columns: Vec<Self> = TEXTS.iter().map(Self::text).chain(numbers).collect();
        rng.shuffle(&mut extra_columns);
        extra_columns
    }

    /// Keeps only some of the texts, so that rows share them.
    pub(super) fn narrow(&mut self, count: usize, rng: &mut PyRandom) {
        if let Values::Texts(texts) = &mut self.values {
            *texts = Cow::Owned(rng.sample(texts, count.min(texts.len())));
        }
    }
}

/// One text of a list; with probability `noise / 2` the look-alike, so that at 1 both are as common.
pub(super) fn draw_text(texts: &[LookAlikes], noise: f64, rng: &mut PyRandom) -> &'static str {
    let pair = rng.choice(texts);
    pair[usize::from(rng.random() < noise / 2.0)]
}

/// The countries of the second table.
pub(super) const COUNTRIES: &[LookAlikes] = &[
    ["Austria", "Australia"],
    ["Gambia", "Zambia"],
    ["Iceland", "Ireland"],
    ["Malta", "Mali"],
    ["Niger", "Nigeria"],
    ["Slovakia", "Slovenia"],
    ["Uruguay", "Paraguay"],
];

/// Columns of text. A comma in a product makes CSV quote it; nothing here needs an escape in any format.
const TEXTS: &[(&str, &[LookAlikes])] = &[
    (
        "name",
        &[
            ["Anna", "Anne"],
            ["Brian", "Bryan"],
            ["Carla", "Karla"],
            ["Eric", "Erik"],
            ["John", "Jon"],
            ["Kristin", "Kirsten"],
            ["Luis", "Louis"],
            ["Mark", "Marc"],
            ["Philip", "Phillip"],
            ["Sara", "Sarah"],
            ["Stefan", "Stephan"],
            ["Teresa", "Theresa"],
        ],
    ),
    (
        "city",
        &[
            ["Ashford", "Ashfield"],
            ["Brighton", "Brixton"],
            ["Fairfield", "Fairview"],
            ["Greenville", "Greenvale"],
            ["Hampton", "Hamilton"],
            ["Kingston", "Kingstown"],
            ["Milton", "Hilton"],
            ["Newport", "Newton"],
            ["Norwood", "Northwood"],
            ["Oakland", "Oakham"],
            ["Riverton", "Riverdale"],
            ["Weston", "Easton"],
        ],
    ),
    (
        "department",
        &[
            ["Books", "Bookings"],
            ["Design", "Designs"],
            ["Export", "Exports"],
            ["Garden", "Gardens"],
            ["Marketing", "Markets"],
            ["Orders", "Order"],
            ["Repairs", "Repair"],
            ["Research", "Search"],
            ["Services", "Service"],
            ["Training", "Trains"],
        ],
    ),
    (
        "product",
        &[
            ["Bowl, deep", "Bowl, steep"],
            ["Box, large", "Box, larger"],
            ["Chair, oak", "Chair, oaken"],
            ["Clock, wall", "Clock, tall"],
            ["Desk, plain", "Desk, plane"],
            ["Lamp, small", "Lamp, tall"],
            ["Mirror, long", "Mirror, oblong"],
            ["Rug, red", "Rug, reed"],
            ["Shelf, wide", "Shelf, wider"],
            ["Table, round", "Table, rounded"],
        ],
    ),
    (
        "color",
        &[
            ["black", "blue black"],
            ["brown", "bronze"],
            ["dark red", "deep red"],
            ["gold", "golden"],
            ["gray", "grey"],
            ["light blue", "bright blue"],
            ["orange", "orange red"],
            ["pale green", "pine green"],
            ["pink", "pale pink"],
            ["sea blue", "sky blue"],
            ["warm white", "cream white"],
        ],
    ),
    (
        "status",
        &[
            ["booked", "rebooked"],
            ["checked", "unchecked"],
            ["closed", "enclosed"],
            ["loaded", "unloaded"],
            ["open", "opened"],
            ["ordered", "reordered"],
            ["packed", "unpacked"],
            ["paid", "prepaid"],
            ["planned", "unplanned"],
            ["sent", "resent"],
        ],
    ),
    (
        "region",
        &[
            ["Center", "Central"],
            ["Coast", "Coastal"],
            ["East", "Eastern"],
            ["Highland", "Highlands"],
            ["Inland", "Island"],
            ["Lake", "Lakes"],
            ["North", "Northern"],
            ["South", "Southern"],
            ["Valley", "Valleys"],
            ["West", "Western"],
        ],
    ),
    (
        "material",
        &[
            ["brass", "bronze"],
            ["ceramic", "ceramics"],
            ["glass", "fiberglass"],
            ["leather", "leatherette"],
            ["linen", "linoleum"],
            ["oak", "oaken"],
            ["plaster", "plastic"],
            ["silk", "silken"],
            ["wax", "waxed"],
            ["wood", "wooden"],
            ["wool", "woolen"],
        ],
    ),
];

/// Columns of whole numbers of which a sum makes sense: name, smallest and largest.
const AMOUNTS: &[(&str, i64, i64)] = &[
    ("quantity", 1, 99),
    ("price", 5, 999),
    ("weight", 1, 250),
    ("distance", 10, 900),
    ("stock", 0, 400),
    ("score", 1, 100),
    ("cost", 10, 750),
    ("area", 20, 600),
    ("duration", 5, 240),
];

/// Columns of whole numbers that nobody would add up.
const OTHER_NUMBERS: &[(&str, i64, i64)] = &[("year", 1975, 2024), ("age", 18, 79)];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn column_texts_are_distinct_and_need_no_escape() {
        for (name, texts) in TEXTS.iter().chain(&[("country", COUNTRIES)]) {
            let all: Vec<&str> = texts.iter().flatten().copied().collect();
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{name}");
            assert!(all.iter().all(|text| !text.contains(['"', '\\', '|', '<', '>', '&', '\n'])), "{name}");
        }
    }
}
