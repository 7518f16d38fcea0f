//! Plausible answers that are guaranteed to be incorrect.

use reasonscape_core::AnswerType;

use crate::rng::Rng;

/// Table cells that occur in no generated table, and are unlikely in a dataset.
const OTHER_WORDS: [&str; 4] = ["Umbrella, folded", "Archive", "Lighthouse", "Ladder, steep"];

/// An incorrect answer in the same format as the target. It never equals the target, in any notation.
pub(crate) fn answer(kind: AnswerType, target: &str, rng: &mut Rng) -> String {
    match kind {
        AnswerType::Integer => other_number(target, rng),
        AnswerType::List => other_list(target, rng),
        AnswerType::Symbols => other_symbols(target),
        AnswerType::Date => other_day(target, rng),
        AnswerType::Json => other_json(target, rng),
        AnswerType::Cell | AnswerType::Text if target.parse::<f64>().is_ok() => other_number(target, rng),
        AnswerType::Cell | AnswerType::Text => OTHER_WORDS[rng.below(OTHER_WORDS.len())].to_owned(),
        AnswerType::Boolean | AnswerType::Choice => "none of these".to_owned(),
    }
}

/// An integer close to the target; if the target isn't an integer, the target with digits appended.
fn other_number(target: &str, rng: &mut Rng) -> String {
    let off = 1 + rng.below(9) as i64;
    match target
        .parse::<i64>()
        .ok()
        .and_then(|number| number.checked_add(if off % 2 == 0 { off } else { -off }))
    {
        Some(number) => number.to_string(),
        None => format!("{target}{off}"),
    }
}

/// The target with two neighbors swapped; if all items are equal, with one item added.
fn other_list(target: &str, rng: &mut Rng) -> String {
    let mut items: Vec<&str> = target.split(", ").collect();
    let different: Vec<usize> =
        (1..items.len()).filter(|&i| !items[i].eq_ignore_ascii_case(items[i - 1])).collect();
    if different.is_empty() {
        return if items.len() == 1 && target.parse::<i64>().is_ok() {
            other_number(target, rng)
        } else {
            format!("{target}, {}", items[0])
        };
    }
    let index = different[rng.below(different.len())];
    items.swap(index - 1, index);
    items.join(", ")
}

/// The target without its last symbol; if it has only one, with that symbol doubled.
fn other_symbols(target: &str) -> String {
    let mut symbols = target.to_owned();
    let last = symbols.pop();
    if symbols.is_empty() {
        symbols.extend(last.into_iter().chain(last));
    }
    symbols
}

/// Another day of the same month.
fn other_day(target: &str, rng: &mut Rng) -> String {
    let Some((month, day)) = target.rsplit_once('-') else {
        return "2100-01-01".to_owned();
    };
    let day: usize = day.parse().unwrap_or(1);
    // A shift by 1 to 27 modulo 28 never returns to the same day.
    let other = 1 + (day + rng.below(27)) % 28;
    format!("{month}-{other:02}")
}

/// The target list without one value; for an empty list, a list of three values.
fn other_json(target: &str, rng: &mut Rng) -> String {
    match serde_json::from_str(target) {
        Ok(serde_json::Value::Array(mut values)) if !values.is_empty() => {
            values.remove(rng.below(values.len()));
            serde_json::Value::Array(values).to_string()
        }
        _ => "[1, 2, 3]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distractors_differ_and_keep_the_form() {
        let mut rng = Rng::new(1, b"wrong");
        for _ in 0..200 {
            assert_ne!(answer(AnswerType::Integer, "-7", &mut rng).parse::<i64>().unwrap(), -7);
            assert_ne!(answer(AnswerType::List, "a, b, b", &mut rng), "a, b, b");
            let day = answer(AnswerType::Date, "2024-02-28", &mut rng);
            assert!(day.starts_with("2024-02-") && day != "2024-02-28", "{day}");
            assert_ne!(answer(AnswerType::Date, "2024-01-31", &mut rng), "2024-01-31");
        }
        assert_eq!(answer(AnswerType::List, "7, 7", &mut rng), "7, 7, 7");
        assert_eq!(answer(AnswerType::Symbols, ")", &mut rng), "))");
        assert_eq!(answer(AnswerType::Symbols, ")]>", &mut rng), ")]");
        assert_eq!(answer(AnswerType::Json, "[]", &mut rng), "[1, 2, 3]");
        assert_eq!(answer(AnswerType::Json, "[5]", &mut rng), "[]");
    }
}
