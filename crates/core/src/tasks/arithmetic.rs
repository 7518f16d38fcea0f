//! Integer expressions with precedence and parentheses.

use super::Version;
use super::text::{number_in_words, write_number};
use crate::{AnswerType, Dimension, Ineffective, ParamValue, Parameter, Params, PyRandom, Task, Test};

/// The task in a version.
pub(super) struct Arithmetic(pub(super) Version);

static PARAMETERS_1: [Parameter; 6] = parameters("how deep parentheses nest, as far as the length allows");
static PARAMETERS: [Parameter; 6] = parameters("how deep parentheses nest, at most two less than the length");

const fn parameters(depth: &'static str) -> [Parameter; 6] {
    [
        Parameter::int("length", Dimension::Length, [2, 64, 8], "how many numbers the expression has"),
        Parameter::int("max_depth", Dimension::Depth, [0, 8, 2], depth),
        Parameter::int("max_number", Dimension::Length, [9, 9999, 9], "the largest number written"),
        Parameter::word("operators", Dimension::MultiStep, &["+-", "+-*", "+-*%"], "the operators used")
            .with_default(1),
        Parameter::proportion(
            "prob_dewhitespace",
            Dimension::Format,
            0.0,
            "the probability that an operator stands without spaces",
        ),
        Parameter::proportion(
            "prob_words",
            Dimension::Format,
            0.0,
            "the probability that a number is spelled out",
        ),
    ]
}

/// Products stay below this, so that answers remain numbers that a person could work out.
const MAX_PRODUCT: i64 = 1_000_000_000;

impl Task for Arithmetic {
    fn name(&self) -> &'static str {
        self.0.of(["arithmetic", "arithmetic@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Work out an integer expression with nested parentheses and the usual precedence. Harder with more \
         numbers, deeper nesting, larger numbers, more kinds of operators, missing spaces and spelled-out numbers."
    }

    fn parameters(&self) -> &'static [Parameter] {
        match self.0 {
            Version::V1 => &PARAMETERS_1,
            Version::V2 => &PARAMETERS,
        }
    }

    fn ineffective(&self, params: &Params) -> Option<Ineffective> {
        let length = params.int("length");
        let is_deeper = self.0 != Version::V1 && params.int("max_depth") > length - 2;
        is_deeper.then(|| Ineffective {
            name: "max_depth",
            effective: ParamValue::Int(length - 2),
            limit: format!("`length` = {length}"),
        })
    }

    fn distinct_problems(&self, params: &Params) -> Option<u64> {
        let (length, operators) = (params.int("length") as i32, params.word("operators").len() as f64);
        // Half of all, since the right side of % is never drawn from the smaller numbers.
        let problems = (params.int("max_number") as f64).powi(length) * operators.powi(length - 1) / 2.0;
        (problems < 100_000.0).then_some(problems as u64)
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Integer
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let length = params.size("length");
        let operators = params.word("operators").as_bytes();
        let generator = Generator { version: self.0, max_number: params.int("max_number"), operators };
        let depth = params.size("max_depth").min(length - 2);
        let group = generator.group(length, depth, rng);

        let mut prompt = String::with_capacity(256 + 8 * length);
        prompt.push_str("What is the value of this expression?\n\n");
        let style = Style {
            version: self.0,
            prob_dewhitespace: params.real("prob_dewhitespace"),
            prob_words: params.real("prob_words"),
        };
        style.write(&group, &mut prompt, rng);
        prompt.push_str("\n\n");
        prompt.push_str(match operators.len() {
            2 => "Work from left to right, parentheses first.",
            3 => {
                "Parentheses come first, then *, then + and -; operators of the same rank are worked from left to right."
            }
            _ => {
                "Parentheses come first, then * and %, then + and -; operators of the same rank are worked from left \
                 to right. a % b is the remainder of a divided by b, always from 0 to b - 1."
            }
        });
        prompt.push_str(self.0.of([" The answer is one integer.", " Reply with one integer."]));
        let test = Test::free_form(prompt, group.value.to_string());
        match self.0 {
            Version::V1 => test,
            Version::V2 => test.with_guess(guess(params)),
        }
    }
}

/// How often the commonest value comes up, within a fifth of what 6,000 problems show at each of 80 points. It falls as
/// values spread: as a sum's with the root of the length, faster with products.
fn guess(params: &Params) -> f64 {
    let (length, max_number) = (params.int("length") as f64, params.int("max_number") as f64);
    let up_to_nine = match params.word("operators") {
        "+-" => 0.08 / length.sqrt(),
        "+-*" => 0.1 / length,
        _ => (0.25 / length).min(0.06),
    };
    up_to_nine * 9.0 / max_number
}

