//! Answer extraction against a corpus of replies, and what holds for any reply at all.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::sample::select;
use reasonscape_core::{AnswerType, Reply, Task, Test, extract};

use crate::task_of::{TaskOf, answer_type};

const CORPUS: [(&str, &str); 9] = [
    ("reasoning", include_str!("corpus/reasoning.txt")),
    ("integer", include_str!("corpus/integer.txt")),
    ("list", include_str!("corpus/list.txt")),
    ("symbols", include_str!("corpus/symbols.txt")),
    ("date", include_str!("corpus/date.txt")),
    ("json", include_str!("corpus/json.txt")),
    ("cell", include_str!("corpus/cell.txt")),
    ("boolean", include_str!("corpus/boolean.txt")),
    ("choice", include_str!("corpus/choice.txt")),
];

/// Whether the answer in a reply is right.
fn is_right(kind: AnswerType, reply: &Reply<'_>, test: &Test) -> bool {
    extract(reply).answer.is_some_and(|answer| TaskOf(kind).check(&answer, test))
}

struct Case<'a> {
    name: &'a str,
    header: Vec<(&'a str, &'a str)>,
    reply: &'a str,
}

impl<'a> Case<'a> {
    fn parse(text: &'a str) -> Self {
        let (name, rest) = text.split_once('\n').expect("a name");
        let (header, reply) = rest.split_once("\n---\n").unwrap_or_else(|| panic!("`{name}` has no `---`"));
        let header = header
            .lines()
            .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("{name}: {line}")))
            .collect();
        Self { name, header, reply }
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.header.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    fn need(&self, key: &str) -> &'a str {
        self.get(key).unwrap_or_else(|| panic!("`{}` has no `{key}`", self.name))
    }

    fn kind(&self) -> AnswerType {
        answer_type(self.need("kind"))
    }

    /// What is not as the case expects, in words.
    fn failures(&self) -> Vec<String> {
        let reply = Reply { content: self.reply, reasoning: self.get("reasoning") };
        let options =
            self.get("options").map_or_else(Vec::new, |all| all.split(" | ").map(str::to_owned).collect());
        let test = Test {
            prompt: String::new(),
            target: self.need("target").to_owned(),
            alternative_targets: Vec::new(),
            options,
            scorer: None,
            stated_guess: None,
        };
        let found = extract(&reply);
        let right = is_right(self.kind(), &reply, &test);
        let mut failures = Vec::new();
        let answer = found.answer.map(|answer| answer.replace('\n', "\\n"));
        if answer.as_deref() != self.get("answer") {
            failures.push(format!("extracted {answer:?}, not {:?}", self.get("answer")));
        }
        if found.method.name() != self.need("method") {
            failures.push(format!("found by {}, not {}", found.method.name(), self.need("method")));
        }
        if right != (self.need("expect") == "right") {
            failures.push(format!("{} for `{}`", if right { "right" } else { "wrong" }, test.target));
        }
        failures
    }
}

