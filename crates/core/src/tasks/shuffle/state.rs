//! The text of a story of swaps: with people, with cups, or with seats.

use std::fmt::Write;

use crate::PyRandom;
use crate::tasks::text::write_list;

const PEOPLE: &[&str] = &[
    "Ada", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Hugo", "Iris", "Jonas", "Karla", "Leo", "Mia",
    "Noah", "Olga", "Paul", "Rosa", "Simon",
];

/// Things that a person has in hand.
const BELONGINGS: &[&str] = &[
    "apple", "ball", "book", "candle", "drum", "fan", "hat", "kite", "lamp", "map", "mirror", "pencil",
    "scarf", "spoon", "teapot", "umbrella",
];

const CUP_COLOURS: &[&str] = &[
    "black",
    "blue",
    "brown",
    "golden",
    "green",
    "grey",
    "orange",
    "pink",
    "purple",
    "red",
    "silver",
    "turquoise",
    "white",
    "yellow",
];

/// Things that fit under a cup.
const TRINKETS: &[&str] = &[
    "acorn", "bead", "bean", "button", "coin", "cork", "key", "marble", "nail", "pearl", "pebble", "ring",
    "shell", "stamp", "thimble", "walnut",
];

#[derive(Clone, Copy)]
enum Style {
    People,
    Cups,
    Seats,
}

/// The names of places and things.
pub(super) struct State {
    style: Style,
    holders: Vec<String>,
    things: Vec<&'static str>,
}

impl State {
    /// A scene in one of the three styles, with names drawn from the lists.
    pub(super) fn new(style: &str, entities: usize, rng: &mut PyRandom) -> Self {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        let (style, holders, things) = match style {
            "people" => (Style::People, owned(rng.sample(PEOPLE, entities)), BELONGINGS),
            "cups" => (Style::Cups, owned(rng.sample(CUP_COLOURS, entities)), TRINKETS),
            _ => (Style::Seats, (1..=entities).map(|seat| seat.to_string()).collect(), PEOPLE),
        };
        Self { style, holders, things: rng.sample(things, entities) }
    }

    /// Where everything is at first; `start` has the thing at each place.
    pub(super) fn opening(&self, start: &[usize]) -> String {
        let mut text = String::with_capacity(2048);
        let count = start.len();
        let _ = match self.style {
            Style::People => write!(text, "Each of {count} people has one thing: "),
            Style::Cups => write!(text, "Each of {count} cups hides one thing: "),
            Style::Seats => write!(text, "A row has {count} seats with one person in each: "),
        };
        let placed: Vec<(&String, &usize)> = self.holders.iter().zip(start).collect();
        write_list(&placed, &mut text, |(holder, thing), text| {
            let _ = match (self.style, self.things[**thing]) {
                (Style::People, thing) => write!(text, "{holder} has the {thing}"),
                (Style::Cups, thing) => write!(text, "the {thing} is under the {holder} cup"),
                (Style::Seats, person) => write!(text, "{person} is in seat {holder}"),
            };
        });
        text.push_str(".\n\nThen this happens, in this order:\n");
        text
    }

    /// A line that swaps what is at two places.
    pub(super) fn swap(
        &self,
        [first, second]: [usize; 2],
        things: &[usize],
        rng: &mut PyRandom,
        text: &mut String,
    ) {
        let (one, two) = (&self.holders[first], &self.holders[second]);
        let _ = match self.style {
            Style::People => writeln!(text, "{one} and {two} swap what they have."),
            Style::Cups => writeln!(text, "The things under the {one} cup and the {two} cup are swapped."),
            Style::Seats if rng.random() < 0.5 => {
                writeln!(text, "The people in seats {one} and {two} swap seats.")
            }
            Style::Seats => {
                let (one, two) = (self.things[things[first]], self.things[things[second]]);
                writeln!(text, "{one} and {two} swap seats.")
            }
        };
    }

    /// A line that says where a thing is at that moment.
    pub(super) fn anchor(&self, holder: usize, thing: usize, rng: &mut PyRandom, text: &mut String) {
        let (holder, thing) = (&self.holders[holder], self.things[thing]);
        let holder_first = rng.random() < 0.5;
        let _ = match (self.style, holder_first) {
            (Style::People, true) => writeln!(text, "At this point, {holder} has the {thing}."),
            (Style::People, false) => writeln!(text, "For now, the {thing} is with {holder}."),
            (Style::Cups, true) => writeln!(text, "At this point, the {holder} cup hides the {thing}."),
            (Style::Cups, false) => writeln!(text, "For now, the {thing} is under the {holder} cup."),
            (Style::Seats, true) => writeln!(text, "At this point, the person in seat {holder} is {thing}."),
            (Style::Seats, false) => writeln!(text, "For now, {thing} is in seat {holder}."),
        };
    }

    /// A line after which everything is where it was.
    pub(super) fn confounder(&self, rng: &mut PyRandom, text: &mut String) {
        let count = self.things.len();
        let first = rng.index(count);
        let second = (first + 1 + rng.index(count - 1)) % count;
        let kind = rng.index(6);
        if let Style::Cups = self.style {
            let (one, two) = (&self.holders[first], &self.holders[second]);
            let _ = match kind {
                0 => writeln!(text, "The {one} cup is tapped with a spoon."),
                1 => writeln!(text, "Somebody lifts the {one} cup, looks under it and puts it back."),
                2 => writeln!(text, "The {one} cup is turned around where it stands."),
                3 => writeln!(text, "Somebody points at the {one} cup and then at the {two} cup."),
                4 => writeln!(text, "Somebody asks about the {}.", self.things[first]),
                _ => writeln!(
                    text,
                    "A hand reaches for the {one} cup and the {two} cup, but leaves both as they are."
                ),
            };
            return;
        }
        let person = |index: usize| match self.style {
            Style::Seats => self.things[index],
            _ => self.holders[index].as_str(),
        };
        let (one, two) = (person(first), person(second));
        let _ = match (kind, self.style) {
            (0, _) => writeln!(text, "{one} tells {two} a joke."),
            (1, _) => writeln!(text, "{one} hums a tune."),
            (2, Style::Seats) => writeln!(text, "{one} stands up and sits down again in the same seat."),
            (2, _) => writeln!(text, "{one} takes a close look at what {two} has."),
            (3, Style::Seats) => writeln!(text, "{one} asks {two} about the view."),
            (3, _) => writeln!(text, "{one} talks about the {}.", self.things[second]),
            (4, _) => writeln!(text, "{one} offers {two} a swap, but {two} says no."),
            _ => writeln!(text, "{one} and {two} talk about a swap, but decide against it."),
        };
    }

    /// The question where a thing has ended up.
    pub(super) fn question(&self, thing: usize, text: &mut String) {
        let thing = self.things[thing];
        let _ = match self.style {
            Style::People => write!(text, "\nWho has the {thing} in the end?"),
            Style::Cups => write!(text, "\nWhich cup hides the {thing} in the end?"),
            Style::Seats => write!(text, "\nIn which seat is {thing} in the end?"),
        };
    }

    /// The places, as answers.
    pub(super) fn options(&self) -> Vec<String> {
        let option = |holder: &String| match self.style {
            Style::People => holder.clone(),
            Style::Cups => format!("{holder} cup"),
            Style::Seats => format!("seat {holder}"),
        };
        self.holders.iter().map(option).collect()
    }
}
