//! Follows every thing by name; sentences that claim where something is are checked.

use std::collections::BTreeMap;

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    // From the name of a place, as the options have it, to the thing there.
    let mut things: BTreeMap<String, String> = BTreeMap::new();
    let opening = between(prompt, ": ", ".\n\n").replace(" and ", ", ");
    for claim in opening.split(", ") {
        let (holder, thing) = claim_of(claim).unwrap();
        assert!(things.insert(holder, thing).is_none());
    }
    for line in between(prompt, "in this order:\n", "\n\n").lines() {
        let sentence = line.strip_suffix('.').unwrap();
        let claim = sentence.strip_prefix("At this point, ").or(sentence.strip_prefix("For now, "));
        if let Some(claim) = claim {
            let (holder, thing) = claim_of(claim).unwrap();
            assert_eq!(things[&holder], thing, "false: {line}");
        } else if let Some([one, two]) = swap_of(sentence, &things) {
            let (first, second) = (things[&one].clone(), things[&two].clone());
            things.insert(one, second);
            things.insert(two, first);
        }
    }
    let question = between(prompt, "\n\n", " in the end?").rsplit('\n').next().unwrap();
    let thing = question.rsplit(' ').next().unwrap();
    let answer = things.iter().find(|(_, other)| *other == thing).unwrap().0.clone();
    let options = prompt.split_once("one of these:\n").unwrap().1;
    assert_eq!(options.lines().filter(|line| line[3..] == answer).count(), 1);
    assert_eq!(options.lines().count(), things.len());
    answer
}

/// A place and the thing that a clause says is there.
fn claim_of(clause: &str) -> Option<(String, String)> {
    let words: Vec<&str> = clause.split(' ').collect();
    let (holder, thing) = match words[..] {
        [person, "has", "the", thing] | ["the", thing, "is", "with", person] => (person.to_owned(), thing),
        ["the", thing, "is", "under", "the", colour, "cup"]
        | ["the", colour, "cup", "hides", "the", thing] => (format!("{colour} cup"), thing),
        [person, "is", "in", "seat", seat] | ["the", "person", "in", "seat", seat, "is", person] => {
            (format!("seat {seat}"), person)
        }
        _ => return None,
    };
    Some((holder, thing.to_owned()))
}

/// The two places of a swap, if the sentence tells of one.
fn swap_of(sentence: &str, things: &BTreeMap<String, String>) -> Option<[String; 2]> {
    let words: Vec<&str> = sentence.split(' ').collect();
    let seat_of = |person: &str| things.iter().find(|(_, other)| *other == person).unwrap().0.clone();
    match words[..] {
        [one, "and", two, "swap", "what", "they", "have"] => Some([one.to_owned(), two.to_owned()]),
        ["The", "things", "under", "the", one, "cup", "and", "the", two, "cup", "are", "swapped"] => {
            Some([format!("{one} cup"), format!("{two} cup")])
        }
        ["The", "people", "in", "seats", one, "and", two, "swap", "seats"] => {
            Some([format!("seat {one}"), format!("seat {two}")])
        }
        [one, "and", two, "swap", "seats"] => Some([seat_of(one), seat_of(two)]),
        _ => None,
    }
}
