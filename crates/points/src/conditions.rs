//! Conditions joined by AND and OR.

use datafusion::logical_expr::Expr;

/// The condition that one of these holds; `None` without conditions.
pub(crate) fn any_of(conditions: Vec<Expr>) -> Option<Expr> {
    joined(conditions, Expr::or)
}

/// The condition that all of these hold; `None` without conditions.
pub(crate) fn all_of(conditions: Vec<Expr>) -> Option<Expr> {
    joined(conditions, Expr::and)
}

/// A balanced tree, because the query engine recurses over expressions: a chain of a thousand conditions would be a
/// thousand levels deep, and this tree has ten.
fn joined(mut conditions: Vec<Expr>, join: fn(Expr, Expr) -> Expr) -> Option<Expr> {
    while conditions.len() > 1 {
        let mut rest = conditions.into_iter();
        conditions = Vec::with_capacity(rest.len().div_ceil(2));
        while let Some(first) = rest.next() {
            conditions.push(match rest.next() {
                Some(second) => join(first, second),
                None => first,
            });
        }
    }
    conditions.pop()
}
