//! A query first, then a document in which it finds something.

use super::document::Position::{FromEnd, FromStart};
use super::document::{Comparison, Step, Value};
use super::words::{KEYS, VALUES};
use crate::PyRandom;
use crate::tasks::Version;

/// How many names a document has beside those of its query: a prime, so that steps of any length visit them all.
const FILLERS: usize = 53;

/// What documents and queries are made of.
pub(super) struct Scenario {
    pub(super) version: Version,
    pub(super) depth: usize,
    pub(super) width: usize,
    pub(super) operators: &'static str,
    pub(super) noise: usize,
}

/// What is asked.
pub(super) struct Question {
    pub(super) document: Value,
    pub(super) query: Vec<Step>,
}

impl Scenario {
    /// A document and a query that selects numbers and words from it, one at least.
    ///
    /// Every document begins with an object one of whose members the query enters by name, so that there is always
    /// a place outside for what it must not select.
    pub(super) fn question(&self, rng: &mut PyRandom) -> Question {
        let mut keys = KEYS;
        rng.shuffle(&mut keys);
        let (names, fillers) = keys.split_at(self.depth + 2);
        let fillers = &fillers[..FILLERS];
        let mut ranks = ranks(self.width, rng);
        let query = self.query(names, &ranks, rng);
        let decoys = self.decoys(&query, rng);
        rng.shuffle(&mut ranks);
        let extent = Extent { width: self.width, held_back: 0, levels: self.depth + 1, on_the_way: true };
        let document =
            Builder { version: self.version, query: &query, fillers, decoys, ranks, rng }.value(0, extent);
        Question { document, query }
    }

    /// `names` has one more name than there are levels, for the filter.
    fn query(&self, names: &[&'static str], ranks: &[i64], rng: &mut PyRandom) -> Vec<Step> {
        let last = match self.operators {
            // The descent takes all the levels that are left, and the condition needs a name below it.
            "recursive" => self.depth.div_ceil(2),
            "filter" => (self.depth - 1).max(1),
            _ => self.depth,
        };
        let position = 1 + rng.index(last);
        let mut query = vec![Step::Child(names[0])];
        for (level, name) in names[..=self.depth].iter().enumerate().skip(1) {
            let step = match self.operators {
                "index" if level == position => self.index(rng),
                "slice" if level == position => self.slice(rng),
                "wildcard" if level == position => {
                    rng.choice(&[Step::EveryMember, Step::EveryElement]).clone()
                }
                "recursive" if level == position => {
                    query.push(Step::Descend(name));
                    break;
                }
                "filter" if level == position => {
                    let key = (level < self.depth).then_some(names[self.depth + 1]);
                    filter(key, ranks, rng)
                }
                "child" => Step::Child(name),
                "filter" if level == position + 1 => Step::Child(name),
                _ if rng.random() < 0.5 => Step::Child(name),
                _ => self.index(rng),
            };
            query.push(step);
        }
        query
    }

    fn index(&self, rng: &mut PyRandom) -> Step {
        let position = rng.index(self.width);
        let from_end = rng.random() < 0.25;
        Step::Index(if from_end { FromEnd(self.width - position) } else { FromStart(position) })
    }

    /// Some but not all of the elements, unless there is only one.
    fn slice(&self, rng: &mut PyRandom) -> Step {
        let count = 1 + rng.index((self.width - 1).max(1));
        let start = rng.index(self.width - count + 1);
        let end = start + count;
        let (at_start, at_end) = (start == 0, end == self.width);
        let (start, end) = match rng.index(3) {
            0 if at_start => (None, Some(FromStart(end))),
            0 if at_end => (Some(FromStart(start)), None),
            1 if at_end => (Some(FromEnd(count)), None),
            1 if at_start => (None, Some(FromEnd(self.width - end))),
            _ => (Some(FromStart(start)), Some(FromStart(end))),
        };
        Step::Slice { start, end }
    }

    /// How many look-alikes stand beside the way at each level: where one thing is selected, and more lies below.
    fn decoys(&self, query: &[Step], rng: &mut PyRandom) -> Vec<usize> {
        let single = |level: &usize| matches!(query[*level], Step::Child(_) | Step::Index(_));
        let levels: Vec<usize> = (0..query.len() - 1).filter(single).collect();
        let mut decoys = vec![0; query.len()];
        for _ in 0..self.noise {
            decoys[*rng.choice(&levels)] += 1;
        }
        decoys
    }
}

/// Different numbers, ascending, for a filter to compare.
fn ranks(count: usize, rng: &mut PyRandom) -> Vec<i64> {
    let mut rank = 0;
    let mut next = || {
        rank += rng.randint(1, 12);
        rank
    };
    (0..count).map(|_| next()).collect()
}

/// A condition that holds for some but not all of the ranks, unless there is only one. Its bound is one of them, so
/// that "less" and "at most" differ.
fn filter(key: Option<&'static str>, ranks: &[i64], rng: &mut PyRandom) -> Step {
    let width = ranks.len();
    let count = 1 + rng.index((width - 1).max(1));
    let excludes = count < width && rng.random() < 0.5;
    let (comparison, position) = match (rng.random() < 0.5, excludes) {
        (true, true) => (Comparison::Less, count),
        (true, false) => (Comparison::AtMost, count - 1),
        (false, true) => (Comparison::Greater, width - count - 1),
        (false, false) => (Comparison::AtLeast, width - count),
    };
    Step::Filter { key, comparison, bound: ranks[position] }
}

/// How large a part of the document becomes.
#[derive(Clone, Copy)]
struct Extent {
    width: usize,
    /// How many members are added to this value later, such as the one that a filter compares.
    held_back: usize,
    levels: usize,
    /// Whether the query comes here; if not, this is a look-alike.
    on_the_way: bool,
}

impl Extent {
    fn below(self) -> Self {
        Self { levels: self.levels - 1, held_back: 0, ..self }
    }