/// Items with an operator between each two, and the value that they have.
struct Group {
    items: Vec<Item>,
    operators: Vec<u8>,
    value: i64,
}

enum Item {
    Number(i64),
    Nested(Box<Group>),
}

impl Item {
    fn value(&self) -> i64 {
        match self {
            Item::Number(number) => *number,
            Item::Nested(group) => group.value,
        }
    }
}

/// What expressions are made of.
struct Generator<'a> {
    version: Version,
    max_number: i64,
    operators: &'a [u8],
}

impl Generator<'_> {
    /// An expression of `length` numbers in which parentheses nest exactly `depth` deep; needs `length >= depth + 2`.
    fn group(&self, length: usize, depth: usize, rng: &mut PyRandom) -> Group {
        let mut items = Vec::with_capacity(length);
        let mut left = length;
        if depth > 0 {
            // One nested group carries the depth; it leaves at least one number beside it.
            let size = rng.randint(depth as i64 + 1, length as i64 - 1) as usize;
            items.push(Item::Nested(Box::new(self.group(size, depth - 1, rng))));
            left -= size;
        }
        while left > 0 {
            let nests = depth > 0 && left >= 2 && rng.random() < 0.3;
            if nests {
                let size = rng.randint(2, left.min(6) as i64) as usize;
                let shallow = rng.randint(0, (depth - 1).min(size - 2) as i64) as usize;
                items.push(Item::Nested(Box::new(self.group(size, shallow, rng))));
                left -= size;
            } else {
                items.push(Item::Number(rng.randint(1, self.max_number)));
                left -= 1;
            }
        }
        rng.shuffle(&mut items);
        self.join(items, rng)
    }

    /// Puts operators between the items. `product` is the run of `*` and `%` that the next operator would extend.
    fn join(&self, mut items: Vec<Item>, rng: &mut PyRandom) -> Group {
        let (mut sum, mut sign, mut product) = (0, 1, items[0].value());
        let mut operators = Vec::with_capacity(items.len());
        for item in &mut items[1..] {
            let operator = match *rng.choice(self.operators) {
                b'*' if product.saturating_mul(item.value()).abs() > MAX_PRODUCT => b'+',
                b'%' if !matches!(item, Item::Number(2..)) => b'-',
                operator => operator,
            };
            if operator == b'%' && self.version != Version::V1 {
                // Remainders of small numbers are small: a few would be the answer too often.
                *item = Item::Number(rng.randint(self.max_number / 2 + 1, self.max_number));
            }
            match operator {
                b'*' => product *= item.value(),
                b'%' => product = product.rem_euclid(item.value()),
                _ => {
                    sum += sign * product;
                    sign = if operator == b'-' { -1 } else { 1 };
                    product = item.value();
                }
            }
            operators.push(operator);
        }
        Group { items, operators, value: sum + sign * product }
    }
}

/// How an expression is written down.
struct Style {
    version: Version,
    prob_dewhitespace: f64,
    prob_words: f64,
}

impl Style {
    fn write(&self, group: &Group, text: &mut String, rng: &mut PyRandom) {
        let mut after_word = self.write_item(&group.items[0], text, rng);
        for (operator, item) in group.operators.iter().zip(&group.items[1..]) {
            let mut space = if rng.random() < self.prob_dewhitespace { "" } else { " " };
            if self.version != Version::V1 {
                // A minus glued to a word would read as a hyphen: "ninety-seven" is 97.
                let in_words = matches!(item, Item::Number(_)) && rng.random() < self.prob_words;
                if *operator == b'-' && (after_word || in_words) {
                    space = " ";
                }
                text.extend([space, self::operator(*operator), space]);
                after_word = self.write_spelled(item, in_words, text, rng);
                continue;
            }
            text.push_str(space);
            text.push(char::from(*operator));
            text.push_str(space);
            self.write_item(item, text, rng);
        }
    }

    /// Writes an item and returns whether it is a number in words.
    fn write_item(&self, item: &Item, text: &mut String, rng: &mut PyRandom) -> bool {
        let in_words = matches!(item, Item::Number(_)) && rng.random() < self.prob_words;
        self.write_spelled(item, in_words, text, rng)
    }

    fn write_spelled(&self, item: &Item, in_words: bool, text: &mut String, rng: &mut PyRandom) -> bool {
        match item {
            Item::Number(number) if in_words => text.push_str(&number_in_words(number.unsigned_abs())),
            Item::Number(number) => write_number(*number, text),
            Item::Nested(group) => {
                text.push('(');
                self.write(group, text, rng);
                text.push(')');
            }
        }
        in_words
    }
}

fn operator(byte: u8) -> &'static str {
    match byte {
        b'+' => "+",
        b'-' => "-",
        b'*' => "*",
        _ => "%",
    }
}
