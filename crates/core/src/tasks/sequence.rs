//! A sequence of integers, continued by rules that are stated in words.

use std::fmt::Write as _;

use super::Version;
use super::text::{number_in_words, write_number};
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};

/// The task in a version.
pub(super) struct Sequence(pub(super) Version);

const PARAMETERS: &[Parameter] = &[
    Parameter::int(
        "shown",
        Dimension::Length,
        [3, 16, 6],
        "how many terms are shown, and how far back a rule may reach",
    ),
    Parameter::int("rules", Dimension::MultiStep, [1, 5, 2], "how many rules there are to choose from"),
    Parameter::int("depth", Dimension::Depth, [1, 3, 2], "how many steps a rule is composed of"),
    Parameter::int("answer_length", Dimension::Length, [1, 8, 3], "number of terms requested"),
    Parameter::int("max_number", Dimension::Length, [50, 9999, 99], "maximum value of a term"),
    Parameter::word(
        "format",
        Dimension::Format,
        &["comma", "spaces", "newline", "mixed", "words"],
        "how terms are shown: digits between commas, spaces or line ends, half spelled out, or all spelled out",
    ),
];

/// How often a sequence that stands still is drawn again.
const REDRAWS: usize = 8;

impl Task for Sequence {
    fn name(&self) -> &'static str {
        self.0.of(["sequence", "sequence@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Continue a sequence of integers by rules given in words: which rule makes a term depends on its position or \
         on the term before it. Harder with more terms shown, more rules, more steps in a rule, more terms to \
         find, larger numbers and spelled-out terms."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::List
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let (shown, wanted) = (params.size("shown"), params.size("answer_length"));
        let draw = |rng: &mut PyRandom| {
            let recipe = Recipe::draw(
                params.size("rules"),
                params.size("depth"),
                shown,
                params.int("max_number"),
                rng,
            );
            let terms = recipe.terms(shown + wanted, rng);
            (recipe, terms)
        };
        let (mut recipe, mut terms) = draw(rng);
        for _ in 0..REDRAWS {
            // Remainders now and then run into a number that makes itself again; nothing is left to work out then.
            if terms[shown - 1..].windows(2).any(|pair| pair[0] != pair[1]) {
                break;
            }
            (recipe, terms) = draw(rng);
        }

        let mut prompt = format!("The first {shown} terms of a sequence of integers are:\n\n");
        write_terms(&terms[..shown], params.word("format"), &mut prompt, rng);
        prompt.push_str("\n\n");
        recipe.write(&mut prompt);
        prompt.push_str("\n\n");
        if wanted == 1 {
            prompt.push_str("What is the next term? ");
            prompt.push_str(
                self.0.of(["The answer is one integer, in digits.", "Reply with one integer, in digits."]),
            );
        } else {
            let _ = write!(prompt, "What are the next {wanted} terms? ");
            let _ = match self.0 {
                Version::V1 => write!(
                    prompt,
                    "The answer is {wanted} integers in order, in digits, separated by commas."
                ),
                Version::V2 => {
                    write!(prompt, "Reply with {wanted} integers in order, in digits, separated by commas.")
                }
            };
        }
        let target: Vec<String> = terms[shown..].iter().map(ToString::to_string).collect();
        Test::free_form(prompt, target.join(", "))
    }
}

/// When a rule applies to a new term.
#[derive(Clone, Copy)]
enum Condition {
    /// The position of the new term, counted from 1, is a multiple of this.
    PositionMultipleOf(usize),
    PreviousOdd,
    PreviousMultipleOfThree,
    PreviousAbove(i64),
    PreviousDigitSumOdd,
    Otherwise,
}

impl Condition {
    fn holds(self, position: usize, previous: i64) -> bool {
        match self {
            Self::PositionMultipleOf(divisor) => position.is_multiple_of(divisor),
            Self::PreviousOdd => previous % 2 == 1,
            Self::PreviousMultipleOfThree => previous % 3 == 0,
            Self::PreviousAbove(bound) => previous > bound,
            Self::PreviousDigitSumOdd => digit_sum(previous) % 2 == 1,
            Self::Otherwise => true,
        }
    }

    fn write(self, text: &mut String) {
        let _ = match self {
            Self::PositionMultipleOf(2) => write!(text, "If the position of the new term is even"),
            Self::PositionMultipleOf(divisor) => {
                write!(text, "If the position of the new term is a multiple of {divisor}")
            }
            Self::PreviousOdd => write!(text, "If the term just before is odd"),
            Self::PreviousMultipleOfThree => write!(text, "If the term just before is a multiple of 3"),
            Self::PreviousAbove(bound) => write!(text, "If the term just before is greater than {bound}"),
            Self::PreviousDigitSumOdd => write!(text, "If the digit sum of the term just before is odd"),
            Self::Otherwise => write!(text, "Otherwise"),
        };
    }
}

/// One operation on the running number.
#[derive(Clone, Copy)]
enum Step {
    Add(i64),
    Multiply(i64),
    AddDigitSum,
    /// Adds the term that stands this many positions before the new one.
    AddEarlier(usize),
}

impl Step {
    fn apply(self, number: i64, earlier: &[i64]) -> i64 {
        match self {
            Self::Add(addend) => number + addend,
            Self::Multiply(factor) => number * factor,
            Self::AddDigitSum => number + digit_sum(number),
            Self::AddEarlier(distance) => number + earlier[earlier.len() - distance],
        }
    }

