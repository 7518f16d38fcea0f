//! Documents whose members keep their order, and what a query selects from them.

use std::fmt::{self, Write};

/// A JSON value; members are in the order in which they are written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(i64),
    Word(&'static str),
    Object(Vec<(&'static str, Value)>),
    List(Vec<Value>),
}

impl Value {
    pub(super) fn is_container(&self) -> bool {
        matches!(self, Value::Object(_) | Value::List(_))
    }

    /// The value of a member, if this is an object that has it.
    fn member(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.iter().find(|(name, _)| *name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The elements, if this is a list.
    fn elements(&self) -> &[Value] {
        match self {
            Value::List(elements) => elements,
            _ => &[],
        }
    }

    /// On one line, with spaces after commas and colons.
    pub(super) fn write_compact(&self, text: &mut String) {
        match self {
            Value::Object(members) => {
                text.push('{');
                for (position, (key, value)) in members.iter().enumerate() {
                    text.push_str(if position == 0 { "\"" } else { ", \"" });
                    text.push_str(key);
                    text.push_str("\": ");
                    value.write_compact(text);
                }
                text.push('}');
            }
            Value::List(elements) => {
                text.push('[');
                for (position, value) in elements.iter().enumerate() {
                    text.push_str(if position == 0 { "" } else { ", " });
                    value.write_compact(text);
                }
                text.push(']');
            }
            Value::Number(number) => {
                write!(text, "{number}").expect("writing to a string does not fail");
            }
            Value::Word(word) => {
                text.push('"');
                text.push_str(word);
                text.push('"');
            }
        }
    }

    /// A member or an element a line, two spaces a level.
    pub(super) fn write_indented(&self, level: usize, text: &mut String) {
        let new_line = |text: &mut String, position: usize, level: usize| {
            text.push_str(if position == 0 { "\n" } else { ",\n" });
            (0..level).for_each(|_| text.push_str("  "));
        };
        match self {
            Value::Object(members) => {
                text.push('{');
                for (position, (key, value)) in members.iter().enumerate() {
                    new_line(text, position, level + 1);
                    text.push('"');
                    text.push_str(key);
                    text.push_str("\": ");
                    value.write_indented(level + 1, text);
                }
                new_line(text, 0, level);
                text.push('}');
            }
            Value::List(elements) => {
                text.push('[');
                for (position, value) in elements.iter().enumerate() {
                    new_line(text, position, level + 1);
                    value.write_indented(level + 1, text);
                }
                new_line(text, 0, level);
                text.push(']');
            }
            Value::Number(_) | Value::Word(_) => self.write_compact(text),
        }
    }
}

/// How an element is compared with a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds(self, number: i64, bound: i64) -> bool {
        match self {
            Self::Less => number < bound,
            Self::AtMost => number <= bound,
            Self::Greater => number > bound,
            Self::AtLeast => number >= bound,
        }
    }
}

/// A place in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Position {
    /// 0 is the first.
    FromStart(usize),
    /// 1 is the last, written -1.
    FromEnd(usize),
}

impl Position {
    /// The place counted from the start, which may lie behind the end; none where it lies before the start.
    pub(super) fn within(self, length: usize) -> Option<usize> {
        match self {
            Self::FromStart(position) => Some(position),
            Self::FromEnd(back) => length.checked_sub(back),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromStart(position) => write!(f, "{position}"),
            Self::FromEnd(back) => write!(f, "-{back}"),
        }
    }
}

/// One step of a query, in the sense of RFC 9535.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// `.key`
    Child(&'static str),
    /// `[2]`, or `[-1]` from the end
    Index(Position),
    /// `[1:3]`, either end of which may be missing
    Slice { start: Option<Position>, end: Option<Position> },
    /// `.*`, of an object
    EveryMember,
    /// `[*]`, of a list
    EveryElement,
    /// `..key`
    Descend(&'static str),
    /// `[?@.key < 5]`, or `[?@ < 5]` for a list of numbers
    Filter { key: Option<&'static str>, comparison: Comparison, bound: i64 },
}

impl Step {
    pub(super) fn write(&self, text: &mut String) {
        let written = match *self {
            Step::Child(key) => write!(text, ".{key}"),
            Step::Index(index) => write!(text, "[{index}]"),
            Step::Slice { start, end } => {
                let written =
                    |end: Option<Position>| end.map_or_else(String::new, |position| position.to_string());
                write!(text, "[{}:{}]", written(start), written(end))
            }
            Step::EveryMember => write!(text, ".*"),
            Step::EveryElement => write!(text, "[*]"),
            Step::Descend(key) => write!(text, "..{key}"),
            Step::Filter { key, comparison, bound } => {
                let dot = if key.is_some() { "." } else { "" };
                write!(text, "[?@{dot}{} {} {bound}]", key.unwrap_or_default(), comparison.sign())
            }
        };
        written.expect("writing to a string does not fail");
    }

    /// Adds what this step selects from one value.
    fn apply<'a>(&self, value: &'a Value, selected: &mut Vec<&'a Value>) {
        let elements = value.elements();
        match *self {
            Step::Child(key) => selected.extend(value.member(key)),
            Step::Index(index) => {
                selected.extend(index.within(elements.len()).and_then(|position| elements.get(position)));
            }
            Step::Slice { start, end } => {
                let position = |end: Position| end.within(elements.len()).unwrap_or(0);
                let (start, end) = (start.map_or(0, position), end.map_or(elements.len(), position));
                selected.extend(elements.iter().take(end).skip(start));
            }
            Step::EveryMember => {
                if let Value::Object(members) = value {
                    selected.extend(members.iter().map(|(_, value)| value));
                }
            }
            Step::EveryElement => selected.extend(elements),
            Step::Descend(key) => {
                selected.extend(value.member(key));
                match value {
                    Value::Object(members) => {
                        for (_, value) in members {
                            self.apply(value, selected);
                        }
                    }
                    _ => {
                        for value in elements {
                            self.apply(value, selected);
                        }
                    }
                }
            }
            Step::Filter { key, comparison, bound } => {
                selected.extend(elements.iter().filter(|element| {
                    let compared = match key {
                        Some(key) => element.member(key),
                        None => Some(*element),
                    };
                    matches!(compared, Some(Value::Number(number)) if comparison.holds(*number, bound))
                }));
            }
        }
    }
}

/// The values that a query selects, in the order that RFC 9535 gives where objects keep the order of their members.
pub(super) fn select<'a>(document: &'a Value, query: &[Step]) -> Vec<&'a Value> {
    let mut values = vec![document];
    for step in query {
        let mut selected = Vec::new();
        for value in values {
            step.apply(value, &mut selected);
        }
        values = selected;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::Position::{FromEnd, FromStart};
    use super::*;

    #[test]
    fn steps_select_as_in_rfc_9535() {
        let numbers = Value::List((0..5).map(Value::Number).collect());
        let chosen = |step: Step| -> Vec<i64> {
            let selected = select(&numbers, &[step]);
            selected
                .into_iter()
                .map(|value| match value {
                    Value::Number(number) => *number,
                    other => panic!("{other:?}"),
                })
                .collect()
        };
        assert_eq!(chosen(Step::Index(FromEnd(1))), [4]);
        assert!(chosen(Step::Index(FromStart(5))).is_empty());
        assert!(chosen(Step::Index(FromEnd(6))).is_empty());
        assert_eq!(chosen(Step::Slice { start: Some(FromStart(1)), end: Some(FromStart(3)) }), [1, 2]);
        assert_eq!(chosen(Step::Slice { start: Some(FromEnd(2)), end: None }), [3, 4]);
        assert_eq!(chosen(Step::Slice { start: None, end: Some(FromEnd(3)) }), [0, 1]);
        assert_eq!(chosen(Step::Slice { start: Some(FromStart(3)), end: Some(FromStart(9)) }), [3, 4]);
        let at_least = Step::Filter { key: None, comparison: Comparison::AtLeast, bound: 3 };
        assert_eq!(chosen(at_least), [3, 4]);
    }

    #[test]
    fn descent_visits_parents_before_children() {
        let leaf = |number| Value::Object(vec![("size", Value::Number(number))]);
        let document = Value::Object(vec![
            ("size", Value::Number(1)),
            ("parts", Value::List(vec![leaf(2), leaf(3)])),
            ("rest", leaf(4)),
        ]);
        let mut text = String::new();
        for value in select(&document, &[Step::Descend("size")]) {
            value.write_compact(&mut text);
        }
        assert_eq!(text, "1234");
    }
}
