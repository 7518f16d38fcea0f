//! `set`: the same items in any order.

use std::collections::HashSet;

use super::clean::clean;
use crate::extract::without_marker;
use crate::normalize;

/// Whether two lists have the same items, in any order and however often.
pub(super) fn is_same_set(answer: &str, target: &str) -> bool {
    let (answer, target) = (items(answer), items(target));
    !target.is_empty() && answer == target
}

fn items(text: &str) -> HashSet<String> {
    let text = text.trim();
    let text = [["[", "]"], ["(", ")"], ["{", "}"], [r"\{", r"\}"]]
        .iter()
        .find_map(|[open, close]| text.strip_prefix(open)?.strip_suffix(close))
        .unwrap_or(text);
    let pieces: Vec<&str> = text.split([',', ';', '\n']).collect();
    let last = pieces.len() - 1;
    pieces
        .into_iter()
        .enumerate()
        .flat_map(|(index, piece)| {
            let piece = without_marker(piece.trim());
            let piece = piece.strip_prefix("and ").unwrap_or(piece);
            // The last two may have an "and" between them instead of a comma.
            if index == last { piece.split(" and ").collect::<Vec<_>>() } else { vec![piece] }
        })
        .map(|piece| normalize(clean(piece), true).split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|piece| !piece.is_empty())
        .collect()
}
