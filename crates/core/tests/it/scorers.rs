//! The scorers against a corpus of replies that was labeled by hand.

use std::collections::BTreeMap;

use reasonscape_core::{AnswerType, Parameter, Params, PyRandom, Reply, Scorer, Task, Test, extract};
use serde_json::Value;

/// A task that asks nothing, for its `check`.
struct Generated(AnswerType);

impl Task for Generated {
    fn name(&self) -> &'static str {
        "generated"
    }

    fn description(&self) -> &'static str {
        "Compares answers of one type."
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }

    fn answer_type(&self) -> AnswerType {
        self.0
    }

    fn generate(&self, _: &Params, _: &mut PyRandom) -> Test {
        unreachable!("only checks answers")
    }
}

fn answer_type(kind: &str) -> AnswerType {
    match kind {
        "integer" => AnswerType::Integer,
        "list" => AnswerType::List,
        "symbols" => AnswerType::Symbols,
        "date" => AnswerType::Date,
        "json" => AnswerType::Json,
        "cell" => AnswerType::Cell,
        "boolean" => AnswerType::Boolean,
        "choice" => AnswerType::Choice,
        other => panic!("unknown answer type {other}"),
    }
}

fn is_correct(scorer: &str, reply: &str, test: &Test) -> bool {
    let Some(answer) = extract(&Reply::from(reply)).answer else { return false };
    match scorer.strip_prefix("generated:") {
        Some(kind) => Generated(answer_type(kind)).check(&answer, test),
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