    fn write(self, text: &mut String) {
        let _ = match self {
            Self::Add(addend) => write!(text, "add {addend}"),
            Self::Multiply(factor) => write!(text, "multiply by {factor}"),
            Self::AddDigitSum => write!(text, "add the digit sum of the running number"),
            Self::AddEarlier(distance) => {
                write!(text, "add the term {distance} positions before the new term")
            }
        };
    }
}

struct Rule {
    condition: Condition,
    steps: Vec<Step>,
}

/// How each term follows from those before it.
struct Recipe {
    /// The last one applies always.
    rules: Vec<Rule>,
    /// Every new term is a remainder of this, so that terms stay small whatever the rules.
    modulus: i64,
    /// How many terms there are before the rules take over: as many as the rules reach back.
    given: usize,
}

impl Recipe {
    fn draw(rules: usize, depth: usize, shown: usize, max_number: i64, rng: &mut PyRandom) -> Self {
        let modulus = modulus(max_number, rng);
        // None of these hides another, whatever their order: each can be the first that holds.
        let conditions = [
            Condition::PositionMultipleOf(2),
            Condition::PositionMultipleOf(3),
            Condition::PositionMultipleOf(5),
            Condition::PreviousOdd,
            Condition::PreviousMultipleOfThree,
            Condition::PreviousAbove(rng.randint(modulus / 4, modulus * 3 / 4)),
            Condition::PreviousDigitSumOdd,
        ];
        let mut conditions = rng.sample(&conditions, rules - 1);
        conditions.push(Condition::Otherwise);

        let mut given = 1;
        let rules = conditions
            .into_iter()
            .map(|condition| {
                // A kind comes once in a rule: two additions in a row would be one.
                let kinds = [
                    Step::Add(rng.randint(2, modulus - 1)),
                    Step::Multiply(rng.randint(2, 9)),
                    Step::AddDigitSum,
                    Step::AddEarlier(2 + rng.index(shown - 2)),
                ];
                let steps = rng.sample(&kinds, depth);
                for step in &steps {
                    if let Step::AddEarlier(distance) = step {
                        given = given.max(*distance);
                    }
                }
                Rule { condition, steps }
            })
            .collect();
        Self { rules, modulus, given }
    }

    fn terms(&self, count: usize, rng: &mut PyRandom) -> Vec<i64> {
        let mut terms: Vec<i64> = (0..self.given).map(|_| rng.randint(1, self.modulus - 1)).collect();
        while terms.len() < count {
            let (position, previous) = (terms.len() + 1, terms[terms.len() - 1]);
            let rule = self
                .rules
                .iter()
                .find(|rule| rule.condition.holds(position, previous))
                .expect("the last rule applies always");
            let result = rule.steps.iter().fold(previous, |number, step| step.apply(number, &terms));
            terms.push(result % self.modulus);
        }
        terms
    }

    fn write(&self, text: &mut String) {
        match self.given {
            1 => text.push_str("The first term is given."),
            given => {
                let _ = write!(text, "The first {given} terms are given.");
            }
        }
        text.push_str(
            " For each later term, start with the term just before it as the running number, and change it by ",
        );
        match &self.rules[..] {
            [Rule { steps, .. }] => {
                text.push_str(if steps.len() == 1 { "this step: " } else { "these steps, in order: " });
                write_steps(steps, text);
            }
            [Rule { steps, .. }, ..] => {
                text.push_str(if steps.len() == 1 { "the step" } else { "the steps, in order," });
                text.push_str(" of the first rule below whose condition holds");
            }
            [] => unreachable!("the last rule is always there"),
        }
        let modulus = self.modulus;
        let _ = write!(text, ". The new term is the remainder of the running number divided by {modulus}.");
        if self.mentions_digit_sum() {
            text.push_str(" A digit sum is the sum of the decimal digits of a number.");
        }
        if self.rules.len() > 1 {
            text.push_str(" Positions are counted from 1.\n");
            for (index, rule) in self.rules.iter().enumerate() {
                let _ = write!(text, "\n{}. ", index + 1);
                rule.condition.write(text);
                text.push_str(": ");
                write_steps(&rule.steps, text);
                text.push('.');
            }
        }
    }

    fn mentions_digit_sum(&self) -> bool {
        self.rules.iter().any(|rule| {
            matches!(rule.condition, Condition::PreviousDigitSumOdd)
                || rule.steps.iter().any(|step| matches!(step, Step::AddDigitSum))
        })
    }
}

fn write_steps(steps: &[Step], text: &mut String) {
    for (index, step) in steps.iter().enumerate() {
        if index > 0 {
            text.push_str(", then ");
        }
        step.write(text);
    }
}

fn write_terms(terms: &[i64], format: &str, text: &mut String, rng: &mut PyRandom) {
    let (separator, prob_words) = match format {
        "spaces" => (" ", 0.0),
        "newline" => ("\n", 0.0),
        "mixed" => (", ", 0.5),
        "words" => (", ", 1.0),
        _ => (", ", 0.0),
    };
    for (index, term) in terms.iter().enumerate() {
        if index > 0 {
            text.push_str(separator);
        }
        if rng.random() < prob_words {
            text.push_str(&number_in_words(term.unsigned_abs()));
        } else {
            write_number(*term, text);
        }
    }
}

/// A modulus from the upper quarter of what is allowed that shares no factor with 2 to 9: repeated multiplication
/// then never ends in a row of zeros.
fn modulus(max_number: i64, rng: &mut PyRandom) -> i64 {
    let mut modulus = rng.randint(max_number - max_number / 4, max_number + 1);
    while [2, 3, 5, 7].iter().any(|prime| modulus % prime == 0) {
        // At most nine times: no gap between such numbers is wider than ten.
        modulus -= 1;
    }
    modulus
}

fn digit_sum(mut number: i64) -> i64 {
    let mut sum = 0;
    while number > 0 {
        sum += number % 10;
        number /= 10;
    }
    sum
}
