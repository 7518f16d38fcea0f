//! Closing the brackets that are still open.

use super::Version;
use crate::{
    AnswerType, Dimension, Ineffective, ParamError, ParamValue, Parameter, Params, PyRandom, Task, Test,
};

/// The task in a version.
pub(super) struct Brackets(pub(super) Version);

static PARAMETERS_1: [Parameter; 5] = parameters("maximum nesting depth, limited to half the length");
static PARAMETERS: [Parameter; 5] = parameters("nesting depth that is reached, at most half the length");

const fn parameters(depth: &'static str) -> [Parameter; 5] {
    [
        Parameter::int(
            "length",
            Dimension::Length,
            [2, 128, 16],
            "how many brackets are shown, or one fewer, so that any number of them can be left open",
        ),
        Parameter::int("max_depth", Dimension::Depth, [1, 16, 4], depth),
        Parameter::int("kinds", Dimension::MultiStep, [1, 4, 3], "how many kinds of brackets there are"),
        Parameter::proportion(
            "prob_noise",
            Dimension::Interference,
            0.0,
            "the probability that letters or digits follow a bracket",
        ),
        Parameter::proportion(
            "prob_spaced",
            Dimension::Format,
            0.0,
            "the probability that a space follows a character",
        ),
    ]
}

/// The pairs, opening first.
const PAIRS: [[char; 2]; 4] = [['(', ')'], ['[', ']'], ['{', '}'], ['<', '>']];

/// No letter or digit that could be taken for a bracket or for another one of them.
const NOISE: &[u8] = b"abcdefghkmnpqrstuvwxyz23456789";

impl Task for Brackets {
    fn name(&self) -> &'static str {
        self.0.of(["brackets", "brackets@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Write the closing brackets that a sequence of nested brackets still needs, in order. Harder with longer \
         sequences, deeper nesting, more kinds of brackets, characters in between and spaces."
    }

    fn parameters(&self) -> &'static [Parameter] {
        match self.0 {
            Version::V1 => &PARAMETERS_1,
            Version::V2 => &PARAMETERS,
        }
    }

    fn validate(&self, params: &Params) -> Result<(), ParamError> {
        if self.0 == Version::V1 || params.int("kinds") > 1 || params.int("max_depth") > 1 {
            return Ok(());
        }
        Err(ParamError::Impossible {
            task: self.family().to_owned(),
            name: "kinds",
            found: params.int("kinds").to_string(),
            conflict: "`max_depth` = 1, since one answer would be the only one".to_owned(),
            nearest: "2".to_owned(),
        })
    }

    fn ineffective(&self, params: &Params) -> Option<Ineffective> {
        let length = params.int("length");
        let is_deeper = self.0 != Version::V1 && params.int("max_depth") > length / 2;
        is_deeper.then(|| Ineffective {
            name: "max_depth",
            effective: ParamValue::Int(length / 2),
            limit: format!("`length` = {length}"),
        })
    }

    fn distinct_problems(&self, params: &Params) -> Option<u64> {
        let kinds = params.size("kinds");
        // Which kinds there are is part of the problem.
        let sets = [4.0, 6.0, 4.0, 1.0][kinds - 1];
        let problems = sets * ways(params.size("length"), params.size("max_depth"), kinds);
        (problems < 100_000.0).then_some(problems as u64)
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Symbols
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let mut kinds = rng.sample(&[0, 1, 2, 3], params.size("kinds"));
        kinds.sort_unstable();
        let kinds: Vec<[char; 2]> = kinds.into_iter().map(|kind| PAIRS[kind]).collect();
        let (length, deepest) = (params.size("length"), params.size("max_depth"));
        let steps = match self.0 {
            Version::V1 => walk(length, deepest, rng),
            Version::V2 => {
                let left_open = draw_left_open(kinds.len(), deepest, rng);
                steps_of(length, deepest, left_open, rng)
            }
        };

        let mut open: Vec<char> = Vec::new();
        let mut brackets = Vec::with_capacity(steps.len());
        for opens in steps {
            if opens {
                let [opening, closing] = *rng.choice(&kinds);
                brackets.push(opening);
                open.push(closing);
            } else {
                brackets.push(open.pop().expect("the walk never closes more than it opened"));
            }
        }
        let missing: String = open.into_iter().rev().collect();

        let style = Style { prob_noise: params.real("prob_noise"), prob_spaced: params.real("prob_spaced") };
        let mut prompt = style.prompt(&brackets, &kinds, rng);
        prompt.push_str(self.0.of([
            "The answer is the missing closing brackets in order, without spaces, and nothing else.",
            "Reply with the missing closing brackets in order, without spaces; after ( ( ) it would be ).",
        ]));
        let test = Test::free_form(prompt, missing);
        match self.0 {
            Version::V1 => test,
            Version::V2 => test.with_guess(guess(kinds.len(), deepest)),
        }
    }
}

/// How often a number of brackets is left open, compared with other numbers: as often as it has answers, so that each
/// answer is as likely, but no more than this, so that short answers occur.
fn weight(kinds: usize, left_open: usize) -> usize {
    const MAX_WEIGHT: usize = 16;
    kinds.pow(left_open.min(4) as u32).min(MAX_WEIGHT)
}

fn draw_left_open(kinds: usize, deepest: usize, rng: &mut PyRandom) -> usize {
    let mut draw = rng.index((1..=deepest).map(|left_open| weight(kinds, left_open)).sum());
    (1..deepest)
        .find(|left_open| {
            let weight = weight(kinds, *left_open);
            let found = draw < weight;
            draw = draw.saturating_sub(weight);
            found
        })
        .unwrap_or(deepest)
}

