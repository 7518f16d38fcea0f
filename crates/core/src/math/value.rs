//! What a formula can stand for.

use super::expression::Expression;
use super::lexer::Relation;

/// A formula in normal form.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A number or an expression.
    Expression(Expression),
    /// Values in brackets, in order: a tuple, a point or an interval.
    Tuple { open: char, close: char, items: Vec<Value> },
    /// Values in braces, in any order.
    Set(Vec<Value>),
    /// Intervals and sets joined by ∪.
    Union(Vec<Value>),
    /// Rows of a matrix; whether it is a determinant.
    Matrix(bool, Vec<Vec<Value>>),
    /// Sides with a sign between each two.
    Relation(Vec<Value>, Vec<Relation>),
}

/// One of the values that a formula lists, with the name that it is given to: `x` of `x = 3`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) name: Option<String>,
    pub(super) value: Value,
}

/// A complete formula: the values between commas.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Formula {
    pub(super) items: Vec<Item>,
    /// Whether a percent sign was dropped.
    pub(super) percent: bool,
}
