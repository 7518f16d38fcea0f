//! Logical expressions with precedence and parentheses, in five notations.

use std::fmt::Write as _;

use self::assignment::{Likeness, assign};
use self::v1::settle;
use super::Version;
use crate::{AnswerType, Dimension, Ineffective, ParamValue, Parameter, Params, PyRandom, Task, Test};

mod assignment;
mod v1;

/// The task in a version.
pub(super) struct Boolean(pub(super) Version);

static PARAMETERS_1: [Parameter; 6] =
    parameters([2, 64, 8], "how deep parentheses nest, as far as the length allows");

/// Fewer than six truth values leave no room for two expressions that look alike and differ in value.
static PARAMETERS: [Parameter; 6] =
    parameters([6, 64, 8], "how deep parentheses nest, at most (length - 3) / 2");

const fn parameters(length: [i64; 3], depth: &'static str) -> [Parameter; 6] {
    [
        Parameter::int("length", Dimension::Length, length, "how many truth values the expression has"),
        Parameter::int("max_depth", Dimension::Depth, [0, 8, 2], depth),
        Parameter::proportion(
            "prob_negate",
            Dimension::Interference,
            0.25,
            "the probability that a truth value or a parenthesis is negated",
        ),
        Parameter::word(
            "operators",
            Dimension::MultiStep,
            &["and_or", "and_or_xor", "and_or_xor_implies"],
            "the operators used beside not",
        )
        .with_default(1),
        Parameter::word(
            "notation",
            Dimension::Format,
            &["true_false", "t_f", "on_off", "binary", "yes_no"],
            "how true and false are written",
        ),
        Parameter::proportion(
            "prob_dewhitespace",
            Dimension::Format,
            0.0,
            "the probability that an operator stands without spaces",
        ),
    ]
}

/// How many expressions are drawn to find one in which readers who ignore precedence or parentheses are wrong half of the time.
const STRUCTURES: usize = 2;

/// How many times a group has "implies" at most.
const MAX_IMPLICATIONS: usize = 2;

impl Task for Boolean {
    fn name(&self) -> &'static str {
        self.0.of(["boolean", "boolean@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Work out whether a logical expression is true, given the precedence of its operators. Harder with more \
         truth values, deeper nesting, more negations, more kinds of operators, unusual notations and missing spaces."
    }

    fn parameters(&self) -> &'static [Parameter] {
        match self.0 {
            Version::V1 => &PARAMETERS_1,
            Version::V2 => &PARAMETERS,
        }
    }

    fn ineffective(&self, params: &Params) -> Option<Ineffective> {
        if self.0 == Version::V1 { None } else { deepest(params) }
    }

    fn distinct_problems(&self, params: &Params) -> Option<u64> {
        // Truth values and operators alone; half of the values are chosen to make the answer a coin toss.
        let length = params.size("length") as i32;
        let problems = 2_f64.powi(length / 2) * (operators(params).len() as f64).powi(length - 1);
        (problems < 100_000.0).then_some(problems as u64)
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Boolean
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let length = params.size("length");
        let operators = operators(params);
        let generator = Generator { prob_negate: params.real("prob_negate"), operators };
        let depth = params.size("max_depth").min(length - 2);
        let (group, value) = match self.0 {
            Version::V1 => {
                // The answer comes first and the truth values are made to give it: were they drawn freely, the
                // outermost operator would betray the answer, since most conjunctions are false.
                let value = rng.getrandbits(1) == 1;
                let mut group = generator.group(length, depth, rng);
                settle(&mut group.items, &group.operators, value, rng);
                (group, value)
            }
            Version::V2 => generator.balanced(length, depth, rng),
        };

        let style = Style { words: notation(params), prob_dewhitespace: params.real("prob_dewhitespace") };
        let mut prompt = String::with_capacity(400 + 16 * length);
        prompt.push_str("What is the value of this expression?\n\n");
        style.write(&group, &mut prompt, rng);
        prompt.push_str("\n\n");
        style.write_rules(operators, &mut prompt);
        let [yes, no] = style.words;
        let form = self.0.of(["The answer is", "Reply with"]);
        let _ = write!(prompt, "{form} {yes} or {no}.");
        Test::choice(prompt, style.words.map(str::to_owned).into(), usize::from(!value))
    }
}

