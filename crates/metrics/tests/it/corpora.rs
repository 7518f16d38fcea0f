//! Two corpora of equation lines: one that the rules were tuned on, one for the published precision and recall.

use std::collections::BTreeSet;
use std::fmt::Write;

use proptest::prelude::*;
use reasonscape_core::PyRandom;
use reasonscape_metrics::{Step, check_steps, check_truncated_steps};
use reasonscape_stats::{Confidence, wilson};
use serde::Deserialize;

const TUNING: &str = include_str!("../fixtures/equations/tuning.jsonl");
const HELD_OUT: &str = include_str!("../fixtures/equations/held-out.jsonl");

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Label {
    Correct,
    False,
}

/// A line, or the end of a reply.
#[derive(Debug, Deserialize)]
struct Case {
    label: Label,
    /// The line of the template that it was made from.
    template: u32,
    /// The wrong value of a false line: flagging anything else is a false alarm.
    #[serde(default)]
    wrong: String,
    #[serde(default)]
    truncated: bool,
    text: String,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The false equation was found.
    Hit,
    /// A correct equation was called false.
    FalseAlarm,
    Confirmed,
    Skipped,
}

impl Case {
    fn steps(&self) -> Vec<Step<'_>> {
        if self.truncated { check_truncated_steps(&self.text) } else { check_steps(&self.text) }
    }

    fn outcome(&self) -> Outcome {
        let steps = self.steps();
        let is_hit = |step: &Step<'_>| self.label == Label::False && step.text.contains(&self.wrong);
        let mut flags = steps.iter().filter(|step| !step.holds).peekable();
        match () {
            () if flags.peek().is_some() && flags.all(is_hit) => Outcome::Hit,
            () if steps.iter().any(|step| !step.holds) => Outcome::FalseAlarm,
            () if steps.is_empty() => Outcome::Skipped,
            () => Outcome::Confirmed,
        }
    }
}

fn cases(corpus: &str) -> Vec<Case> {
    corpus.lines().map(|line| serde_json::from_str(line).expect("a case per line")).collect()
}

fn count(cases: &[Case], label: Label, outcome: Outcome) -> usize {
    cases.iter().filter(|case| case.label == label && case.outcome() == outcome).count()
}

#[test]
fn tuning_corpus_has_no_false_alarm_and_few_misses() {
    let cases = cases(TUNING);
    for case in &cases {
        assert!(case.outcome() != Outcome::FalseAlarm, "{case:?}: {:?}", case.steps());
    }
    let of = |label| cases.iter().filter(|case| case.label == label).count();
    let (correct, wrong) = (of(Label::Correct), of(Label::False));
    let hits = count(&cases, Label::False, Outcome::Hit);
    assert!(correct >= 600 && wrong >= 300, "{correct} correct and {wrong} false lines");
    assert!(hits * 10 >= wrong * 7, "{hits} of {wrong} false lines found");
}

/// A proportion with its Wilson interval.
fn with_interval(k: usize, n: usize) -> String {
    let interval = wilson(k as f64, n as f64, Confidence::P95).expect("finite counts");
    format!("{k}/{n} = {:.3} [{:.3}, {:.3}]", k as f64 / n as f64, interval.low, interval.high)
}

/// The published figures come from the corpus that nothing was tuned on.
#[test]
fn held_out_precision_and_recall_match_documentation() {
    let cases = cases(HELD_OUT);
    let mut table =
        String::from("| label | lines | confirmed | flagged | skipped |\n|---|---:|---:|---:|---:|\n");
    for (label, name) in [(Label::Correct, "correct"), (Label::False, "false")] {
        let [confirmed, hits, alarms, skipped] =
            [Outcome::Confirmed, Outcome::Hit, Outcome::FalseAlarm, Outcome::Skipped]
                .map(|outcome| count(&cases, label, outcome));
        let flagged = hits + alarms;
        let lines = confirmed + flagged + skipped;
        writeln!(table, "| {name} | {lines} | {confirmed} | {flagged} | {skipped} |").unwrap();
    }
    let of = |label| cases.iter().filter(move |case| case.label == label);
    let hits = count(&cases, Label::False, Outcome::Hit);
    let alarms = cases.iter().filter(|case| case.outcome() == Outcome::FalseAlarm).count();
    let false_alarms = count(&cases, Label::Correct, Outcome::FalseAlarm);
    let templates = |cases: &mut dyn Iterator<Item = &Case>| {
        cases.map(|case| case.template).collect::<BTreeSet<_>>().len()
    };
    let alarming = templates(&mut of(Label::Correct).filter(|case| case.outcome() == Outcome::FalseAlarm));
    writeln!(
        table,
        "\n| figure | estimate with 95 % CI |\n|---|---|\n| precision | {} |\n| recall | {} |\n\
         | correct lines flagged | {} |\n| templates of correct lines with a flag | {} |",
        with_interval(hits, hits + alarms),
        with_interval(hits, of(Label::False).count()),
        with_interval(false_alarms, of(Label::Correct).count()),
        with_interval(alarming, templates(&mut of(Label::Correct))),
    )
    .unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics-steps.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains(&table), "`docs/metrics-steps.md` lacks\n{table}");
}

