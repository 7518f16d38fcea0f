//! The text of a street and of the moves in it.

use std::fmt::Write;

use super::lanes::{Condition, End, Lanes, Operation, Side};
use crate::PyRandom;

/// Vehicles that nobody takes for one another.
pub(super) const VEHICLES: &[&str] = &[
    "ambulance",
    "bus",
    "camper",
    "convertible",
    "forklift",
    "hatchback",
    "limousine",
    "pickup",
    "sedan",
    "snowplough",
    "tanker",
    "taxi",
    "tractor",
    "van",
];

/// The names of the vehicles, and the number of lanes.
pub(super) struct Wording<'a> {
    pub(super) names: &'a [&'static str],
    pub(super) lanes: usize,
}

impl Wording<'_> {
    /// The rules and the street at first.
    pub(super) fn opening(&self, state: &Lanes) -> String {
        let mut text = String::with_capacity(2048);
        let (lanes, numbers) = match self.lanes {
            1 => ("one lane".to_owned(), "101, 102, 103 and so on"),
            2 => ("2 lanes".to_owned(), "101, 102 and so on in lane 1, 201, 202 and so on in lane 2"),
            lanes => (
                format!("{lanes} lanes"),
                "101, 102 and so on in lane 1, 201, 202 and so on in lane 2, and likewise in the other lanes",
            ),
        };
        let _ = writeln!(
            text,
            "Vehicles stand in {lanes}, one behind the other. Places are numbered from the front: {numbers}. \
             There are never gaps: the vehicles behind move up when one leaves its place, and move back when one \
             comes in ahead of them.\n\nAt the start, from front to back:"
        );
        for (lane, vehicles) in state.lanes().iter().enumerate() {
            let _ = write!(text, "Lane {}: ", lane + 1);
            for (position, vehicle) in vehicles.iter().enumerate() {
                text.push_str(if position == 0 { "" } else { ", " });
                text.push_str(self.names[*vehicle]);
            }
            text.push_str(if vehicles.is_empty() { "empty\n" } else { "\n" });
        }
        text.push_str("\nThen this happens, in this order:\n");
        text
    }

    /// A line that tells what to do.
    pub(super) fn instruction(&self, operation: &Operation, text: &mut String) {
        let start = text.len();
        self.clause(operation, text);
        text[start..=start].make_ascii_uppercase();
        text.push_str(".\n");
    }

    fn clause(&self, operation: &Operation, text: &mut String) {
        let end_name = |end: End| if end == End::Front { "front" } else { "back" };
        let _ = match operation {
            Operation::Move { vehicle, lane, end } => {
                let (vehicle, end) = (self.names[*vehicle], end_name(*end));
                write!(text, "the {vehicle} moves to the {end} of lane {}", lane + 1)
            }
            Operation::Swap { first, second } => {
                write!(text, "the {} and the {} swap places", self.names[*first], self.names[*second])
            }
            Operation::Insert { vehicle, side, other } => {
                let (vehicle, other) = (self.names[*vehicle], self.names[*other]);
                let side = if *side == Side::Ahead { "ahead of" } else { "behind" };
                write!(text, "the {vehicle} moves to the place directly {side} the {other}")
            }
            Operation::Rotate { lane, from, times } => {
                text.push_str(["", "this is done twice: ", "this is done three times: "][times - 1]);
                let to = if *from == End::Front { End::Back } else { End::Front };
                let (from, to) = (end_name(*from), end_name(to));
                write!(text, "the vehicle at the {from} of lane {} moves to the {to} of that lane", lane + 1)
            }
            Operation::Conditional { condition, then, otherwise } => {
                text.push_str("if ");
                self.condition(condition, text);
                text.push_str(", ");
                self.clause(then, text);
                text.push_str("; otherwise, ");
                self.clause(otherwise, text);
                Ok(())
            }
        };
    }

    fn condition(&self, condition: &Condition, text: &mut String) {
        let _ = match *condition {
            Condition::InLane { vehicle, lane } => {
                write!(text, "the {} is in lane {}", self.names[vehicle], lane + 1)
            }
            Condition::AtSlot { vehicle, slot } => {
                write!(text, "the {} is at place {}", self.names[vehicle], slot.number())
            }
            Condition::LaneHolds { lane, count: 0 } => write!(text, "lane {} is empty", lane + 1),
            Condition::LaneHolds { lane, count } => {
                let plural = if count == 1 { "" } else { "s" };
                write!(
                    text,
                    "there {} exactly {count} vehicle{plural} in lane {}",
                    is_or_are(count),
                    lane + 1
                )
            }
        };
    }

    /// A line about something that moves no vehicle.
    pub(super) fn distractor(&self, rng: &mut PyRandom, text: &mut String) {
        let first = rng.index(self.names.len());
        let second = (first + 1 + rng.index(self.names.len() - 1)) % self.names.len();
        let (one, two) = (self.names[first], self.names[second]);
        let lane = 1 + rng.index(self.lanes);
        let _ = match rng.index(9) {
            0 => writeln!(text, "The {one} sounds its horn twice."),
            1 => writeln!(text, "The driver of the {one} turns on the radio."),
            2 => writeln!(text, "The green paint of the {one} shines in the sun."),
            3 => writeln!(text, "A bird lands on the {one} and flies off again."),
            4 => writeln!(text, "The driver of the {one} waves to the driver of the {two}."),
            5 => writeln!(text, "The {one} and the {two} flash their lights at each other."),
            6 => writeln!(text, "It rains on the {one} and the {two}."),
            7 => writeln!(
                text,
                "The driver of the {one} would like to swap places with the {two}, but nothing comes of it."
            ),
            _ => writeln!(
                text,
                "The driver of the {one} thinks about going to the front of lane {lane}, but stays put."
            ),
        };
    }
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}