/// Deeper parentheses would need more truth values: three within each pair, so that precedence matters.
fn deepest(params: &Params) -> Option<Ineffective> {
    let length = params.int("length");
    let max_depth = (length - 3) / 2;
    (params.int("max_depth") > max_depth).then(|| Ineffective {
        name: "max_depth",
        effective: ParamValue::Int(max_depth),
        limit: format!("`length` = {length}"),
    })
}

fn operators(params: &Params) -> &'static [Operator] {
    match params.word("operators") {
        "and_or" => &Operator::ALL[..2],
        "and_or_xor" => &Operator::ALL[..3],
        _ => &Operator::ALL[..],
    }
}

/// The words for true and false.
fn notation(params: &Params) -> [&'static str; 2] {
    match params.word("notation") {
        "true_false" => ["TRUE", "FALSE"],
        "t_f" => ["T", "F"],
        "on_off" => ["on", "off"],
        "binary" => ["1", "0"],
        _ => ["yes", "no"],
    }
}

/// What joins two operands; the order is that of precedence, the tightest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Operator {
    And,
    Xor,
    Or,
    Implies,
}

impl Operator {
    /// In the order in which the parameter `operators` adds them.
    const ALL: [Self; 4] = [Self::And, Self::Or, Self::Xor, Self::Implies];

    fn word(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Xor => "xor",
            Self::Or => "or",
            Self::Implies => "implies",
        }
    }
}

/// Items with an operator between each two.
struct Group {
    items: Vec<Item>,
    operators: Vec<Operator>,
}

struct Item {
    negated: bool,
    /// How many truth values it holds.
    length: usize,
    body: Body,
}

enum Body {
    Literal(bool),
    Nested(Group),
}

/// What expressions are made of.
struct Generator<'a> {
    prob_negate: f64,
    operators: &'a [Operator],
}

impl Generator<'_> {
    /// An expression with truth values, and its value.
    fn balanced(&self, length: usize, depth: usize, rng: &mut PyRandom) -> (Group, bool) {
        let mut best: Option<(Likeness, Group, bool)> = None;
        for _ in 0..STRUCTURES {
            let mut group = self.mixed_group(length, depth, rng);
            let Some((value, likeness)) = assign(&mut group, length, rng) else { continue };
            if best.as_ref().is_none_or(|(known, ..)| likeness > *known) {
                best = Some((likeness, group, value));
            }
            if likeness == Likeness::Both {
                break;
            }
        }
        if let Some((_, group, value)) = best {
            return (group, value);
        }
        // A long disjunction of single truth values, for example, can hardly be false if it begins with TRUE.
        let value = rng.getrandbits(1) == 1;
        let mut group = self.mixed_group(length, depth, rng);
        settle(&mut group.items, &group.operators, value, rng);
        (group, value)
    }

    /// As [`group`](Self::group), but each group has three items or more, and an operator that binds less than the one
    /// after it; needs `length >= 2 * depth + 3`.
    fn mixed_group(&self, length: usize, depth: usize, rng: &mut PyRandom) -> Group {
        let mut items = Vec::with_capacity(length);
        let mut left = length;
        let nested = |size, depth, rng: &mut PyRandom| {
            let group = self.mixed_group(size, depth, rng);
            self.item(size, Body::Nested(group), rng)
        };
        if depth > 0 {
            let fewest = 2 * depth + 1;
            let size = fewest + rng.index(length - 1 - fewest);
            items.push(nested(size, depth - 1, rng));
            left -= size;
        }
        while left > 0 {
            // Beside a group stand two items at least.
            if depth > 0 && left >= 4 && rng.random() < 0.25 {
                let size = 3 + rng.index((left - 1).min(6) - 2);
                let shallow = rng.index(depth.min((size - 1) / 2));
                items.push(nested(size, shallow, rng));
                left -= size;
            } else {
                items.push(self.item(1, Body::Literal(false), rng));
                left -= 1;
            }
        }
        rng.shuffle(&mut items);
        let mut operators: Vec<Operator> = (1..items.len()).map(|_| *rng.choice(self.operators)).collect();
        // In a long chain of premises one would nearly always be false, and the chain true.
        let implications = operators.iter_mut().filter(|operator| **operator == Operator::Implies);
        for operator in implications.skip(MAX_IMPLICATIONS) {
            *operator = *rng.choice(&Operator::ALL[..3]);
        }
        if operators.windows(2).all(|pair| pair[0] <= pair[1]) {
            let first = rng.index(self.operators.len());
            let second = (first + 1 + rng.index(self.operators.len() - 1)) % self.operators.len();
            let pair = [self.operators[first], self.operators[second]];
            let at = rng.index(operators.len() - 1);
            operators[at] = pair[0].max(pair[1]);
            operators[at + 1] = pair[0].min(pair[1]);
        }
        Group { items, operators }
    }

    /// An expression of `length` truth values, all false so far, in which parentheses nest exactly `depth` deep;
    /// needs `length >= depth + 2`.
    fn group(&self, length: usize, depth: usize, rng: &mut PyRandom) -> Group {
        let mut items = Vec::with_capacity(length);
        let mut left = length;
        if depth > 0 {
            // One nested group carries the depth; it leaves at least one truth value beside it.
            let size = depth + 1 + rng.index(length - 1 - depth);
            items.push(self.nested(size, depth - 1, rng));
            left -= size;
        }
        while left > 0 {
            if depth > 0 && left >= 2 && rng.random() < 0.3 {
                let size = 2 + rng.index(left.min(6) - 1);
                let shallow = rng.index(depth.min(size - 1));
                items.push(self.nested(size, shallow, rng));
                left -= size;
            } else {
                items.push(self.item(1, Body::Literal(false), rng));
                left -= 1;
            }
        }
        rng.shuffle(&mut items);
        let operators = (1..items.len()).map(|_| *rng.choice(self.operators)).collect();
        Group { items, operators }
    }

    fn nested(&self, length: usize, depth: usize, rng: &mut PyRandom) -> Item {
        let group = self.group(length, depth, rng);
        self.item(length, Body::Nested(group), rng)
    }

    fn item(&self, length: usize, body: Body, rng: &mut PyRandom) -> Item {
        Item { negated: rng.random() < self.prob_negate, length, body }
    }
}

