//! Numbers in prose: the one number that a candidate claims, if it claims exactly one.

use super::decimal::{Decimal, number_length};
use super::spelled;
use super::text::{answer_before_remark, folded, introduces_answer, is_hedged, plain, words};
use crate::extract::{is_item, without_marker};

/// Whether the number that `answer` claims is the target.
pub(super) fn matches(answer: &str, target: &str) -> bool {
    match Decimal::parse(target) {
        Some(target) => claimed(answer) == Some(target),
        None => folded(answer) == folded(target),
    }
}

/// The number that a candidate claims: the only one, the one after the last `=`, or the one before an explanation.
pub(crate) fn claimed(answer: &str) -> Option<Decimal> {
    let text = plain(answer);
    let text = text.trim();
    let last_line = text.rsplit_once('\n').map(|(_, line)| without_marker(line.trim()));
    if last_line.is_some() && is_item(text) {
        return only_number(last_line?);
    }
    // The result may come after work, as in a fenced block.
    only_number(text).or_else(|| before_explanation(text)).or_else(|| only_number(last_line?))
}

/// A number that is explained afterwards, unless the explanation claims another one.
fn before_explanation(text: &str) -> Option<Decimal> {
    let head = answer_before_remark(text)?;
    let number = only_number(head)?;
    let explanation =
        text[text.find(head)? + head.len()..].trim_matches(['.', '!', ' ', '(', ')', '\n', '-', '—']);
    if numbers(explanation).is_some_and(|found| found.iter().all(|number| number.is_place)) {
        return Some(number);
    }
    only_number(explanation).is_none_or(|other| other == number).then_some(number)
}

/// A number and where it stands.
struct Found {
    value: Decimal,
    start: usize,
    end: usize,
    /// Says where something is, as in "lane 2": not what is asked for as long as there is another number.
    is_place: bool,
}

/// The one number that a sentence or formula comes to.
fn only_number(text: &str) -> Option<Decimal> {
    let text = if text.ends_with("..") { text } else { text.trim_end_matches(['.', '!', ' ']) };
    if text.contains(['\\', '<', '≤', '≥', '≠'])
        || text.contains(" > ")
        || text.ends_with([':', '?'])
        || is_hedged(text)
    {
        return None;
    }
    if let Some(grouped) = spaced_groups(text) {
        return Some(grouped);
    }
    let mut numbers = numbers(text)?;
    if numbers.iter().any(|number| !number.is_place) {
        numbers.retain(|number| !number.is_place);
    }
    let Some(last) = numbers.last() else { return spelled::claimed(text) };
    let (before, after) = (&text[..last.start], &text[last.end..]);
    let is_operand = after.contains(['+', '*', '/', '^', '×', '÷', '·', '%', '='])
        || after.trim_start().starts_with(['-', '√'])
        || before.len() > 2 && before.trim_end().ends_with(['+', '*', '/', '^', '×', '÷', '·', '√']);
    if is_operand {
        return None;
    }
    let clear = match numbers.iter().rev().nth(1) {
        None => introduces_answer(before) || !names_operation(text),
        Some(previous) => {
            is_conclusion(&text[previous.end..last.start]) && words(after).count() <= 4
                || numbers.iter().all(|number| number.value == last.value) && !has_operator(text)
        }
    };
    clear.then(|| last.value.clone())
}

