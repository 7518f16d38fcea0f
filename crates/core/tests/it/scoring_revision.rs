//! Verdicts are frozen: a change of extraction or checking that changes one needs a new scoring revision.

use std::fmt::Write as _;
use std::path::Path;

use reasonscape_core::{
    Dataset, Json, Params, Reply, SCORING_REVISION, Scorer, Task, Test, TestStream, score, tasks,
};

/// Ways to state an answer, right or wrong: `{}` is where it stands.
const REPLIES: [&str; 30] = [
    "{}",
    "Answer: {}",
    "The answer is {}.",
    "**Answer:** {}",
    "**Final answer: {}**",
    "So the final answer is **{}**.",
    "First I look at it.\n\nThen I am done.\n\n\\boxed{{}}",
    "$\\boxed{\\text{{}}}$",
    "<answer>{}</answer>",
    "<think>It could be 17.</think>{}",
    "<think>It could be {}.</think>",
    "<think>It could be {}.",
    "Let me think.\n```\n{}\n```",
    "```json\n{}\n```",
    "# Answer\n\n{}",
    "- {}",
    "> {}",
    "\"{}\"",
    "`{}`",
    "({})",
    "{} is what I get.",
    "Answer: {}\n\nI hope this helps!",
    "Answer: 17\n\nNo, wait.\n\nAnswer: {}",
    "Answer: {}\n\nNo, wait.\n\nAnswer: 17",
    "ANSWER = {}",
    "The result: {}",
    "A) {}",
    "\u{ff21}nswer: {}",
    "  {}  \n",
    "I cannot tell.",
];

const DATASET: &str = r#"{"id": "1", "input": "Which is a fruit?", "target": "pear", "options": ["pear", "spade"]}
{"id": "2", "input": "How many?", "target": "1,000"}
{"id": "3", "input": "Who wrote it?", "target": ["Ann Lee", "A. Lee"]}"#;

fn verdicts_of(task: &dyn Task, tests: &[Test], lines: &mut String) {
    for (index, test) in tests.iter().enumerate() {
        let wrong = &tests[(index + 1) % tests.len()].target;
        for reply in REPLIES {
            for answer in [&test.target, wrong] {
                let text = reply.replace("{}", answer);
                let (outcome, found) = score(task, test, &Reply::from(text.as_str()), false);
                let (name, method, answer) = (task.name(), found.method.name(), found.answer);
                writeln!(lines, "{name} {index} {text:?} {outcome:?} {method} {answer:?}").unwrap();
            }
        }
    }
}

