//! Lists, whatever separates their items.

use super::decimal::Decimal;
use super::integer;
use super::text::{answer_before_remark, is_hedged, plain};
use crate::extract::without_bullet;

/// Whether `answer` is the target list, item by item and in order.
///
/// The target decides what separates the items: a way of splitting counts only if it gives exactly the items that
/// are wanted, so trying several is not lenient. Numbers are equal as numbers. The case of words does not matter as
/// long as no two items differ in nothing else.
pub(crate) fn matches(answer: &str, target: &str) -> bool {
    let target_items = Target::new(target);
    if let [only] = target_items.items[..]
        && Decimal::parse(only).is_some()
        && integer::matches(answer, only)
    {
        return true;
    }
    let text = plain(answer);
    let text = text.trim();
    bodies(text).any(|body| target_items.is(body))
}

/// The parts of a candidate that may be the list: all of it, what comes before an explanation, what is in brackets,
/// and what follows an introduction.
fn bodies(text: &str) -> impl Iterator<Item = &str> {
    let bracketed = (text.matches('[').count() == 1)
        .then(|| text.split_once('[').and_then(|(before, rest)| Some((before, rest.split_once(']')?.0))))
        .flatten();
    let introduced = |link: &str| text.rsplit_once(link);
    let introduced = [bracketed, introduced(":"), introduced(" are "), introduced(" is ")];
    [Some(text), answer_before_remark(text)].into_iter().flatten().chain(
        introduced.into_iter().flatten().filter(|(before, _)| !is_hedged(before)).map(|(_, body)| body),
    )
}

fn without_brackets(text: &str) -> &str {
    let text = text.trim();
    [['[', ']'], ['(', ')'], ['{', '}']]
        .iter()
        .find_map(|[open, close]| text.strip_prefix(*open)?.strip_suffix(*close))
        .unwrap_or(text)
        .trim()
}

struct Target<'a> {
    items: Vec<&'a str>,
    case_matters: bool,
}

impl<'a> Target<'a> {
    fn new(target: &'a str) -> Self {
        let body = without_brackets(target);
        let items: Vec<&str> = if body.contains(',') {
            body.split(',').map(bare).collect()
        } else if body.contains('\n') {
            body.lines().map(bare).collect()
        } else {
            body.split_whitespace().map(bare).collect()
        };
        let mut lower: Vec<String> = items.iter().map(|item| item.to_lowercase()).collect();
        let mut exact = items.clone();
        lower.sort_unstable();
        lower.dedup();
        exact.sort_unstable();
        exact.dedup();
        Self { case_matters: lower.len() < exact.len(), items }
    }

    fn is(&self, body: &str) -> bool {
        const SEPARATORS: [&str; 9] = [", ", ",", ";", "→", "->", "|", " < ", " > ", " and "];
        let body = without_brackets(body.trim().trim_end_matches(['.', '!']));
        let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        self.are(&without_markers(&lines))
            || SEPARATORS.iter().any(|separator| self.are(&split_with_and(body, separator)))
            || self.are(&body.split_whitespace().collect::<Vec<_>>())
    }

    fn are(&self, items: &[&str]) -> bool {
        items.len() == self.items.len()
            && items.iter().zip(&self.items).all(|(item, target_items)| self.same(item, target_items))
    }

    fn same(&self, item: &str, target_items: &str) -> bool {
        let item = item.trim();
        item == target_items || {
            let item = bare(item.strip_prefix("and ").unwrap_or(item));
            match (Decimal::parse(item), Decimal::parse(target_items)) {
                (Some(item), Some(target_items)) => item == target_items,
                _ if self.case_matters => item == target_items,
                _ => item.to_lowercase() == target_items.to_lowercase(),
            }
        }
    }
}

/// An item without quotes and emphasis.
fn bare(item: &str) -> &str {
    item.trim().trim_end_matches(',').trim_matches(['"', '\'', '*', '‘', '’'])
}

/// Items between separators; the last two may have an "and" between them instead.
fn split_with_and<'a>(body: &'a str, separator: &str) -> Vec<&'a str> {
    let mut items: Vec<&str> = body.split(separator).collect();
    if let Some((last, rest)) = items.last().and_then(|last| last.split_once(" and ")) {
        items.pop();
        items.extend([last, rest]);
    }
    items
}

/// Lines without their bullets, or without their numbers where these count the lines.
fn without_markers<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let unnumbered: Option<Vec<&str>> = lines
        .iter()
        .enumerate()
        .map(|(i, line)| line.strip_prefix(&(i + 1).to_string())?.strip_prefix([')', '.'])?.strip_prefix(' '))
        .collect();
    unnumbered.unwrap_or_else(|| {
        if lines.iter().all(|line| without_bullet(line).len() < line.len()) {
            lines.iter().map(|line| without_bullet(line)).collect()
        } else {
            lines.to_vec()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_layout_is_ignored() {
        for answer in [
            "[3, 5, 8]",
            "3, 5, 8",
            "3,5,8",
            "3 5 8",
            "3\n5\n8",
            "- 3\n- 5\n- 8",
            "1. 3\n2. 5\n3. 8",
            "(3, 5, 8)",
            "3, 5 and 8",
            "3, 5, and 8",
            "3.0, 5, 8",
            r"\left[3,\, 5,\, 8\right]",
            "**3**, **5**, **8**",
            "The next terms are 3, 5, 8.",
            "Terms: 3, 5, 8",
            "The sequence continues [3, 5, 8] by the rule.",
            "3; 5; 8",
            "3 → 5 → 8",
            "3, 5, 8 (adding two, then three)",
            "[\"3\", \"5\", \"8\"]",
        ] {
            assert!(matches(answer, "3, 5, 8"), "{answer}");
        }
        assert!(matches("1,000, 2,000", "[1000, 2000]"));
        assert!(matches("['file2', 'file10']", "file2 file10"));
        assert!(matches("Apple, PEAR", "apple, pear"));
        assert!(matches("The next number is 7.", "[7]"));
        assert!(matches("- -3\n- -5", "-3, -5"));
    }

    #[test]
    fn list_order_length_and_items_must_match() {
        for answer in [
            "5, 3, 8",
            "3, 5",
            "3, 5, 8, 13",
            "3, 5, 80",
            "3, 58",
            "358",
            "",
            "3, 5, 8 or 9",
            "3, 5, , 8",
            "1. 3\n3. 5\n2. 8",
        ] {
            assert!(!matches(answer, "3, 5, 8"), "{answer}");
        }
        assert!(!matches("file10, file2", "file2, file10"));
        assert!(!matches("file02, file10", "file2, file10"));
        assert!(!matches("It is not a, b", "a, b"));
        // The items differ in case only.
        assert!(!matches("a, A", "A, a"));
        assert!(!matches("[1, 2] then [3, 4]", "1, 2"));
    }
}
