//! More things, swaps and idle sentences, and swaps told at greater length or in two ways.

use reasonscape_core::Test;

use super::{grows, mean};
use crate::solve::between;

#[test]
fn every_dimension_adds_state_to_track() {
    grows("shuffle", &[r#"{"entities": 3}"#, r#"{"entities": 6}"#, r#"{"entities": 12}"#], |test| {
        test.options.len() as f64
    });
    grows("shuffle", &[r#"{"depth": 1}"#, r#"{"depth": 8}"#, r#"{"depth": 64}"#], |test| {
        story(test).filter(|line| is_swap(line)).count() as f64
    });
    grows("shuffle", &[r#"{"anchors": 0}"#, r#"{"anchors": 4}"#, r#"{"anchors": 16}"#], |test| {
        story(test).filter(|line| is_anchor(line)).count() as f64
    });
    grows("shuffle", &[r#"{"confounders": 0}"#, r#"{"confounders": 8}"#, r#"{"confounders": 32}"#], |test| {
        story(test).filter(|line| !is_swap(line) && !is_anchor(line)).count() as f64
    });
    grows("shuffle", &[r#"{"style": "people"}"#, r#"{"style": "cups"}"#], |test| test.prompt.len() as f64);
    grows("shuffle", &[r#"{"style": "cups"}"#, r#"{"style": "seats"}"#], |test| {
        let by_place = |line: &&str| line.starts_with("The ");
        let (one, other): (Vec<&str>, Vec<&str>) =
            story(test).filter(|line| is_swap(line)).partition(by_place);
        f64::from(u8::from(!one.is_empty()) + u8::from(!other.is_empty()))
    });
}

/// What was last said about a thing, at first or later, is seldom where it ends up.
#[test]
fn last_mention_is_not_a_good_guess() {
    let repeats_it = |test: &Test| f64::from(last_mentioned_holder(test) == test.target);
    for params in
        [r#"{"depth": 1}"#, r#"{"anchors": 0}"#, r#"{"anchors": 16}"#, r#"{"anchors": 16, "depth": 64}"#]
    {
        for task in ["shuffle@1", "shuffle@2"] {
            let proportion = mean(task, params, repeats_it);
            assert!(proportion < 0.35, "{task} {params}: {proportion}");
        }
    }
}

/// The person with whom the thing in question was, as the text last had it.
fn last_mentioned_holder(test: &Test) -> &str {
    let (text, question) = test.prompt.split_once("Who has the ").unwrap();
    let subject = question.split(' ').next().unwrap();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let is_claim = |words: &&[&str]| match **words {
        [_, "has", "the", thing, _] | ["the", thing, "is", "with", _] => thing == subject,
        _ => false,
    };
    let last = words.windows(5).rfind(is_claim).expect("the opening tells where it is");
    if last[1] == "has" { last[0] } else { last[4] }
}

fn story(test: &Test) -> std::str::Lines<'_> {
    between(&test.prompt, "in this order:\n", "\n\n").lines()
}

fn is_swap(line: &str) -> bool {
    line.ends_with(" swap what they have.")
        || line.ends_with(" are swapped.")
        || line.ends_with(" swap seats.")
}

fn is_anchor(line: &str) -> bool {
    line.starts_with("At this point, ") || line.starts_with("For now, ")
}