/// How an expression is written down.
struct Style {
    words: [&'static str; 2],
    prob_dewhitespace: f64,
}

impl Style {
    fn write(&self, group: &Group, text: &mut String, rng: &mut PyRandom) {
        self.write_item(&group.items[0], text, rng);
        for (operator, item) in group.operators.iter().zip(&group.items[1..]) {
            let space = self.space(rng);
            text.push_str(space);
            text.push_str(operator.word());
            text.push_str(space);
            self.write_item(item, text, rng);
        }
    }

    fn write_item(&self, item: &Item, text: &mut String, rng: &mut PyRandom) {
        if item.negated {
            text.push_str("not");
            text.push_str(self.space(rng));
        }
        match &item.body {
            Body::Literal(value) => text.push_str(self.words[usize::from(!value)]),
            Body::Nested(group) => {
                text.push('(');
                self.write(group, text, rng);
                text.push(')');
            }
        }
    }

    fn space(&self, rng: &mut PyRandom) -> &'static str {
        if rng.random() < self.prob_dewhitespace { "" } else { " " }
    }

    /// What a reader cannot know: the notation, the precedence, and the operators that people define differently.
    fn write_rules(&self, operators: &[Operator], text: &mut String) {
        let [yes, no] = self.words;
        if yes != "TRUE" {
            let _ = write!(text, "Here {yes} means true and {no} means false. ");
        }
        if self.prob_dewhitespace > 0.0 {
            text.push_str("Spaces between words may be missing. ");
        }
        let has_xor = operators.contains(&Operator::Xor);
        let has_implies = operators.contains(&Operator::Implies);
        text.push_str("Parentheses come first, then not, then and, ");
        text.push_str(match (has_xor, has_implies) {
            (false, _) => "then or. ",
            (true, false) => "then xor, then or. ",
            (true, true) => "then xor, then or, then implies. ",
        });
        if has_xor {
            let _ = write!(text, "xor gives {yes} when its two sides differ. ");
        }
        if has_implies {
            let _ = write!(
                text,
                "implies gives {no} only when its left side is {yes} and its right side is {no}, and \
                 a implies b implies c means a implies (b implies c). "
            );
        }
    }
}