    /// As deep as what it looks like, but narrow: the document grows with the number of look-alikes alone.
    fn decoy(self) -> Self {
        Self { width: self.width.min(2), on_the_way: false, ..self.below() }
    }
}

struct Builder<'a> {
    version: Version,
    query: &'a [Step],
    /// Names that the query does not mention.
    fillers: &'a [&'static str],
    /// How many look-alikes are still to be placed at each level.
    decoys: Vec<usize>,
    /// What the filter compares, for the elements on the way.
    ranks: Vec<i64>,
    rng: &'a mut PyRandom,
}

impl Builder<'_> {
    /// A value from which the steps of the query from `level` on select something.
    fn value(&mut self, level: usize, extent: Extent) -> Value {
        if level == self.query.len() || extent.levels == 0 {
            return self.scalar();
        }
        match self.query[level] {
            Step::Child(key) => {
                let others = self.others(level, extent);
                let mut members = self.name(others);
                let wanted = self.value(level + 1, extent.below());
                members.insert(self.rng.index(members.len() + 1), (key, wanted));
                Value::Object(members)
            }
            Step::Index(index) => {
                let mut elements = self.others(level, extent);
                if extent.on_the_way {
                    self.add_decoys(&mut elements, level, extent);
                }
                let wanted = self.value(level + 1, extent.below());
                let position = index.within(elements.len() + 1).unwrap_or(0);
                elements.insert(position.min(elements.len()), wanted);
                Value::List(elements)
            }
            Step::EveryMember => {
                let values = self.similar_values(level, extent);
                Value::Object(self.name(values))
            }
            Step::Slice { .. } | Step::EveryElement => Value::List(self.similar_values(level, extent)),
            Step::Filter { key, .. } => Value::List(self.filtered(level, key, extent)),
            Step::Descend(key) => self.searched(key, extent),
        }
    }

    /// What stands beside the value that a step selects.
    fn others(&mut self, level: usize, extent: Extent) -> Vec<Value> {
        let mut others: Vec<Value> = (1 + extent.held_back..extent.width).map(|_| self.scalar()).collect();
        if extent.on_the_way {
            for _ in 0..std::mem::take(&mut self.decoys[level]) {
                others.push(self.value(level + 1, extent.decoy()));
            }
            self.rng.shuffle(&mut others);
        }
        others
    }

    /// Makes the elements of a list resemble the one that the query selects, or its position need not be counted:
    /// one in full, the others at first sight.
    fn add_decoys(&mut self, elements: &mut [Value], level: usize, extent: Extent) {
        let full = if elements.is_empty() { 0 } else { self.rng.index(elements.len()) };
        for (position, element) in elements.iter_mut().enumerate() {
            if !element.is_container() {
                let levels = if position == full { extent.levels - 1 } else { 1 };
                *element = self.value(level + 1, Extent { levels, ..extent.decoy() });
            }
        }
    }

    /// Values of which a step selects several.
    fn similar_values(&mut self, level: usize, extent: Extent) -> Vec<Value> {
        (0..extent.width).map(|_| self.value(level + 1, extent.below())).collect()
    }

    /// Elements that are compared, or whose member `key` is.
    fn filtered(&mut self, level: usize, key: Option<&'static str>, extent: Extent) -> Vec<Value> {
        let mut elements = Vec::with_capacity(extent.width);
        for _ in 0..extent.width {
            let rank = if extent.on_the_way { self.ranks.pop() } else { None };
            let rank = Value::Number(rank.unwrap_or_else(|| self.rng.randint(1, 48)));
            let Some(key) = key else {
                elements.push(rank);
                continue;
            };
            let narrower = match self.version {
                // Everything below is narrower, so positions may be missing.
                Version::V1 => Extent { width: (extent.width - 1).max(1), ..extent.below() },
                Version::V2 => Extent { held_back: 1, ..extent.below() },
            };
            let mut element = self.value(level + 1, narrower);
            if let Value::Object(members) = &mut element {
                members.insert(self.rng.index(members.len() + 1), (key, rank));
            }
            elements.push(element);
        }
        elements
    }

    /// A tree with members named `key` at several depths.
    ///
    /// In each object this member comes before the members below which there are more of its name: then the order
    /// of the text is that of RFC 9535, which visits a node before its descendants.
    fn searched(&mut self, key: &'static str, extent: Extent) -> Value {
        if extent.levels == 1 {
            return self.found(key, extent.width);
        }
        let deeper = self.searched(key, extent.below());
        let mut values = vec![deeper];
        let holds_key = extent.width >= 2 && self.rng.random() < 0.5;
        if extent.width >= 3 && self.rng.random() < 0.5 {
            values.push(self.found(key, 2));
        }
        while values.len() + usize::from(holds_key) < extent.width {
            values.push(self.scalar());
        }
        self.rng.shuffle(&mut values);
        if !holds_key && self.rng.random() < 0.5 {
            return Value::List(values);
        }
        let first = values.iter().position(Value::is_container).expect("one lies deeper");
        let mut members = self.name(values);
        if holds_key {
            let value = self.scalar();
            members.insert(self.rng.index(first + 1), (key, value));
        }
        Value::Object(members)
    }

    /// An object that holds `key` among plain members.
    fn found(&mut self, key: &'static str, width: usize) -> Value {
        let others: Vec<Value> = (1..width).map(|_| self.scalar()).collect();
        let mut members = self.name(others);
        let value = self.scalar();
        members.insert(self.rng.index(members.len() + 1), (key, value));
        Value::Object(members)
    }

    /// Gives each value a different name that the query does not mention.
    fn name(&mut self, values: Vec<Value>) -> Vec<(&'static str, Value)> {
        let mut position = self.rng.index(FILLERS);
        let stride = 1 + self.rng.index(FILLERS - 1);
        let mut next = || {
            position = (position + stride) % FILLERS;
            self.fillers[position]
        };
        values.into_iter().map(|value| (next(), value)).collect()
    }

    fn scalar(&mut self) -> Value {
        if self.rng.random() < 0.25 {
            Value::Word(VALUES[self.rng.index(VALUES.len())])
        } else {
            Value::Number(self.rng.randint(1, 999))
        }
    }
}
