//! Vehicles in lanes, moved by instructions.

use std::fmt::Write;

use super::Version;
use super::text::write_options;
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};
use lanes::{Kind, Lanes};
use wording::{VEHICLES, Wording};

mod lanes;
mod wording;

/// The task in a version.
pub(super) struct Cars(pub(super) Version);

const PARAMETERS: &[Parameter] = &[
    Parameter::int("entities", Dimension::Length, [3, 12, 6], "how many vehicles there are"),
    Parameter::int("lanes", Dimension::Depth, [1, 6, 2], "how many lanes they stand in"),
    Parameter::int("moves", Dimension::MultiStep, [1, 40, 8], "how many instructions move them"),
    Parameter::word(
        "complexity",
        Dimension::Depth,
        &["move", "swap", "insert", "rotate", "conditional"],
        "the hardest kind of instruction; each comes with all before it",
    )
    .with_default(2),
    Parameter::int("distractors", Dimension::Interference, [0, 20, 2], "how many sentences move nothing"),
];

/// A place can be guessed by who knows the number of vehicles, so version 1 asks for it only where there are many.
const MIN_ENTITIES_FOR_SLOT_QUESTION: usize = 6;

impl Task for Cars {
    fn name(&self) -> &'static str {
        self.0.of(["cars", "cars@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        self.0.of([
            "Follow vehicles that change places in lanes, and tell which one is at a place (a choice among all of \
             them) or, in half of the tests with six vehicles or more, at which place one is (written in). Harder \
             with more vehicles, lanes and instructions, with swaps, insertions, rotations and conditions, and with \
             sentences that move nothing.",
            "Follow vehicles that change places in lanes, and tell which of them is at a place in the end. Harder \
             with more vehicles, lanes and instructions, with swaps, insertions, rotations and conditions, and with \
             sentences that move nothing.",
        ])
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn answer_type(&self) -> AnswerType {
        match self.0 {
            Version::V1 => AnswerType::Integer,
            Version::V2 => AnswerType::Choice,
        }
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let entities = params.size("entities");
        let lanes = params.size("lanes");
        let kinds = kinds(params.word("complexity"));
        let names = rng.sample(VEHICLES, entities);
        let mut state = Lanes::new(entities, lanes, rng);
        let start = state.clone();

        let wording = Wording { names: &names, lanes };
        let mut prompt = wording.opening(&start);
        let moves = params.size("moves");
        // The hardest kind comes at least once, or the name of the point would promise too much.
        let hardest_at = rng.index(moves);
        let mut step = 0;
        let mut last_mover = None;
        for moves_something in order(moves, params.size("distractors"), rng) {
            if moves_something {
                let kind = if step == hardest_at { kinds[kinds.len() - 1] } else { *rng.choice(kinds) };
                let operation = state.draw(kind, rng);
                step += 1;
                wording.instruction(&operation, &mut prompt);
                state.apply(&operation);
                last_mover = operation.mover();
            } else {
                wording.distractor(rng, &mut prompt);
            }
        }

        let subject = match self.0 {
            Version::V1 => choose_subject(&start, &state, entities, rng),
            Version::V2 => choose_any(&start, &state, last_mover, entities, rng),
        };
        let slot = state.slot(subject);
        let asks_for_slot = self.0 == Version::V1 && entities >= MIN_ENTITIES_FOR_SLOT_QUESTION;
        if asks_for_slot && rng.random() < 0.5 {
            let _ = write!(
                prompt,
                "\nAt which place is the {} in the end? The answer is one integer.",
                names[subject]
            );
            return Test::free_form(prompt, slot.number().to_string());
        }
        let _ = write!(prompt, "\nWhich vehicle is at place {} in the end?", slot.number());
        let mut options: Vec<usize> = (0..entities).collect();
        rng.shuffle(&mut options);
        let right = options.iter().position(|option| *option == subject).expect("every vehicle is an option");
        let options: Vec<String> = options.into_iter().map(|option| names[option].to_owned()).collect();
        write_options(self.0, &options, &mut prompt);
        Test::choice(prompt, options, right)
    }
}

/// The kinds of instruction up to the hardest.
fn kinds(hardest: &str) -> &'static [Kind] {
    const KINDS: [Kind; 5] = [Kind::Move, Kind::Swap, Kind::Insert, Kind::Rotate, Kind::Conditional];
    match hardest {
        "move" => &KINDS[..1],
        "swap" => &KINDS[..2],
        "insert" => &KINDS[..3],
        "rotate" => &KINDS[..4],
        _ => &KINDS,
    }
}

/// The order of the sentences: true for an instruction, false for a distractor.
fn order(moves: usize, distractors: usize, rng: &mut PyRandom) -> Vec<bool> {
    let mut order = vec![true; moves];
    order.resize(moves + distractors, false);
    rng.shuffle(&mut order);
    order
}

/// The vehicle in question. One that is where it was at first comes up as often as chance would have it, so that
/// neither "nothing has changed" nor "something has changed" is a good guess.
fn choose_subject(start: &Lanes, end: &Lanes, entities: usize, rng: &mut PyRandom) -> usize {
    let (stayed, moved): (Vec<usize>, Vec<usize>) =
        (0..entities).partition(|vehicle| start.slot(*vehicle) == end.slot(*vehicle));
    let by_chance = rng.index(entities) == 0;
    let group = if moved.is_empty() || (by_chance && !stayed.is_empty()) { stayed } else { moved };
    *rng.choice(&group)
}

/// As [`choose_subject`], and the vehicle that moved last comes up as often as chance would have it as well.
fn choose_any(
    start: &Lanes,
    end: &Lanes,
    last_mover: Option<usize>,
    entities: usize,
    rng: &mut PyRandom,
) -> usize {
    if let Some(last_mover) = last_mover
        && start.slot(last_mover) != end.slot(last_mover)
    {
        let others = |vehicle: &usize| *vehicle != last_mover && start.slot(*vehicle) != end.slot(*vehicle);
        let moved: Vec<usize> = (0..entities).filter(others).collect();
        if !moved.is_empty() {
            let stayed: Vec<usize> =
                (0..entities).filter(|vehicle| start.slot(*vehicle) == end.slot(*vehicle)).collect();
            return match rng.index(entities) {
                0 => last_mover,
                1 if !stayed.is_empty() => *rng.choice(&stayed),
                _ => *rng.choice(&moved),
            };
        }
    }
    choose_subject(start, end, entities, rng)
}
