//! Things that change hands by swaps.

use super::Version;
use super::text::write_options;
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};
use state::State;

mod state;

/// The task in a version.
pub(super) struct Shuffle(pub(super) Version);

const PARAMETERS: &[Parameter] = &[
    Parameter::int("entities", Dimension::Length, [3, 12, 5], "number of objects"),
    Parameter::int("depth", Dimension::MultiStep, [1, 64, 8], "how many swaps there are"),
    Parameter::int("confounders", Dimension::Interference, [0, 32, 2], "how many sentences change nothing"),
    Parameter::int(
        "anchors",
        Dimension::Interference,
        [0, 16, 1],
        "number of sentences that state where an object currently is",
    ),
    Parameter::word(
        "style",
        Dimension::Format,
        &["people", "cups", "seats"],
        "setting: people swap objects, cups swap what they hide, or people swap seats, by name or by seat",
    ),
];

impl Task for Shuffle {
    fn name(&self) -> &'static str {
        self.0.of(["shuffle", "shuffle@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Follow one of several things through a series of swaps and state where it ends up. Harder with more \
         things, more swaps, sentences that change nothing, and sentences that are only true for the \
         moment."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Choice
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let entities = params.size("entities");
        let state = State::new(params.word("style"), entities, rng);
        let story = match self.0 {
            Version::V1 => Story::new(entities, params.size("depth"), rng),
            Version::V2 => Story::with_any_end(entities, params.size("depth"), rng),
        };
        let events = story.events(params.size("anchors"), params.size("confounders"), rng);

        let mut prompt = state.opening(&story.start);
        let mut things = story.start.clone();
        let mut events = events.into_iter().peekable();
        for step in 0..=story.swaps.len() {
            while let Some((_, event)) = events.next_if(|(at, _)| *at == step) {
                match event {
                    Event::Anchor(thing) => {
                        state.anchor(position_of(thing, &things), thing, rng, &mut prompt);
                    }
                    Event::Confounder => state.confounder(rng, &mut prompt),
                }
            }
            if let Some(swap) = story.swaps.get(step) {
                state.swap(*swap, &things, rng, &mut prompt);
                things.swap(swap[0], swap[1]);
            }
        }
        state.question(story.subject, &mut prompt);
        let options = state.options();
        write_options(self.0, &options, &mut prompt);
        Test::choice(prompt, options, story.answer)
    }
}

fn position_of(thing: usize, things: &[usize]) -> usize {
    things.iter().position(|other| *other == thing).expect("nothing is lost in a swap")
}

/// A sentence between swaps.
#[derive(PartialEq)]
enum Event {
    Anchor(usize),
    Confounder,
}

/// What happens, in numbers: places and things both count from 0.
struct Story {
    /// The thing at each place.
    start: Vec<usize>,
    /// The two places of each swap.
    swaps: Vec<[usize; 2]>,
    /// The thing in question.
    subject: usize,
    /// The place where it ends up.
    answer: usize,
    /// Which of the swaps move it.
    own_swaps: Vec<usize>,
}

impl Story {
    fn new(entities: usize, depth: usize, rng: &mut PyRandom) -> Self {
        let mut start: Vec<usize> = (0..entities).collect();
        rng.shuffle(&mut start);
        let mut end = start.clone();
        let mut swaps: Vec<[usize; 2]> = Vec::with_capacity(depth);
        for _ in 0..depth {
            let first = rng.index(entities);
            let mut gap = 1 + rng.index(entities - 1);
            let second = |gap: usize| (first + gap) % entities;
            // A swap that undoes the one before would leave nothing to follow.
            if swaps.last().is_some_and(|last| last.contains(&first) && last.contains(&second(gap))) {
                gap = gap % (entities - 1) + 1;
            }
            swaps.push([first, second(gap)]);
            end.swap(first, second(gap));
        }
        let subject = choose_subject(&start, &end, rng);
        Self::of(start, swaps, subject)
    }

