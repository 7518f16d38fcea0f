//! More vehicles, lanes, instructions, kinds of instruction and idle sentences.

use std::collections::HashSet;

use reasonscape_core::Test;

use super::grows;
use crate::solve::between;

#[test]
fn every_dimension_adds_state_to_track() {
    grows("cars", &[r#"{"entities": 3}"#, r#"{"entities": 6}"#, r#"{"entities": 12}"#], vehicles);
    grows("cars", &[r#"{"lanes": 1}"#, r#"{"lanes": 3}"#, r#"{"lanes": 6}"#], lanes_in_use);
    grows("cars", &[r#"{"moves": 1}"#, r#"{"moves": 8}"#, r#"{"moves": 40}"#], |test| sentences(test, true));
    grows("cars", &[r#"{"distractors": 0}"#, r#"{"distractors": 5}"#, r#"{"distractors": 20}"#], |test| {
        sentences(test, false)
    });
    let complexities = ["move", "swap", "insert", "rotate", "conditional"]
        .map(|complexity| format!(r#"{{"complexity": "{complexity}"}}"#));
    grows("cars", &complexities.each_ref().map(String::as_str), kinds);
}

/// A vehicle that was moved is asked for, save for as many as chance would leave where they were.
#[test]
fn first_position_is_not_a_good_guess() {
    let stayed = |test: &Test| {
        let start: Vec<(String, &str)> = start(test)
            .flat_map(|(lane, vehicles)| {
                vehicles.enumerate().map(move |(i, vehicle)| (format!("{lane}0{}", i + 1), vehicle))
            })
            .collect();
        let (slot, vehicle) = if test.options.is_empty() {
            (test.target.as_str(), between(&test.prompt, "At which place is the ", " in"))
        } else {
            (between(&test.prompt, "Which vehicle is at place ", " in"), test.target.as_str())
        };
        f64::from(start.iter().any(|(number, name)| number == slot && *name == vehicle))
    };
    for moves in [1, 8, 40] {
        for task in ["cars@1", "cars@2"] {
            let proportion = super::mean(task, &format!(r#"{{"moves": {moves}}}"#), stayed);
            assert!(proportion < 0.3, "{task}, {moves}: {proportion}");
        }
    }
}

fn start(test: &Test) -> impl Iterator<Item = (&str, impl Iterator<Item = &str>)> {
    between(&test.prompt, "from front to back:\n", "\n\n").lines().map(|line| {
        let (lane, vehicles) = line.strip_prefix("Lane ").unwrap().split_once(": ").unwrap();
        (lane, vehicles.split(", ").filter(|vehicle| *vehicle != "empty"))
    })
}

fn vehicles(test: &Test) -> f64 {
    start(test).map(|(_, vehicles)| vehicles.count()).sum::<usize>() as f64
}

fn lanes_in_use(test: &Test) -> f64 {
    start(test).filter_map(|(_, mut vehicles)| vehicles.next()).count() as f64
}

fn story(test: &Test) -> std::str::Lines<'_> {
    between(&test.prompt, "in this order:\n", "\n\n").lines()
}

fn moves_something(line: &str) -> bool {
    line.contains(" moves to the ") || line.ends_with(" swap places.")
}

/// How many sentences move something, or move nothing.
fn sentences(test: &Test, moves: bool) -> f64 {
    story(test).filter(|line| moves_something(line) == moves).count() as f64
}

/// How many kinds of instruction there are.
fn kinds(test: &Test) -> f64 {
    let signs = ["If ", " of that lane.", " directly ", " swap places.", " moves to the "];
    let kind = |line: &str| signs.into_iter().find(|sign| line.contains(sign));
    let kinds = story(test).filter(|line| moves_something(line)).filter_map(kind);
    kinds.collect::<HashSet<_>>().len() as f64
}
