//! Verdicts are frozen: a change of extraction or checking that changes one needs a new scoring revision.

use std::fmt::Write as _;
use std::path::Path;

use reasonscape_core::{
    Dataset, Json, Params, Reply, SCORING_REVISION, Task, Test, TestStream, score, tasks,
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

/// What every reply of the corpus is scored as, one line each.
fn verdicts() -> String {
    let mut lines = String::new();
    for task in tasks::all() {
        let params = Params::new(task, &Json::Object([].into())).unwrap();
        let tests: Vec<Test> = TestStream::new(task, &params, 5).take(3).collect();
        verdicts_of(task, &tests, &mut lines);
    }
    let dataset = Dataset::parse("corpus", DATASET).unwrap();
    for task in dataset.tasks() {
        let tests: Vec<Test> = task.items().iter().map(|item| item.test.clone()).collect();
        verdicts_of(&**task, &tests, &mut lines);
    }
    lines
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