/// The probability of the likeliest answer.
fn guess(kinds: usize, deepest: usize) -> f64 {
    1.0 / (1..=deepest).map(|left_open| weight(kinds, left_open)).sum::<usize>() as f64
}

/// In how many ways brackets of these kinds can open and close: the ways up and down, times a kind for each that opens.
fn ways(length: usize, deepest: usize, kinds: usize) -> f64 {
    let mut all = 0.0;
    for left_open in 1..=deepest {
        let shown = length - (length - left_open) % 2;
        // By depth, ways that have not reached the deepest place yet and ways that have.
        let mut ways = vec![[0.0; 2]; deepest + 2];
        ways[0][0] = 1.0;
        for _ in 0..shown {
            let mut next = vec![[0.0; 2]; deepest + 2];
            for depth in 0..=deepest {
                for reached in 0..2 {
                    if depth < deepest {
                        next[depth + 1][usize::from(reached == 1 || depth + 1 == deepest)] +=
                            ways[depth][reached];
                    }
                    if depth > 0 {
                        next[depth - 1][reached] += ways[depth][reached];
                    }
                }
            }
            ways = next;
        }
        all += ways[left_open][1] * (kinds as f64).powi((shown + left_open) as i32 / 2);
    }
    all
}

/// Whether each bracket opens, such that the deepest place and the number left open are as wanted.
///
/// The number left open is uniform over what the length allows, and at least one.
fn walk(length: usize, max_depth: usize, rng: &mut PyRandom) -> Vec<bool> {
    let deepest = max_depth.min(length / 2 + 1);
    let fewest = (2 * deepest).saturating_sub(length).max(1);
    let left_open = fewest + rng.index(deepest - fewest + 1);
    steps_of(length, deepest, left_open, rng)
}

/// Whether each bracket opens, at random among all ways that reach the depth and leave as many open as wanted.
fn steps_of(length: usize, deepest: usize, left_open: usize, rng: &mut PyRandom) -> Vec<bool> {
    let shown = length - (length - left_open) % 2;

    // The deepest place comes after as many steps as it takes and any number of pairs that the length can spare.
    let spare_pairs = (shown - (2 * deepest - left_open)) / 2;
    let ascent = deepest + 2 * rng.index(spare_pairs + 1);
    let mut walk = Walk { opens: Vec::with_capacity(shown), depth: 0, deepest };
    walk.random_walk(deepest, ascent, rng);
    walk.random_walk(left_open, shown - ascent, rng);
    walk.opens
}

struct Walk {
    /// Whether each bracket so far opens.
    opens: Vec<bool>,
    /// How many are open.
    depth: usize,
    deepest: usize,
}

impl Walk {
    /// A random way to another depth in so many steps.
    fn random_walk(&mut self, to: usize, steps: usize, rng: &mut PyRandom) {
        for left in (1..=steps).rev() {
            // This many of the remaining steps open a bracket; drawing among them makes all sequences equally likely.
            let opening = (left + to - self.depth) / 2;
            let opens = self.depth == 0 || (self.depth < self.deepest && rng.index(left) < opening);
            self.depth = if opens { self.depth + 1 } else { self.depth - 1 };
            self.opens.push(opens);
        }
    }
}

/// How a sequence is written down.
struct Style {
    prob_noise: f64,
    prob_spaced: f64,
}

impl Style {
    fn prompt(&self, brackets: &[char], kinds: &[[char; 2]], rng: &mut PyRandom) -> String {
        let mut text = String::from("The end of this sequence of brackets is missing:\n\n");
        for bracket in brackets {
            self.push(*bracket, &mut text, rng);
            if rng.random() < self.prob_noise {
                for _ in 0..rng.randint(1, 3) {
                    self.push(char::from(*rng.choice(NOISE)), &mut text, rng);
                }
            }
        }
        text.truncate(text.trim_end().len());
        text.push_str("\n\nWhich closing brackets complete it? ");
        match kinds.len() {
            1 => text.push_str("The only pair is "),
            _ => text.push_str("The pairs are "),
        }
        for (index, [opening, closing]) in kinds.iter().enumerate() {
            match index {
                0 => {}
                _ if index + 1 == kinds.len() => text.push_str(" and "),
                _ => text.push_str(", "),
            }
            text.push(*opening);
            text.push(' ');
            text.push(*closing);
        }
        text.push_str("; a closing bracket always closes the last one still open. ");
        match (self.prob_noise > 0.0, self.prob_spaced > 0.0) {
            (true, true) => text.push_str("Letters, digits and spaces between brackets do not count. "),
            (true, false) => text.push_str("Letters and digits between brackets do not count. "),
            (false, true) => text.push_str("Spaces do not count. "),
            (false, false) => {}
        }
        text
    }

    fn push(&self, character: char, text: &mut String, rng: &mut PyRandom) {
        text.push(character);
        if rng.random() < self.prob_spaced {
            text.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_walk_reaches_its_depth_and_stays_open() {
        let mut rng = PyRandom::new(1);
        for length in 2..=128 {
            for max_depth in 1..=16 {
                let steps = walk(length, max_depth, &mut rng);
                let (mut height, mut deepest) = (0_usize, 0);
                for up in &steps {
                    height = if *up { height + 1 } else { height.checked_sub(1).unwrap() };
                    deepest = deepest.max(height);
                }
                assert!(height >= 1, "length {length}, depth {max_depth}");
                assert_eq!(deepest, max_depth.min(length / 2 + 1));
                assert!((length - 1..=length).contains(&steps.len()));
            }
        }
    }
}
