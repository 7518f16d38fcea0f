//! Reads the rules as sentences and carries them out from the start, checking the shown terms on the way.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let shown = terms(between(prompt, "are:\n\n", "\n\nThe first"));
    let claimed: usize = between(prompt, "The first ", " terms").parse().unwrap();
    assert_eq!(shown.len(), claimed, "{prompt}");
    let given = match between(prompt, "\n\nThe first ", " given.") {
        "term is" => 1,
        several => several.strip_suffix(" terms are").unwrap().parse().unwrap(),
    };
    let modulus: i64 = between(prompt, "divided by ", ".").parse().unwrap();
    let answer_length = match prompt.split_once("What are the next ") {
        Some((_, rest)) => rest.split(' ').next().unwrap().parse().unwrap(),
        None => 1,
    };
    let rules: Vec<(&str, &str)> = if prompt.contains("\n1. ") {
        prompt
            .lines()
            .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(": "))
            .map(|line| line.split_once(". ").unwrap().1.trim_end_matches('.').split_once(": ").unwrap())
            .collect()
    } else {
        vec![("Otherwise", between(prompt.split_once("change it by ").unwrap().1, ": ", "."))]
    };

    let mut all = shown[..given].to_vec();
    while all.len() < shown.len() + answer_length {
        let previous = *all.last().unwrap();
        let (_, steps) = rules.iter().find(|(when, _)| holds(when, all.len() as i64 + 1, previous)).unwrap();
        let mut number = previous;
        for step in steps.split(", then ") {
            number = take(step, number, &all);
        }
        all.push(number.rem_euclid(modulus));
    }
    assert_eq!(all[..shown.len()], shown, "the shown terms do not follow the rules: {prompt}");
    all[shown.len()..].iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn terms(text: &str) -> Vec<i64> {
    let parts: Vec<&str> =
        if text.contains(", ") { text.split(", ").collect() } else { text.split_whitespace().collect() };
    parts.into_iter().map(|part| part.parse().unwrap_or_else(|_| spelled(part))).collect()
}

fn spelled(text: &str) -> i64 {
    let names = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
                 sixteen seventeen eighteen nineteen";
    let tens = "twenty thirty forty fifty sixty seventy eighty ninety";
    let (mut thousands, mut rest) = (0, 0);
    for word in text.split(' ') {
        if word == "thousand" {
            (thousands, rest) = (rest, 0);
        } else if word == "hundred" {
            rest *= 100;
        } else if let Some(value) = names.split_whitespace().position(|name| name == word) {
            rest += value as i64;
        } else {
            let index = tens.split_whitespace().position(|name| name == word).expect(word);
            rest += (index as i64 + 2) * 10;
        }
    }
    thousands * 1000 + rest
}

fn digits_added(number: i64) -> i64 {
    number.to_string().bytes().map(|digit| i64::from(digit - b'0')).sum()
}

fn last_number(text: &str) -> i64 {
    text.rsplit(' ').next().unwrap().parse().unwrap()
}

fn holds(when: &str, position: i64, previous: i64) -> bool {
    let position_is = when.strip_prefix("If the position of the new term is ");
    let previous_is = when.strip_prefix("If the term just before is ");
    match (when, position_is, previous_is) {
        ("Otherwise", ..) => true,
        ("If the digit sum of the term just before is odd", ..) => digits_added(previous) % 2 == 1,
        (_, Some("even"), _) => position % 2 == 0,
        (_, Some(multiple), _) => position % last_number(multiple) == 0,
        (_, _, Some("odd")) => previous % 2 == 1,
        (_, _, Some(above)) if above.starts_with("greater than") => previous > last_number(above),
        (_, _, Some(multiple)) => previous % last_number(multiple) == 0,
        _ => panic!("no such condition: {when}"),
    }
}

fn take(step: &str, number: i64, all: &[i64]) -> i64 {
    if step == "add the digit sum of the running number" {
        number + digits_added(number)
    } else if let Some(factor) = step.strip_prefix("multiply by ") {
        number * factor.parse::<i64>().unwrap()
    } else if step.ends_with(" positions before the new term") {
        let distance: usize = step.split(' ').nth(3).unwrap().parse().unwrap();
        number + all[all.len() - distance]
    } else {
        number + step.strip_prefix("add ").unwrap().parse::<i64>().unwrap()
    }
}