#[test]
fn corpus_replies_are_extracted_as_expected() {
    let mut report = String::new();
    let (mut right, mut wrong) = (0, 0);
    for (file, text) in CORPUS {
        let text = text.strip_prefix("=== ").expect("a file starts with a case");
        for case in text.split("\n=== ").map(Case::parse) {
            *(if case.need("expect") == "right" { &mut right } else { &mut wrong }) += 1;
            for failure in case.failures() {
                writeln!(report, "{file}: {}: {failure}", case.name).expect("a string takes any text");
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
    assert!(right >= 60 && wrong >= 60, "{right} right and {wrong} wrong replies are too few");
}

/// Ways to give an answer that leave no doubt about it.
const TEMPLATES: [&str; 17] = [
    "{}",
    "**{}**",
    "`{}`",
    "Answer: {}",
    "**Answer:** {}",
    "**Final answer:** **{}**.",
    "The answer is {}.",
    "So the correct answer is: `{}`",
    "### Final Answer\n\n{}\n",
    "<answer>{}</answer>",
    "<answer>\n{}\n</answer>\nI hope that helps.",
    "$\\boxed{{}}$",
    "Therefore:\n\n\\[\n\\boxed{\\text{{}}}\n\\]",
    "Let me see.\n\n```\n{}\n```",
    "<think>\nIt could be anything. Answer: nothing.\n</think>\n\n{}",
    "I reasoned step by step.\n\nFinal answer:\n```\n{}\n```\nDone.",
    "\\boxed{0} was my first idea. Final answer: {}",
];

/// A target and another answer of the same kind that is not it.
#[derive(Debug, Clone)]
struct Pair {
    kind: AnswerType,
    test: Test,
    other: String,
}

impl Pair {
    fn new(kind: AnswerType, target: impl Into<String>, other: impl Into<String>) -> Self {
        Self { kind, test: Test::free_form(String::new(), target), other: other.into() }
    }
}

fn integers() -> impl Strategy<Value = Pair> {
    // Neighbours, prefixes and opposite signs are the numbers most easily taken for one another.
    (-20_000_i64..20_000, select(vec![1_i64, -1, 9, 10, 100]), any::<bool>()).prop_filter_map(
        "equal",
        |(target, by, near)| {
            let other = if near { target + by } else { target * by };
            (other != target).then(|| Pair::new(AnswerType::Integer, target.to_string(), other.to_string()))
        },
    )
}

fn lists() -> impl Strategy<Value = Pair> {
    let item = prop_oneof!["[b-h]{3,6}[0-9]{0,2}", "-?[1-9][0-9]{0,4}"];
    (proptest::collection::vec(item, 2..8), any::<prop::sample::Index>()).prop_filter_map(
        "alike",
        |(items, at)| {
            let mut other = items.clone();
            let at = at.index(items.len() - 1);
            other.swap(at, at + 1);
            let same = items[at].eq_ignore_ascii_case(&items[at + 1]);
            (!same).then(|| Pair::new(AnswerType::List, items.join(", "), other.join(", ")))
        },
    )
}

fn symbols() -> impl Strategy<Value = Pair> {
    ("[)\\]>}]{1,12}", select(vec![')', ']', '>', '}'])).prop_map(|(target, more)| {
        let other = format!("{target}{more}");
        Pair::new(AnswerType::Symbols, target, other)
    })
}

fn dates() -> impl Strategy<Value = Pair> {
    let date = || {
        (1600..2400, 1..=12, 1..=28).prop_map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}"))
    };
    (date(), date())
        .prop_filter("equal", |(target, other)| target != other)
        .prop_map(|(target, other)| Pair::new(AnswerType::Date, target, other))
}

fn booleans() -> impl Strategy<Value = Pair> {
    let notations = [
        ["true", "false"],
        ["T", "F"],
        ["yes", "no"],
        ["on", "off"],
        ["1", "0"],
        ["True", "False"],
        ["ON", "OFF"],
    ];
    (select(notations.to_vec()), select(notations.to_vec()), 0..2_usize).prop_map(|(target, other, right)| {
        let mut pair = Pair::new(AnswerType::Boolean, target[right], other[1 - right]);
        pair.test.options = target.iter().map(ToString::to_string).collect();
        pair
    })
}

fn choices() -> impl Strategy<Value = Pair> {
    let options = select(vec![
        vec!["Anna", "Bob", "Carl", "Dora"],
        vec!["red", "dark red", "blue"],
        vec!["3", "13", "33", "30"],
        vec!["C", "A", "B"],
        vec!["the left cup", "the right cup"],
    ]);
    (options, any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_filter_map(
        "equal",
        |(options, a, b)| {
            let (right, other) = (a.index(options.len()), b.index(options.len()));
            let test = Test::choice(String::new(), options.iter().map(ToString::to_string).collect(), right);
            (right != other).then(|| Pair {
                kind: AnswerType::Choice,
                test,
                other: options[other].to_owned(),
            })
        },
    )
}

fn values() -> impl Strategy<Value = Pair> {
    proptest::collection::vec(
        prop_oneof!["-?[1-9][0-9]{0,4}", "\"[a-e]{1,4}\"", Just("null".to_owned())],
        0..5,
    )
    .prop_map(|items| {
        let target = format!("[{}]", items.join(", "));
        let other = format!("[{}]", [&items[..], &["0".to_owned()]].concat().join(", "));
        Pair::new(AnswerType::Json, target, other)
    })
}

fn cells() -> impl Strategy<Value = Pair> {
    prop_oneof![("[A-Z][a-z]{3,8}", "[a-z]{1,3}"), ("[1-9][0-9]{1,4}", "[0-9]{1,2}")]
        .prop_map(|(target, more)| Pair::new(AnswerType::Cell, target.clone(), target + &more))
}

fn pairs() -> impl Strategy<Value = Pair> {
    prop_oneof![integers(), lists(), symbols(), dates(), booleans(), choices(), values(), cells()]
}

/// Inside `\text{}` a brace must be escaped, or nobody could tell where the text ends.
fn fill(template: &str, kind: AnswerType, answer: &str) -> String {
    let escape = kind == AnswerType::Symbols && template.contains("\\text{");
    template.replacen("{}", &if escape { answer.replace('}', "\\}") } else { answer.to_owned() }, 1)
}

/// Pieces that a reply could trip over.
fn fragments() -> impl Strategy<Value = String> {
    let fragments = [
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        "\\boxed{",
        "{",
        "}",
        "\\",
        "$",
        "**",
        "`",
        "```\n",
        "\n",
        "Answer:",
        "the answer is",
        " ",
        "42",
        "-",
        ",",
        "1,000",
        ".",
        "é",
        "−",
        "“",
        "\u{202f}",
        "[",
        "]",
        "(",
        "true",
        "not",
        "A",
        "=",
        "2024-03-05",
        "1e9999999999999999999",
        "#",
        "- ",
        "1. ",
        "…",
        "日",
    ];
    proptest::collection::vec(select(fragments.to_vec()), 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn accepts_target_in_every_template(pair in pairs(), template in select(TEMPLATES.to_vec())) {
        let reply = fill(template, pair.kind, &pair.test.target);
        prop_assert!(is_right(pair.kind, &Reply::from(&*reply), &pair.test), "{:?}", extract(&Reply::from(&*reply)));
    }

    #[test]
    fn rejects_other_answers_in_every_template(pair in pairs(), template in select(TEMPLATES.to_vec())) {
        let reply = fill(template, pair.kind, &pair.other);
        prop_assert!(!is_right(pair.kind, &Reply::from(&*reply), &pair.test), "{:?}", extract(&Reply::from(&*reply)));
    }

    #[test]
    fn unfinished_reasoning_gives_no_answer(pair in pairs(), template in select(TEMPLATES.to_vec())) {
        let reply = format!("<think>\n{}", fill(template, pair.kind, &pair.test.target).replace("</think>", ""));
        prop_assert_eq!(extract(&Reply::from(&*reply)).answer, None);
    }

    #[test]
    fn never_panics_on_any_reply(content in fragments(), answer in fragments(), target in fragments(), pair in pairs()) {
        let _ = extract(&Reply::from(&*content));
        let _ = TaskOf(pair.kind).check(&answer, &pair.test);
        let _ = TaskOf(pair.kind).check(&answer, &Test { target, ..pair.test });
    }

    #[test]
    fn never_panics_on_any_unicode(content in any::<String>(), pair in pairs()) {
        let _ = extract(&Reply::from(&*content));
        let _ = TaskOf(pair.kind).check(&content, &pair.test);
    }
}
