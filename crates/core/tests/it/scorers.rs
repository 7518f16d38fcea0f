//! The scorers against a corpus of replies that was labeled by hand.

use std::collections::BTreeMap;

use reasonscape_core::{Dataset, Outcome, Reply, Scorer, Task, Test, detect_scorer, extract, score};
use serde_json::Value;

use crate::task_of::{TaskOf, answer_type};

fn is_correct(scorer: &str, reply: &str, test: &Test) -> bool {
    let Some(answer) = extract(&Reply::from(reply)).answer else { return false };
    match scorer.strip_prefix("generated:") {
        Some(kind) => TaskOf(answer_type(kind)).check(&answer, test),
        None => scorer.parse::<Scorer>().unwrap().score(&answer, test).is_correct,
    }
}

fn corpus() -> Vec<(Value, Test)> {
    include_str!("../corpus/scorers.jsonl")
        .lines()
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            let mut test = Test::free_form(String::new(), case["target"].as_str().unwrap());
            if let Some(options) = case["options"].as_array() {
                test.options = options.iter().map(|option| option.as_str().unwrap().to_owned()).collect();
            }
            (case, test)
        })
        .collect()
}

#[test]
fn labeled_replies_are_scored_as_labeled() {
    let corpus = corpus();
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (case, test) in &corpus {
        let (scorer, reply) = (case["scorer"].as_str().unwrap(), case["reply"].as_str().unwrap());
        let correct = is_correct(scorer, reply, test);
        if correct != (case["verdict"] == "correct") {
            let found = extract(&Reply::from(reply)).answer;
            let what = if correct { "accepted" } else { "refused" };
            wrong.entry(scorer.to_owned()).or_default().push(format!("{what} {case} found {found:?}"));
        }
    }
    let count: usize = wrong.values().map(Vec::len).sum();
    let lines: Vec<String> = wrong.into_values().flatten().collect();
    assert!(count == 0, "{count} of {}\n{}", corpus.len(), lines.join("\n"));
}