    /// Random swaps that take a thing to a place drawn beforehand, so that each place is as likely, the one where it
    /// starts included. Each swap is drawn from all, weighted by how likely the thing gets there afterwards.
    fn with_any_end(entities: usize, depth: usize, rng: &mut PyRandom) -> Self {
        let mut start: Vec<usize> = (0..entities).collect();
        rng.shuffle(&mut start);
        let (mut position, end) = (rng.index(entities), rng.index(entities));
        let subject = start[position];
        let n = entities as f64;
        // After s random swaps a thing is at any other place with probability (1 - decay^s) / n.
        let decay = 1.0 - 2.0 / (n - 1.0);
        let mut swaps: Vec<[usize; 2]> = Vec::with_capacity(depth);
        for left in (0..depth as i32).rev() {
            let faded = decay.powi(left);
            let [near, far] = [1.0 / n + (1.0 - 1.0 / n) * faded, (1.0 - faded) / n];
            let reach = |place: usize| if place == end { near } else { far };
            // The swaps that leave the thing, those that take it to its end, and those that take it elsewhere.
            let others = if position == end { n - 1.0 } else { n - 2.0 };
            let stays = (n - 1.0) * (n - 2.0) / 2.0 * reach(position);
            let ends = if position == end { 0.0 } else { near };
            let mut draw = rng.random() * (stays + ends + others * far);
            let other = |skipped: [usize; 2], rng: &mut PyRandom| loop {
                let place = rng.index(entities);
                if !skipped.contains(&place) {
                    break place;
                }
            };
            let swap = if draw < stays {
                let first = other([position, position], rng);
                [first, other([position, first], rng)]
            } else {
                draw -= stays;
                let goal = if draw < ends { end } else { other([position, end], rng) };
                let swap = if rng.getrandbits(1) == 1 { [position, goal] } else { [goal, position] };
                position = goal;
                swap
            };
            swaps.push(swap);
        }
        Self::of(start, swaps, subject)
    }

    fn of(start: Vec<usize>, swaps: Vec<[usize; 2]>, subject: usize) -> Self {
        let mut position = position_of(subject, &start);
        let mut own_swaps = Vec::new();
        for (step, [first, second]) in swaps.iter().enumerate() {
            if position == *first || position == *second {
                position = first + second - position;
                own_swaps.push(step);
            }
        }
        Self { start, swaps, subject, answer: position, own_swaps }
    }

    /// The sentences between the swaps, in order, each with the swap before which it stands.
    fn events(&self, anchors: usize, confounders: usize, rng: &mut PyRandom) -> Vec<(usize, Event)> {
        let mut events = Vec::with_capacity(anchors + confounders);
        // All that an anchor says is out of date for the thing in question: its last swap is still to come.
        let latest = self.own_swaps.last().copied().unwrap_or(self.swaps.len());
        for _ in 0..anchors {
            let step = latest.min(1) + rng.index(latest - latest.min(1) + 1);
            let first = rng.index(self.start.len());
            let is_unlisted = |thing: &usize| {
                let is_listed = |(at, event): &(usize, Event)| *at == step && *event == Event::Anchor(*thing);
                (*thing != self.subject || self.may_anchor_subject(step)) && !events.iter().any(is_listed)
            };
            let mut things = (first..first + self.start.len()).map(|thing| thing % self.start.len());
            // If everything has been mentioned, something other than the subject is mentioned again.
            let thing = things.find(is_unlisted).unwrap_or((self.subject + 1) % self.start.len());
            events.push((step, Event::Anchor(thing)));
        }
        for _ in 0..confounders {
            events.push((rng.index(self.swaps.len() + 1), Event::Confounder));
        }
        rng.shuffle(&mut events);
        events.sort_by_key(|(step, _)| *step);
        events
    }

    /// Whether the position of the subject may be mentioned: only while half of its own swaps are still to come, since
    /// otherwise the answer would depend on few swaps.
    fn may_anchor_subject(&self, step: usize) -> bool {
        let to_come = self.own_swaps.iter().filter(|swap| **swap >= step).count();
        2 * to_come >= self.own_swaps.len()
    }
}

/// The thing in question. One that is where it was at first comes up as often as chance would have it, so that
/// neither "nothing has changed" nor "something has changed" is a good guess.
fn choose_subject(start: &[usize], end: &[usize], rng: &mut PyRandom) -> usize {
    let (stayed, moved): (Vec<usize>, Vec<usize>) =
        (0..start.len()).partition(|position| start[*position] == end[*position]);
    let by_chance = rng.index(start.len()) == 0;
    let group = if moved.is_empty() || (by_chance && !stayed.is_empty()) { stayed } else { moved };
    end[*rng.choice(&group)]
}
