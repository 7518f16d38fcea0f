//! Closing the brackets that are still open.

use super::Version;
use crate::{AnswerType, Dimension, Ineffective, ParamValue, Parameter, Params, PyRandom, Task, Test};

/// The task in a version.
pub(super) struct Brackets(pub(super) Version);

static PARAMETERS_1: [Parameter; 5] =
    parameters([2, 128, 16], [1, 16, 4], "maximum nesting depth, limited to half the length", [1, 4, 3]);

/// With fewer levels or one kind, counting the brackets of each kind would leave few possible answers.
static PARAMETERS: [Parameter; 5] = parameters(
    [10, 128, 16],
    [5, 16, 6],
    "nesting depth that is reached, at most half the length",
    [2, 4, 3],
);

const fn parameters(
    length: [i64; 3],
    max_depth: [i64; 3],
    depth: &'static str,
    kinds: [i64; 3],
) -> [Parameter; 5] {
    [
        Parameter::int(
            "length",
            Dimension::Length,
            length,
            "how many brackets are shown, or one fewer, so that any number of them can be left open",
        ),
        Parameter::int("max_depth", Dimension::Depth, max_depth, depth),
        Parameter::int("kinds", Dimension::MultiStep, kinds, "how many kinds of brackets there are"),
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
        let drawn = rng.sample(&[0, 1, 2, 3], params.size("kinds"));
        let mut kinds = drawn.clone();
        kinds.sort_unstable();
        let [drawn, kinds] =
            [drawn, kinds].map(|kinds| kinds.into_iter().map(|kind| PAIRS[kind]).collect::<Vec<_>>());
        let (length, deepest) = (params.size("length"), params.size("max_depth"));
        let (steps, left_open) = match self.0 {
            Version::V1 => (walk(length, deepest, rng), Vec::new()),
            Version::V2 => {
                let left_open = rng.randint(fewest_left_open(deepest), most_left_open(deepest)) as usize;
                (covered_walk(length, deepest, left_open, rng), balanced(&drawn, left_open, rng))
            }
        };

        let stays_open = if left_open.is_empty() { Vec::new() } else { stays_open(&steps) };
        let mut balanced = left_open.iter();
        let mut open: Vec<char> = Vec::new();
        let mut brackets = Vec::with_capacity(steps.len());
        for (index, opens) in steps.into_iter().enumerate() {
            if opens {
                let [opening, closing] = if stays_open.get(index) == Some(&true) {
                    *balanced.next().expect("there is a kind for each bracket that stays open")
                } else {
                    *rng.choice(&kinds)
                };
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
            Version::V2 => test.with_guess(1.0 / arrangements(kinds.len(), left_open.len())),
        }
    }
}

/// How few brackets version 2 leaves open.
fn fewest_left_open(deepest: usize) -> i64 {
    (deepest / 2 + 1) as i64
}

/// How many: at least two of the deepest place are closed.
fn most_left_open(deepest: usize) -> i64 {
    deepest as i64 - 2
}

/// As many of each kind as of the others, or one more, in random order: counting brackets tells nothing about the order.
fn balanced(kinds: &[[char; 2]], count: usize, rng: &mut PyRandom) -> Vec<[char; 2]> {
    let mut drawn: Vec<[char; 2]> = kinds.iter().copied().cycle().take(count).collect();
    rng.shuffle(&mut drawn);
    drawn
}

/// In how many orders balanced brackets can be left open, once it is known how many there are of each kind.
fn arrangements(kinds: usize, left_open: usize) -> f64 {
    let factorial = |number: usize| (1..=number).map(|factor| factor as f64).product::<f64>();
    let (each, more) = (left_open / kinds, left_open % kinds);
    factorial(left_open) / (factorial(each).powi(kinds as i32) * ((each + 1) as f64).powi(more as i32))
}

/// Which steps open a bracket that no later step closes.
fn stays_open(steps: &[bool]) -> Vec<bool> {
    let mut stays_open = steps.to_vec();
    let mut closings = 0_usize;
    for opens in stays_open.iter_mut().rev() {
        if !*opens {
            closings += 1;
        } else if closings > 0 {
            closings -= 1;
            *opens = false;
        }
    }
    stays_open
}

/// In how many ways brackets of these kinds can open and close in version 2: the ways up and down, times a kind for each pair
/// that closes, times the orders of those left open.
fn ways(length: usize, deepest: usize, kinds: usize) -> f64 {
    let mut all = 0.0;
    for left_open in fewest_left_open(deepest) as usize..=most_left_open(deepest) as usize {
        let shown = length - (length - left_open) % 2;
        // By depth: ways that have not come back to 0 yet, ways that have, and ways that reached the deepest place after it.
        let mut ways = vec![[0.0; 3]; deepest + 2];
        ways[0][0] = 1.0;
        for _ in 0..shown - CLOSED_AT_THE_END {
            let mut next = vec![[0.0; 3]; deepest + 2];
            for depth in 0..=deepest {
                for reached in 0..3 {
                    if depth < deepest {
                        let arrives = reached == 1 && depth + 1 == deepest;
                        next[depth + 1][if arrives { 2 } else { reached }] += ways[depth][reached];
                    }
                    if depth > 0 {
                        let returns = reached == 0 && depth == 1;
                        next[depth - 1][if returns { 1 } else { reached }] += ways[depth][reached];
                    }
                }
            }
            ways = next;
        }
        let pairs = (shown - left_open) / 2;
        // Which kinds there are one more of.
        let choices = [1.0, kinds as f64, if kinds == 4 { 6.0 } else { 3.0 }, 4.0][left_open % kinds];
        all += ways[left_open + CLOSED_AT_THE_END][2]
            * (kinds as f64).powi(pairs as i32)
            * choices
            * arrangements(kinds, left_open);
    }
    all
}

/// How many steps at the end of version 2 close a bracket.
const CLOSED_AT_THE_END: usize = 2;

/// A walk of version 2, whose ends tell nothing about the brackets left open: it comes back to 0 before it climbs to the
/// deepest place, so the first bracket is closed, and it ends with two that close, so the last three brackets are too.
fn covered_walk(length: usize, deepest: usize, left_open: usize, rng: &mut PyRandom) -> Vec<bool> {
    let shown = length - (length - left_open) % 2;
    let spare_pairs = (shown - (2 * deepest - left_open)) / 2 - 1;
    let pairs_before = 1 + rng.index(spare_pairs + 1);
    let spare_pairs = spare_pairs + 1 - pairs_before;
    let ascent = deepest + 2 * rng.index(spare_pairs + 1);
    let mut walk = Walk { opens: Vec::with_capacity(shown), depth: 0, deepest };
    walk.random_walk(0, 2 * pairs_before, rng);
    walk.random_walk(deepest, ascent, rng);
    walk.random_walk(
        left_open + CLOSED_AT_THE_END,
        shown - 2 * pairs_before - ascent - CLOSED_AT_THE_END,
        rng,
    );
    walk.random_walk(left_open, CLOSED_AT_THE_END, rng);
    walk.opens
}

/// Whether each bracket of version 1 opens, such that the deepest place and the number left open are as wanted.
///
/// The number left open is uniform over what the length allows, and at least one.
fn walk(length: usize, max_depth: usize, rng: &mut PyRandom) -> Vec<bool> {
    let deepest = max_depth.min(length / 2 + 1);
    let fewest = (2 * deepest).saturating_sub(length).max(1);
    let left_open = fewest + rng.index(deepest - fewest + 1);
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

    fn heights(steps: &[bool]) -> Vec<usize> {
        let mut height = 0_usize;
        let next = |up: &bool| {
            height = if *up { height + 1 } else { height.checked_sub(1).unwrap() };
            height
        };
        steps.iter().map(next).collect()
    }

    #[test]
    fn every_walk_of_version_1_reaches_its_depth_and_stays_open() {
        let mut rng = PyRandom::new(1);
        for length in 2..=128 {
            for max_depth in 1..=16 {
                let heights = heights(&walk(length, max_depth, &mut rng));
                assert!(*heights.last().unwrap() >= 1, "length {length}, depth {max_depth}");
                assert_eq!(*heights.iter().max().unwrap(), max_depth.min(length / 2 + 1));
                assert!((length - 1..=length).contains(&heights.len()));
            }
        }
    }

    #[test]
    fn ends_of_a_walk_of_version_2_tell_nothing_about_what_stays_open() {
        let mut rng = PyRandom::new(1);
        for length in 10..=128 {
            for deepest in 5..=16.min(length / 2) {
                for left_open in fewest_left_open(deepest)..=most_left_open(deepest) {
                    let steps = covered_walk(length, deepest, left_open as usize, &mut rng);
                    let (heights, open) = (heights(&steps), stays_open(&steps));
                    assert_eq!(*heights.last().unwrap(), left_open as usize);
                    assert_eq!(*heights.iter().max().unwrap(), deepest);
                    assert!((length - 1..=length).contains(&steps.len()));
                    assert_eq!(open.iter().filter(|open| **open).count(), left_open as usize);
                    assert!(!open[0] && open[open.len() - 3..].iter().all(|open| !open));
                }
            }
        }
    }

    #[test]
    fn bound_on_different_problems_is_the_number_that_a_point_has() {
        let task = Brackets(Version::V2);
        let given = r#"{"length": 10, "max_depth": 5, "kinds": 2}"#;
        let params = Params::new(&task, &crate::Json::parse(given).unwrap()).unwrap();
        // One way up and down, 2^3 kinds of the pairs that close, 2 times 3 orders of the three left open, 6 sets of kinds.
        assert_eq!(task.distinct_problems(&params), Some(288));
        assert_eq!(crate::TestStream::new(&task, &params, 0).count(), 288);
    }
}