/// A dataset for each scorer: its questions, and answers in forms that the scorers read differently.
const SCORED: [(&str, &str, &[&str]); 11] = [
    (
        "exact",
        r#"{"input": "Where?", "target": "New York"}
{"input": "How many?", "target": "1,000"}"#,
        &["NEW  YORK", "New York City", "1000.0", "1009", "1000 clips"],
    ),
    (
        "choice",
        r#"{"input": "Which purrs?", "target": "a cat", "options": ["a dog", "a cat", "rain or snow"]}
{"input": "Is it?", "target": "No", "options": ["Yes", "No"]}
{"input": "Which?", "target": "C"}"#,
        &[
            "B",
            "(C)",
            "B, a cat",
            "B. a dog",
            "a cat, because a dog barks",
            "B is the wrong one",
            "No, it is not",
            "Yes",
            "C or D",
        ],
    ),
    (
        "yes_no",
        r#"{"input": "Is it?", "target": "yes"}
{"input": "Is it?", "target": "false"}"#,
        &[
            "Yes, there is no rain",
            "No, it is not true",
            "Yes. Wait, no.",
            "It is false",
            "Yes and no",
            "not true",
        ],
    ),
    (
        "numeric",
        r#"{"input": "How much?", "target": "$1,000"}
{"input": "How much?", "target": "20%"}
{"input": "How much?", "target": "3/4"}"#,
        &[
            "1000 dollars",
            "about 1000",
            "twice 1000",
            "0.2",
            "20",
            "0.75",
            "75%",
            "0.7500001",
            "3 + 997 = 1000",
        ],
    ),
    ("numeric:0.01", r#"{"input": "How much?", "target": "3.14"}"#, &["3.145", "3.16", "3.13 meters"]),
    (
        "math",
        r#"{"input": "?", "target": "$\\frac{1}{\\sqrt{2}}$"}
{"input": "?", "target": "(x+1)^2"}
{"input": "?", "target": "x=1, x=3"}
{"input": "?", "target": "\\sin x"}
{"input": "?", "target": "3"}"#,
        &[
            r"\frac{\sqrt2}{2}",
            "x^2+2x+1",
            "3, 1",
            r"$\sin X$",
            "about $3$",
            "$3$ squared",
            "2x+1 where x is 3",
            r"we get $\frac{1}{\sqrt 2}$",
        ],
    ),
    ("set", r#"{"input": "?", "target": "[3, 5, 8]"}"#, &["8, 5 and 3", "{3, 5, 8, 8}", "3, 5"]),
    ("list", r#"{"input": "?", "target": "[3, 5, 8]"}"#, &["3, 5 and 8", "8, 5, 3", "3, 5, 8, 13"]),
    (
        "json",
        r#"{"input": "?", "target": "{\"a\": 1, \"b\": [2]}"}"#,
        &[r#"{"b": [2.0], "a": 1}"#, r#"{"a": "1", "b": [2]}"#, "{'a': 1, 'b': [2]}"],
    ),
    ("regex", r#"{"input": "?", "target": "gr[ae]y( cat)?"}"#, &["grey cat", "Gray", "a gray cat"]),
    ("contains", r#"{"input": "?", "target": "taxi"}"#, &["Take a taxi.", "anything but a taxi", "taxis"]),
];

/// What every reply of the corpus is scored as, one line each.
fn verdicts() -> String {
    let mut lines = String::new();
    for task in tasks::all_versions().filter(|task| task.version() == 1) {
        let params = Params::new(task, &Json::Object([].into())).unwrap();
        let tests: Vec<Test> = TestStream::new(task, &params, 5).take(3).collect();
        verdicts_of(task, &tests, &mut lines);
    }
    let dataset = Dataset::parse("corpus", DATASET).unwrap();
    for task in dataset.tasks() {
        let tests: Vec<Test> = task.items().iter().map(|item| item.test.clone()).collect();
        verdicts_of(&**task, &tests, &mut lines);
    }
    for (scorer, questions, answers) in SCORED {
        let dataset = Dataset::parse(scorer, questions).unwrap().with_scorer(scorer.parse().unwrap());
        for task in dataset.tasks() {
            let tests: Vec<Test> = task.items().iter().map(|item| item.test.clone()).collect();
            verdicts_of(&**task, &tests, &mut lines);
            for (test, answer) in
                tests.iter().flat_map(|test| answers.iter().map(move |answer| (test, answer)))
            {
                let (outcome, found) = score(&**task, test, &Reply::from(*answer), false);
                let (target, answer) = (&test.target, (answer, found.answer));
                writeln!(lines, "{scorer} {target:?} {answer:?} {outcome:?}").unwrap();
            }
        }
    }
    lines
}

/// Each scorer has a dataset here, so that none can change unnoticed.
#[test]
fn every_scorer_is_guarded() {
    for scorer in Scorer::ALL {
        assert!(SCORED.iter().any(|(name, ..)| name.parse() == Ok(scorer)), "{scorer}");
    }
}

/// `REASONSCAPE_UPDATE_SNAPSHOTS=1` writes the file anew, under a revision that is higher than the one in it.
#[test]
fn verdicts_change_only_with_the_scoring_revision() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scoring_revision.txt");
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let (header, stored) = stored.split_once('\n').unwrap_or(("revision 0", ""));
    let revision: u32 = header.strip_prefix("revision ").unwrap().parse().unwrap();
    let verdicts = verdicts();
    if std::env::var_os("REASONSCAPE_UPDATE_SNAPSHOTS").is_some() && SCORING_REVISION > revision {
        std::fs::write(&path, format!("revision {SCORING_REVISION}\n{verdicts}")).unwrap();
        return;
    }
    assert_eq!(revision, SCORING_REVISION, "a new revision needs a new file: REASONSCAPE_UPDATE_SNAPSHOTS=1");
    let changed = stored.lines().zip(verdicts.lines()).find(|(stored, now)| stored != now);
    assert_eq!(changed, None, "a verdict has changed; raise SCORING_REVISION and write the file anew");
    assert_eq!(stored, verdicts);
}