/// Whether an operation is written in words: "twelve plus 5" is not 5.
fn names_operation(text: &str) -> bool {
    const OPERATIONS: [&str; 6] = ["plus", "times", "multiplied", "divided", "modulo", "mod"];
    words(text).any(|word| OPERATIONS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

fn has_operator(text: &str) -> bool {
    text.contains(['+', '*', '/', '^', '×', '÷', '·', '√']) || text.contains(" - ")
}

/// Whether the words between the last two numbers make the last one the result of the others.
fn is_conclusion(between: &str) -> bool {
    const CONCLUSIONS: [&str; 16] = [
        "total",
        "sum",
        "result",
        "so",
        "therefore",
        "thus",
        "hence", // wording: allow
        "gives",
        "equals",
        "makes",
        "get",
        "leaves",
        "altogether",
        "value",
        "count",
        "answer",
    ];
    if !introduces_answer(between) {
        return false;
    }
    if between.contains(char::is_alphabetic) {
        words(between).any(|word| CONCLUSIONS.iter().any(|known| known.eq_ignore_ascii_case(word)))
    } else {
        (between.contains(['=', '→', '⇒']) || between.contains("->")) && !between.contains([',', ';'])
    }
}

/// `1 000 000`: groups of three with a space between, and nothing else.
fn spaced_groups(text: &str) -> Option<Decimal> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut groups = unsigned.split(' ');
    let first = groups.next()?;
    let is_group = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let rest: Vec<&str> = groups.collect();
    ((1..=3).contains(&first.len())
        && is_group(first)
        && !rest.is_empty()
        && rest.iter().all(|group| group.len() == 3 && is_group(group)))
    .then(|| Decimal::read(negative, &unsigned.replace(' ', "")))
}

/// All numbers of a text that are not part of a name (`file10`), an ordinal or a label (`Step 3`). Nothing at all
/// when one of them cannot be read for certain: a range, a unit glued to it, digits omitted by dots.
fn numbers(text: &str) -> Option<Vec<Found>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let mut start = at + offset;
        if text[..start].ends_with('.')
            && !text[..start - 1].ends_with(|c: char| c.is_alphanumeric() || c == ')')
        {
            start -= 1;
        }
        let end = start + number_length(&text[start..])?;
        at = end;
        let before = &text[..start];
        if before.ends_with(|c: char| c.is_alphabetic() || c == '_') {
            at += text[end..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - end);
            continue;
        }
        let mut after = text[end..].chars();
        match (after.next(), after.next()) {
            (Some(next), _) if next.is_alphanumeric() => {
                let word = words(&text[end..]).next().unwrap_or_default();
                if ["st", "nd", "rd", "th"].contains(&word) {
                    continue;
                }
                return None;
            }
            (Some('%' | '…' | '_' | '√'), _) | (Some('.'), Some('.')) => return None,
            (Some(',' | '.' | ':' | '\''), Some(next)) if next.is_ascii_digit() => return None,
            _ => {}
        }
        let value = Decimal::read(false, &text[start..end]);
        let is_place =
            previous_word(before).is_some_and(|word| ["lane", "position"].contains(&word.as_str()));
        let value = match sign(before) {
            Sign::Plus => value,
            Sign::Minus => value.negated(),
            Sign::Label => continue,
            Sign::Unclear => return None,
        };
        found.push(Found { value, start, end, is_place });
    }
    Some(found)
}

/// What the text before a number makes of it.
enum Sign {
    Plus,
    Minus,
    /// The number only counts something: a step, a row.
    Label,
    /// A range, a subtraction or an approximation.
    Unclear,
}

/// The word before a number, in lower case.
fn previous_word(before: &str) -> Option<String> {
    let left = before.trim_end();
    words(left).next_back().filter(|word| left.ends_with(word)).map(str::to_lowercase)
}

