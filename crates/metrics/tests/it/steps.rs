//! Equations in reasoning: a labelled corpus, python3's fractions, and texts that nobody would write.

use std::fmt::Write;

use proptest::prelude::*;
use reasonscape_core::PyRandom;
use reasonscape_metrics::check_steps;

const CORPUS: &str = include_str!("../fixtures/reasoning-steps.tsv");

/// What a line is, to a person or to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Right,
    Wrong,
    NotCheckable,
}

fn corpus() -> Vec<(Label, &'static str)> {
    let label = |name: &str| match name {
        "right" => Label::Right,
        "wrong" => Label::Wrong,
        "none" => Label::NotCheckable,
        _ => panic!("unknown label `{name}`"),
    };
    CORPUS
        .lines()
        .map(|line| line.split_once('\t').unwrap_or_else(|| panic!("no tab in `{line}`")))
        .map(|(name, text)| (label(name), text))
        .collect()
}

fn classify(text: &str) -> Label {
    let steps = check_steps(text);
    match () {
        () if steps.iter().any(|step| !step.holds) => Label::Wrong,
        () if steps.is_empty() => Label::NotCheckable,
        () => Label::Right,
    }
}

#[test]
fn never_flags_a_true_line_of_the_corpus() {
    for (label, text) in corpus() {
        assert!(label == Label::Wrong || classify(text) != Label::Wrong, "called wrong: {text}");
    }
}

#[test]
fn confirmed_lines_are_labelled_true() {
    for (label, text) in corpus() {
        assert!(label == Label::Right || classify(text) != Label::Right, "called right: {text}");
    }
}

/// The second table of `docs/metrics-steps.md` is made of these counts; precision and recall come from `corpora.rs`.
#[test]
fn counts_of_the_notation_corpus_match_documentation() {
    let corpus = corpus();
    assert!(corpus.len() >= 200, "{} lines", corpus.len());
    let count = |label: Label, found: Label| {
        corpus.iter().filter(|(its, text)| *its == label && classify(text) == found).count()
    };
    let mut table =
        String::from("| label | lines | found true | found false | skipped |\n|---|---:|---:|---:|---:|\n");
    for (label, name) in
        [(Label::Right, "true"), (Label::Wrong, "false"), (Label::NotCheckable, "not checkable")]
    {
        let [right, wrong, alone] =
            [Label::Right, Label::Wrong, Label::NotCheckable].map(|found| count(label, found));
        writeln!(table, "| {name} | {} | {right} | {wrong} | {alone} |", right + wrong + alone).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics-steps.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains(&table), "`docs/metrics-steps.md` lacks\n{table}");
    for line in corpus.iter().filter(|(label, text)| *label == Label::Wrong && classify(text) != Label::Wrong)
    {
        assert!(
            page.contains(&format!("`{}`", line.1)),
            "`docs/metrics-steps.md` does not say that this is missed: {}",
            line.1
        );
    }
}

/// A random expression with whole numbers, decimals, parentheses and powers.
fn expression(rng: &mut PyRandom, depth: u32) -> String {
    let leaf = |rng: &mut PyRandom| match rng.randrange(0, 6) {
        0 => format!("{}.{}", rng.randrange(0, 50), ["5", "25", "75", "125"][rng.index(4)]),
        1 => format!("({})", -rng.randrange(1, 50)),
        _ => rng.randrange(0, 200).to_string(),
    };
    if depth == 0 {
        return leaf(rng);
    }
    let (left, right) = (expression(rng, depth - 1), leaf(rng));
    match rng.randrange(0, 7) {
        0 => format!("{left} + {right}"),
        1 => format!("{left} - {right}"),
        2 => format!("({left}) * {right}"),
        3 => format!("({left}) / {}", rng.randrange(1, 30)),
        4 => format!("{right} * ({left})"),
        5 => format!("{right} - ({left})"),
        _ => format!("({left}) + {}^2", rng.randrange(2, 12)),
    }
}

/// Says of each expression its exact value, rounded to four decimals, and whether those are all of them.
const FRACTIONS: &str = r"
import re, sys
from fractions import Fraction
for line in sys.stdin:
    text = re.sub(r'\d+(\.\d+)?', lambda number: f'Fraction(\'{number[0]}\')', line.strip().replace('^', '**'))
    text = re.sub(r'\*\*Fraction\(\'(\d+)\'\)', r'**\1', text)
    value = eval(text)
    scaled = value * 10000
    half_up = (scaled + Fraction(1, 2)).__floor__() if scaled >= 0 else -((-scaled + Fraction(1, 2)).__floor__())
    print(half_up, int(value == Fraction(half_up, 10000)))