/// Runs the generator, without writing, and prints what it would write.
const GENERATE: &str = r"
import json, runpy, sys
path = sys.stdin.read()
made = runpy.run_path(path)
for name in ('tuning', 'held-out'):
    for record in made['records'](name):
        print(json.dumps(record, ensure_ascii=True))
";

#[test]
fn corpora_are_what_their_templates_generate() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/equations/generate.py");
    let Some(output) = reasonscape_test_support::python(GENERATE, path) else { return };
    let parse = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let made: Vec<_> = output.lines().map(parse).collect();
    let committed: Vec<_> = TUNING.lines().chain(HELD_OUT.lines()).map(parse).collect();
    assert!(made == committed, "run `python3 {path}`");
}

#[test]
fn corpora_share_no_template() {
    let templates = |text: &'static str| {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.map(|line| line.splitn(3, " ; ").nth(2).unwrap()).collect::<BTreeSet<_>>()
    };
    let tuning = templates(include_str!("../fixtures/equations/tuning.templates"));
    let held_out = templates(include_str!("../fixtures/equations/held-out.templates"));
    assert_eq!(tuning.intersection(&held_out).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// A line of the corpora, damaged: parts dropped, doubled, exchanged with parts of another line.
fn mutated(cases: &[Case], rng: &mut PyRandom) -> String {
    let pick = |rng: &mut PyRandom| cases[rng.index(cases.len())].text.clone();
    let mut text = pick(rng);
    for _ in 0..=rng.index(4) {
        let boundary = |text: &str, at: usize| text.floor_char_boundary(at);
        let (one, other) = (rng.index(text.len() + 1), rng.index(text.len() + 1));
        let (from, to) = (boundary(&text, one.min(other)), boundary(&text, one.max(other)));
        let part = match rng.index(5) {
            0 => String::new(),
            1 => text[from..to].repeat(2),
            2 => [
                "\\left(", "!", " – ", "\\frac{", "}", "{,}", ",\\!", "²", "^{", "<<", ">>", "\n", "é",
                "(5%)",
            ][rng.index(14)]
            .to_owned(),
            3 => pick(rng),
            _ => text[from..to].chars().rev().collect(),
        };
        text.replace_range(from..to, &part);
    }
    text
}

#[test]
fn mutated_lines_are_read_without_panic() {
    let cases: Vec<Case> = cases(TUNING).into_iter().chain(cases(HELD_OUT)).collect();
    let mut rng = PyRandom::new(23);
    let mut checked = 0;
    for _ in 0..40_000 {
        let text = mutated(&cases, &mut rng);
        let steps = check_steps(&text);
        for step in &steps {
            assert!(
                text.contains(step.text) && step.line >= 1 && step.line <= text.lines().count(),
                "{text}"
            );
        }
        assert!(check_truncated_steps(&text).len() <= steps.len(), "{text}");
        checked += steps.len();
    }
    assert!(checked > 5_000, "only {checked} equations were read");
}

/// A reader that looks at all of the text for each equation would not come to the end of these.
#[test]
fn repeated_notation_is_read_to_the_end() {
    for part in [
        "\\left(",
        "!",
        "5! ",
        " – ",
        "5 – ",
        "5 cm^2 ",
        "5 cm² + ",
        "1/",
        "5 (5%) ",
        "of ",
        "1/3 of ",
        "\\binom{5}{2} ",
        "\\sqrt{",
        "\\qquad ",
        "1,\\!",
        "1\\,",
        "a * b = a ",
        "3 + 4 = 8 ",
        "3 + 4 = 8 (",
        "3 + 4 = 8 km/",
        "= 7 than ",
        "\\[ 3 + 4 = 8 ",
        "3 + 4 = 0.30000000000000004 ",
    ] {
        let text = part.repeat(1 << 16) + "2 + 2 = 4";
        assert!(check_steps(&text).len() <= 2 << 16, "{part}");
        check_truncated_steps(&(text + &" ".repeat(1 << 16)));
    }
}

proptest! {
    /// What a truncated reply ends with is never checked; what stands before it is.
    #[test]
    fn last_equation_of_a_truncated_reply_is_skipped(a in 100_i64..999, b in 100_i64..999, cut in 1_usize..4) {
        let result = (a * b).to_string();
        let text = format!("So 2 + 2 = 4.\nThen {a} * {b} = {}", &result[..cut]);
        let steps = check_truncated_steps(&text);
        prop_assert_eq!(steps.iter().map(|step| step.text).collect::<Vec<_>>(), ["2 + 2 = 4"]);
        prop_assert!(check_steps(&text).iter().any(|step| !step.holds));
    }
}