fn sign(before: &str) -> Sign {
    const LABELS: [&str; 13] = [
        "step", "part", "question", "problem", "row", "column", "item", "section", "line", "note", "attempt",
        "example", "case",
    ];
    const APPROXIMATIONS: [&str; 12] = [
        "about", "around", "roughly", "nearly", "almost", "approx", "circa", "under", "over", "below",
        "above", "most",
    ];
    if let Some(left) = before.strip_suffix('-') {
        let glued = left.ends_with(|c: char| c.is_alphanumeric() || c == ')');
        return if glued { Sign::Unclear } else { Sign::Minus };
    }
    let left = before.trim_end();
    if left.ends_with(['~', '±']) || left.to_lowercase().ends_with("close to") {
        return Sign::Unclear;
    }
    if let Some(left) = left.strip_suffix('-').map(str::trim_end) {
        let starts = left.is_empty() || left.ends_with('(') || introduces_answer(left);
        return if starts { Sign::Minus } else { Sign::Plus };
    }
    match previous_word(before).unwrap_or_default().as_str() {
        word if APPROXIMATIONS.contains(&word) => Sign::Unclear,
        "minus" | "negative" => Sign::Minus,
        label if LABELS.contains(&label) => Sign::Label,
        _ => Sign::Plus,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_one_claim_in_any_notation() {
        for (answer, target) in [
            ("1,000", "1000"),
            ("1000.0", "1000"),
            ("1e3", "1000"),
            ("1 000", "1000"),
            (r"1{,}000", "1000"),
            (r"1\,000", "1000"),
            ("−17", "-17"),
            ("- 17", "-17"),
            ("minus 17", "-17"),
            ("+5", "5"),
            ("$42", "42"),
            ("-$42", "-42"),
            ("42 apples", "42"),
            ("x = 42", "42"),
            ("12 + 5 = 17", "17"),
            ("12 - 5 = 7", "7"),
            ("x_1 = 42", "42"),
            ("12 plus 5 gives 17", "17"),
            ("There are 3 cats and 4 dogs, so the total is 7.", "7"),
            ("42. That is 6 rows of 7.", "42"),
            ("42 (6 * 7)", "42"),
            ("42 = 42", "42"),
            ("Twelve plus five equals 17", "17"),
            ("6 * 7 -> 42", "42"),
            ("> 42", "42"),
            ("Step 3: 42", "42"),
            ("6 * 7\n= 42", "42"),
            ("the 2nd row has 7", "7"),
            ("1. 6 * 6 = 36\n2. 36 + 6 = 42", "42"),
            (".5", "0.5"),
        ] {
            assert!(matches(answer, target), "{answer} for {target}");
        }
    }

    #[test]
    fn rejects_other_and_multiple_numbers() {
        for (answer, target) in [
            ("1009", "1000"),
            ("100", "1000"),
            ("10000", "1000"),
            ("1,00", "100"),
            ("1.000", "1000"),
            ("3 or 4", "3"),
            ("3 or 4", "4"),
            ("3, 4", "3"),
            ("3, 4", "4"),
            ("12.5", "12"),
            ("10-15", "10"),
            ("10-15", "15"),
            ("10–15", "-15"),
            ("between 3 and 4", "4"),
            ("12 + 5", "17"),
            ("12 + 5", "5"),
            ("4/4", "4"),
            (r"\frac{84}{2}", "84"),
            (r"\sqrt{16}", "16"),
            ("2^{10}", "10"),
            ("42%", "42"),
            ("5k", "5"),
            ("file10", "10"),
            ("not 42", "42"),
            ("it isn't 42", "42"),
            ("42?", "42"),
            ("Step 3:", "3"),
            ("Step 3", "3"),
            ("10...", "10"),
            ("12 (13)", "12"),
            ("12. Wait, 13.", "12"),
            ("12:30", "30"),
            ("Alice has 3, Bob has 4", "4"),
            ("12 apples, 5 pears", "12"),
            ("≈ 42", "42"),
            ("more than 42", "42"),
            ("4²", "4"),
            ("-42", "42"),
            ("42", "-42"),
            ("12 345 6", "12"),
            ("1 000 or so", "1000"),
            ("1. apples\n2. pears\n3. plums", "1"),
            ("1. apples\n2. pears\n3. plums", "3"),
            ("21. I wonder whether the answer is 19, but the rules exclude it", "19"),
            ("twelve plus 5", "5"),
            ("5 times three", "5"),
            ("x < 42", "42"),
            ("x ≥ 42", "42"),
            ("x > 42", "42"),
            ("", "0"),
        ] {
            assert!(!matches(answer, target), "{answer} for {target}");
        }
    }
}