";

#[test]
fn agrees_with_python_fractions() {
    let mut rng = PyRandom::new(7);
    let expressions: Vec<String> = (0..4000)
        .map(|_| {
            let depth = 1 + rng.randrange(0, 4) as u32;
            expression(&mut rng, depth)
        })
        .collect();
    let Some(output) = reasonscape_test_support::python(FRACTIONS, &expressions.join("\n")) else { return };
    assert_eq!(output.lines().count(), expressions.len());
    let shown = |scaled: i64| {
        let sign = if scaled < 0 { "-" } else { "" };
        format!("{sign}{}.{:04}", scaled.abs() / 10_000, scaled.abs() % 10_000)
    };
    let shortest = |scaled: i64| shown(scaled).trim_end_matches('0').trim_end_matches('.').to_owned();
    let mut checked = 0;
    for (text, line) in expressions.iter().zip(output.lines()) {
        let mut fields = line.split(' ');
        let scaled: i64 = fields.next().unwrap().parse().unwrap();
        let exact = fields.next() == Some("1");
        let right = format!("{text} = {}", if exact { shortest(scaled) } else { shown(scaled) });
        let steps = check_steps(&right);
        assert!(steps.iter().all(|step| step.holds), "a right one is called wrong: {right}");
        // Wrong by a whole unit; every other one upwards.
        let off = if rng.random() < 0.5 { 10_000 } else { -10_000 };
        let wrong = format!("{text} = {}", shortest(scaled + off));
        let false_steps = check_steps(&wrong);
        assert!(false_steps.iter().all(|step| !step.holds), "a wrong one is called right: {wrong}");
        checked += usize::from(steps.len() == 1) + usize::from(false_steps.len() == 1);
    }
    assert!(checked > 7000, "only {checked} of 8000 were checked");
}

proptest! {
    #[test]
    fn never_panics_on_any_text(text in "\\PC{0,200}") {
        check_steps(&text);
    }

    #[test]
    fn never_panics_on_any_arithmetic(
        text in "([0-9]{1,4}|[-+*/^=≈(){}\\[\\]%$.,:;?! \n\\\\x]|\\\\frac|<<|>>|apples|of|not|\u{2212}|×|²){0,60}"
    ) {
        for step in check_steps(&text) {
            prop_assert!(text.contains(step.text) && step.line <= text.lines().count());
        }
    }

    #[test]
    fn surrounding_prose_does_not_change_the_result(a in 0_i64..1000, b in 0_i64..1000, off in 0_i64..3) {
        let equation = format!("{a} + {b} = {}", a + b + off);
        for text in [
            equation.clone(),
            format!("So {equation}."),
            format!("We know the rest.\n\nThen we have {equation} of them, which is what they share."),
            format!("**{equation}**"),
            format!("\\[ {equation} \\]"),
            format!("first line\r\n  - {equation}\r\n"),
        ] {
            let steps = check_steps(&text);
            // Digits that are all 0 and 1 may be binary.
            let binary = off > 0 && equation.bytes().all(|byte| !byte.is_ascii_digit() || byte <= b'1');
            prop_assert!(binary || steps.len() == 1, "{text}: {steps:?}");
            prop_assert!(steps.iter().all(|step| step.holds == (off == 0)), "{text}");
        }
    }
}

#[test]
fn long_and_deeply_nested_texts_terminate() {
    let long = "so 3 + 4 = 7 and then ".repeat(50_000);
    let steps = check_steps(&long);
    assert!(steps.len() > 49_000 && steps.iter().all(|step| step.holds && step.line == 1), "{}", steps.len());
    for part in ["(", "1+", "1=", "=", "\\frac{", "{", "<<", "*", "1 apples ", "≈", "x", "1/", "-", "2^"] {
        let text = part.repeat(1 << 16) + "1 = 1";
        assert!(check_steps(&text).iter().all(|step| step.holds), "{part}");
    }
    let deep = format!("{}1{} + 1 = 2", "(".repeat(50), ")".repeat(50));
    assert!(check_steps(&deep).is_empty());
}

#[test]
fn line_numbers_start_at_one() {
    let steps = check_steps("\n\n1 + 1 = 2\nnothing\r\n2 + 2 = 5, and 3 + 3 = 6");
    let found: Vec<(usize, &str, bool)> =
        steps.iter().map(|step| (step.line, step.text, step.holds)).collect();
    assert_eq!(found, [(3, "1 + 1 = 2", true), (5, "2 + 2 = 5", false), (5, "3 + 3 = 6", true)]);
}
