//! Sorts by the keys that the prompt states, on lower-cased text and numbers read back from it.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let list = between(prompt, "\n\n", "\n\n");
    let mut items: Vec<&str> =
        list.split([',', ';', '|', '\n', ' ']).filter(|item| !item.is_empty()).collect();
    let claimed: usize = prompt.rsplit_once(" all ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(items.len(), claimed, "{prompt}");

    let question = prompt.lines().next().unwrap();
    if question.contains("reverse alphabetical") {
        items.sort_by_key(|item| letters(item));
        items.reverse();
    } else if question.contains("alphabetical") {
        items.sort_by_key(|item| letters(item));
    } else if question.contains("order of length") {
        items.sort_by_key(|item| (item.len(), letters(item)));
    } else if question.contains("the number at their end") {
        items.sort_by_key(|item| number(item));
    } else {
        items.sort_by_key(|item| (letters(item), number(item)));
    }
    assert_one_order(&items, question);
    items.join(", ")
}

fn letters(item: &str) -> String {
    item.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase()
}

fn number(item: &str) -> u64 {
    item.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap()
}

/// No two items are equal in the order asked for, or there would be two right answers.
fn assert_one_order(items: &[&str], question: &str) {
    for pair in items.windows(2) {
        let differ = if question.contains("the number at their end") {
            number(pair[0]) != number(pair[1])
        } else {
            pair[0].to_lowercase() != pair[1].to_lowercase()
        };
        assert!(differ, "{pair:?} are equal");
    }
}