/// Targets in the shapes of datasets, each with a wrong answer of the same shape.
const LAYOUTS: [(&str, &str, &str); 21] = [
    ("plain number", r#"{"input": "?", "target": "42"}"#, "43"),
    ("number with unit", r#"{"input": "?", "target": "42 km"}"#, "41 km"),
    ("currency", r#"{"input": "?", "target": "$1,000"}"#, "$1,009"),
    ("number in JSON", r#"{"input": "?", "target": 0.5}"#, "0.25"),
    ("percentage", r#"{"input": "?", "target": "20%"}"#, "21%"),
    ("formula in dollar signs", r#"{"input": "?", "target": "$10-4 n$"}"#, "$10+4 n$"),
    ("fraction", r#"{"input": "?", "target": "\\frac{3}{4}"}"#, r"\frac{4}{3}"),
    ("interval", r#"{"input": "?", "target": "(-\\infty, 3]"}"#, r"(-\infty, 3)"),
    ("solutions", r#"{"input": "?", "target": "$x=1, x=2$"}"#, "$x=1, x=3$"),
    ("boxed", r#"{"input": "?", "target": "\\boxed{\\sqrt{2}}"}"#, r"\boxed{\sqrt{3}}"),
    ("boxed letter", r#"{"input": "?", "target": "\\boxed{D}"}"#, "C"),
    ("letter in brackets", r#"{"input": "?", "target": "(B)"}"#, "(A)"),
    ("options and letter", r#"{"input": "?", "options": ["x", "y", "z"], "target": "B"}"#, "C"),
    ("options and index", r#"{"input": "?", "options": ["rain", "rain or snow"], "target": 1}"#, "rain"),
    (
        "options with labels",
        r#"{"input": "?", "options": {"text": ["wood", "iron"], "label": ["1", "2"]}, "target": "2"}"#,
        "wood",
    ),
    ("yes or no", r#"{"input": "?", "target": "No"}"#, "Yes"),
    ("truth value in JSON", r#"{"input": "?", "target": true}"#, "False"),
    ("text with a period", r#"{"input": "?", "target": "In the harbor."}"#, "In the city."),
    ("text with two periods", r#"{"input": "?", "target": "Well, it rains.."}"#, "Well, it snows.."),
    ("several targets", r#"{"input": "?", "target": ["Oslo", "Oslo, Norway"]}"#, "Bergen"),
    ("JSON value", r#"{"input": "?", "target": "{\"a\": [1, 2]}"}"#, r#"{"a": [2, 1]}"#),
];

#[test]
fn model_that_always_answers_the_target_scores_one_and_a_wrong_one_zero() {
    for (layout, line, wrong) in LAYOUTS {
        let dataset = Dataset::parse("oracle", line).unwrap();
        let detected = detect_scorer(dataset.items()).scorer;
        let scorers = [detected, Scorer::Exact, Scorer::Math];
        for scorer in scorers {
            let dataset = dataset.clone().with_scorer(scorer);
            for task in dataset.tasks() {
                let test = &task.items()[0].test;
                for frame in ["@", "Answer: @", "The answer is @.", "So \\boxed{@}", "<answer>@</answer>"] {
                    let is_correct = |answer: &str| {
                        let reply = frame.replace('@', answer);
                        let (outcome, _) = score(&**task, test, &Reply::from(reply.as_str()), false);
                        outcome == Outcome::Correct
                    };
                    assert!(is_correct(&test.target), "{layout}, {scorer}: {frame} of {}", test.target);
                    assert!(!is_correct(wrong), "{layout}, {scorer}: {frame} of {wrong}");
                }
            }
        }
    }
}

#[test]
fn scorers_are_detected_from_targets() {
    for (expected, lines) in [
        ("numeric", r#"{"input": "?", "target": "$1,000"}"#),
        ("math", r#"{"input": "?", "target": "\\frac{1}{2}"}"#),
        ("math", r#"{"input": "?", "target": "$\\sin x$"}"#),
        ("choice", r#"{"input": "?", "target": "\\boxed{D}"}"#),
        ("choice", r#"{"input": "?", "options": ["x", "y"], "target": "x"}"#),
        (
            "choice",
            "{\"input\": \"?\", \"options\": [\"x\", \"y\"], \"target\": \"x\"}\n{\"input\": \"?\", \"target\": \"(B)\"}",
        ),
        ("yes_no", r#"{"input": "?", "target": "Yes"}"#),
        ("json", r#"{"input": "?", "target": "[1, 2]"}"#),
        ("exact", r#"{"input": "?", "target": "Oslo"}"#),
        ("exact", "{\"input\": \"?\", \"target\": \"Oslo\"}\n{\"input\": \"?\", \"target\": \"7\"}"),
    ] {
        let dataset = Dataset::parse("mine", lines).unwrap();
        assert_eq!(detect_scorer(dataset.items()).scorer.name(), expected, "{lines}");
    }
}

#[test]
fn row_scorer_overrides_the_scorer_of_the_dataset() {
    let lines = "{\"input\": \"a?\", \"target\": \"7\"}\n{\"input\": \"b?\", \"target\": \"7\", \"scorer\": \"exact\"}";
    let dataset = Dataset::parse("mine", lines).unwrap();
    let version = dataset.tasks()[0].version();
    let dataset = dataset.with_scorer("numeric".parse().unwrap());
    let names: Vec<&str> = dataset.items().map(|item| item.test.scorer.unwrap().name()).collect();
    assert_eq!(names, ["numeric", "exact"]);
    assert_eq!(dataset.tasks()[0].version(), version);
}

#[test]
fn chosen_scorer_is_obeyed_unless_only_some_questions_have_options() {
    let with_options = r#"{"input": "a?", "target": "7", "options": ["7", "8"]}"#;
    let without = r#"{"input": "b?", "target": "7"}"#;
    let names = |lines: &str, scorer: &str| {
        let dataset = Dataset::parse("mine", lines).unwrap().with_scorer(scorer.parse().unwrap());
        dataset.items().map(|item| item.test.scorer.unwrap().name()).collect::<Vec<_>>()
    };
    assert_eq!(names(with_options, "numeric"), ["numeric"]);
    assert_eq!(names(with_options, "choice"), ["choice"]);
    let mixed = format!("{with_options}\n{without}");
    assert_eq!(names(&mixed, "numeric"), ["choice", "numeric"]);
    assert_eq!(names(&mixed, "exact"), ["exact", "exact"]);
}

/// A row of a table in `docs/scoring.md`: the text of its cells.
struct DocumentedRow<'d> {
    scorer: &'d str,
    cells: Vec<&'d str>,
}

/// The rows of the tables below the headings that name scorers.
fn documented_rows(page: &str) -> Vec<DocumentedRow<'_>> {
    let mut rows = Vec::new();
    for section in page.split("\n### ").skip(1) {
        let heading = section.lines().next().unwrap_or_default();
        let Some(scorer) = code(heading).first().copied() else { continue };
        let table = section.lines().filter(|line| line.starts_with("| ") || line.starts_with("|-"));
        rows.extend(
            table
                .skip(2)
                .map(|line| DocumentedRow { scorer, cells: line.trim_matches('|').split(" | ").collect() }),
        );
    }
    rows
}

/// The code spans of a text.
fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// A target cell such as "`taxi` of `bus`, `taxi`": the target and the options.
fn documented_test(cell: &str) -> Test {
    let spans = code(cell);
    let mut test = Test::free_form(String::new(), spans[0]);
    if cell.contains("` of `") && spans.len() > 2 {
        test.options = spans[1..].iter().map(|option| (*option).to_owned()).collect();
    }
    test
}

#[test]
fn documented_rows_are_scored_as_documented() {
    let page = include_str!("../../../../docs/scoring.md");
    let mut checked: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut check = |scorer: &'static str, test: &Test, answer: &str, expected: bool| {
        checked.entry(scorer).or_default()[usize::from(expected)] += 1;
        if scorer.parse::<Scorer>().unwrap().score(answer, test).is_correct != expected {
            wrong.push(format!("{scorer}: `{answer}` for `{}` is documented as {expected}", test.target));
        }
    };
    for DocumentedRow { scorer, cells } in documented_rows(page) {
        if scorer == "math" {
            let [equal, different] = cells[..] else { panic!("{cells:?}") };
            for group in equal.split("; ") {
                let spans = code(group);
                let test = Test::free_form(String::new(), spans[0]);
                spans[1..].iter().for_each(|answer| check("math", &test, answer, true));
                for answer in different.split("`, `") {
                    match code(&format!("`{}`", answer.trim_matches('`')))[..] {
                        // "`0.33` for `\frac13`"
                        [answer, target] => {
                            check("math", &Test::free_form(String::new(), target), answer, false);
                        }
                        [answer] if different.contains('`') => check("math", &test, answer, false),
                        _ => {}
                    }
                }
            }
            continue;
        }
        let test = documented_test(cells[0]);
        for (index, cell) in cells.iter().enumerate().skip(1) {
            let is_last = index + 1 == cells.len();
            for answer in code(cell) {
                match (scorer, index) {
                    ("set", 1) => check("list", &test, answer, true),
                    ("set", 2) => {
                        check("set", &test, answer, true);
                        check("list", &test, answer, false);
                    }
                    ("set", _) => check("list", &test, answer, false),
                    _ => {}
                }
                let name =
                    Scorer::ALL.iter().map(|known| known.name()).find(|known| *known == scorer).unwrap();
                check(name, &test, answer, !is_last);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for scorer in Scorer::ALL {
        let counts = checked.get(scorer.name()).copied().unwrap_or_default();
        assert!(counts[0] > 1 && counts[1] > 1, "{scorer}: {counts:?}");
    }
}
