//! Public datasets by the fields of their rows.

use reasonscape_core::ColumnMap;
use serde_json::{Map, Value};

use super::Survey;
use super::paths::resolve;

/// How the answer is found in a target that is a worked solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetRule {
    /// After the last `####`, as in GSM8K.
    AfterHashes,
    /// In the last `\boxed{…}`, as in MATH.
    Boxed,
}

/// A public dataset that is recognized by its fields.
#[derive(Debug)]
pub(super) struct KnownLayout {
    pub(super) name: &'static str,
    /// Names of fields, some of which a version of the dataset may lack.
    fields: &'static [(&'static str, &'static str)],
    is: fn(&Survey) -> bool,
    /// Rewrites a row before its fields are read.
    pub(super) prepare: Option<fn(&mut Map<String, Value>)>,
    pub(super) target: Option<TargetRule>,
    /// Where targets are numbers of options: the number of the first one.
    pub(super) first_option: Option<usize>,
    /// What else happens to the rows.
    pub(super) detail: Option<&'static str>,
}

const PLAIN: KnownLayout = KnownLayout {
    name: "",
    fields: &[],
    is: |_| false,
    prepare: None,
    target: None,
    first_option: None,
    detail: None,
};

/// The column names of an MMLU file without a header row.
const MMLU_COLUMNS: [&str; 6] = ["question", "A", "B", "C", "D", "answer"];

/// In this order: a layout with more fields comes before one that has a part of them.
static KNOWN: [KnownLayout; 27] = [
    KnownLayout {
        name: "BIG-bench",
        fields: &[("input", "input"), ("options", "options"), ("target", "target")],
        is: |survey| survey.has(&["input", "target_scores"]),
        detail: Some("options and targets from target_scores"),
        ..PLAIN
    },
    KnownLayout {
        name: "GSM8K",
        fields: &[("input", "question"), ("target", "answer")],
        is: |survey| {
            survey.has(&["question", "answer"])
                && survey.most("answer", |answer| answer.as_str().is_some_and(|text| text.contains("####")))
        },
        target: Some(TargetRule::AfterHashes),
        detail: Some("target after ####"),
        ..PLAIN
    },
    KnownLayout {
        name: "MATH with answers",
        fields: &[("id", "unique_id"), ("input", "problem"), ("target", "answer"), ("category", "subject")],
        is: |survey| survey.has(&["problem", "solution", "answer"]),
        ..PLAIN
    },
    KnownLayout {
        name: "MATH",
        fields: &[("input", "problem"), ("target", "solution"), ("category", "type")],
        is: |survey| {
            survey.has(&["problem", "solution"])
                && survey.most("solution", |text| text.as_str().is_some_and(|text| text.contains(r"\boxed")))
        },
        target: Some(TargetRule::Boxed),
        detail: Some(r"target in the last \boxed{…}"),
        ..PLAIN
    },
    KnownLayout {
        name: "MMLU-Pro",
        fields: &[
            ("id", "question_id"),
            ("input", "question"),
            ("options", "options"),
            ("target", "answer"),
            ("category", "category"),
        ],
        is: |survey| survey.has(&["question", "options", "answer", "answer_index"]),
        ..PLAIN
    },
    KnownLayout {
        name: "MMLU",
        fields: &[
            ("input", "question"),
            ("options", "choices"),
            ("target", "answer"),
            ("category", "subject"),
        ],
        is: |survey| survey.has(&["question", "choices", "answer"]) && survey.all("choices", has_list),
        first_option: Some(0),
        ..PLAIN
    },
    KnownLayout {
        name: "AI2 multiple choice",
        fields: &[
            ("id", "id"),
            ("input", "question.stem"),
            ("options", "question.choices"),
            ("target", "answerKey"),
        ],
        is: |survey| survey.has(&["question", "answerKey"]) && survey.all("question.stem", Value::is_string),
        ..PLAIN
    },
    KnownLayout {
        name: "ARC or CommonsenseQA",
        fields: &[("id", "id"), ("input", "question"), ("options", "choices"), ("target", "answerKey")],
        is: |survey| survey.has(&["question", "choices", "answerKey"]),
        ..PLAIN
    },
    KnownLayout {
        name: "OpenBookQA",
        fields: &[("id", "id"), ("input", "question_stem"), ("options", "choices"), ("target", "answerKey")],
        is: |survey| survey.has(&["question_stem", "choices", "answerKey"]),
        ..PLAIN
    },
    KnownLayout {
        name: "MedQA",
        fields: &[("input", "question"), ("options", "options"), ("target", "answer_idx")],
        is: |survey| survey.has(&["question", "options", "answer_idx"]),
        ..PLAIN
    },
    KnownLayout {
        name: "AQuA",
        fields: &[("input", "question"), ("options", "options"), ("target", "correct")],
        is: |survey| survey.has(&["question", "options", "correct"]),
        ..PLAIN
    },
    KnownLayout {
        name: "MathQA",
        fields: &[("input", "Problem"), ("options", "options"), ("target", "correct")],
        is: |survey| survey.has(&["Problem", "options", "correct"]),
        ..PLAIN
    },
    KnownLayout {
        name: "RACE",
        fields: &[
            ("input", "question"),
            ("context", "article"),
            ("options", "options"),
            ("target", "answer"),
        ],
        is: |survey| survey.has(&["article", "question", "options", "answer"]),
        ..PLAIN
    },
    KnownLayout {
        name: "LogiQA",
        fields: &[
            ("input", "query"),
            ("context", "context"),
            ("options", "options"),
            ("target", "correct_option"),
        ],
        is: |survey| survey.has(&["query", "options", "correct_option"]),
        first_option: Some(0),
        ..PLAIN
    },
    KnownLayout {
        name: "a table with option columns",
        fields: &[
            ("input", "question"),
            ("options", "A+B+C+D+E"),
            ("target", "answer"),
            ("category", "subject"),
        ],
        is: |survey| survey.has(&["question", "A", "B", "answer"]),
        ..PLAIN
    },
    KnownLayout {
        name: "MedMCQA",
        fields: &[
            ("id", "id"),
            ("input", "question"),
            ("options", "opa+opb+opc+opd"),
            ("target", "cop"),
            ("category", "subject_name"),
        ],
        is: |survey| survey.has(&["question", "opa", "opb", "cop"]),
        ..PLAIN
    },
    KnownLayout {
        name: "HellaSwag",
        fields: &[("input", "ctx"), ("options", "endings"), ("target", "label")],
        is: |survey| survey.has(&["ctx", "endings", "label"]),
        first_option: Some(0),
        ..PLAIN
    },
    KnownLayout {
        name: "WinoGrande",
        fields: &[("input", "sentence"), ("options", "option1+option2"), ("target", "answer")],
        is: |survey| survey.has(&["sentence", "option1", "option2", "answer"]),
        first_option: Some(1),
        ..PLAIN
    },
    KnownLayout {
        name: "PIQA",
        fields: &[("input", "goal"), ("options", "sol1+sol2"), ("target", "label")],
        is: |survey| survey.has(&["goal", "sol1", "sol2", "label"]),
        first_option: Some(0),
        ..PLAIN
    },
    KnownLayout {
        name: "Social IQa",
        fields: &[
            ("input", "question"),
            ("context", "context"),
            ("options", "answerA+answerB+answerC"),
            ("target", "label"),
        ],
        is: |survey| survey.has(&["question", "answerA", "answerB", "answerC", "label"]),
        first_option: Some(1),
        ..PLAIN
    },
    KnownLayout {
        name: "BoolQ",
        fields: &[("input", "question"), ("context", "passage"), ("target", "answer")],
        is: |survey| survey.has(&["question", "passage", "answer"]),
        ..PLAIN
    },
    KnownLayout {
        name: "SciQ",
        fields: &[("input", "question"), ("options", "options"), ("target", "correct_answer")],
        is: |survey| survey.has(&["question", "correct_answer", "distractor1"]),
        prepare: Some(|row| {
            sorted_options(row, &["correct_answer", "distractor1", "distractor2", "distractor3"]);
        }),
        detail: Some("options in alphabetical order"),
        ..PLAIN
    },
    KnownLayout {
        name: "GPQA",
        fields: &[
            ("input", "Question"),
            ("options", "options"),
            ("target", "Correct Answer"),
            ("category", "Subdomain"),
        ],
        is: |survey| survey.has(&["Question", "Correct Answer", "Incorrect Answer 1"]),
        prepare: Some(|row| {
            let names = ["Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"];
            sorted_options(row, &names);
        }),
        detail: Some("options in alphabetical order"),
        ..PLAIN
    },
    KnownLayout {
        name: "TruthfulQA",
        fields: &[("input", "question"), ("options", "options"), ("target", "target")],
        is: |survey| survey.has(&["question", "mc1_targets"]),
        prepare: Some(truthful_choice),
        detail: Some("options of mc1_targets in alphabetical order"),
        ..PLAIN
    },
    KnownLayout {
        name: "TruthfulQA",
        fields: &[("input", "Question"), ("target", "target"), ("category", "Category")],
        is: |survey| survey.has(&["Question", "Best Answer", "Correct Answers"]),
        prepare: Some(truthful_answers),
        detail: Some("targets from Best Answer and Correct Answers"),
        ..PLAIN
    },
    KnownLayout {
        name: "SVAMP",
        fields: &[
            ("id", "ID"),
            ("input", "Question"),
            ("context", "Body"),
            ("target", "Answer"),
            ("category", "Type"),
        ],
        is: |survey| survey.has(&["Body", "Question", "Answer"]),
        ..PLAIN
    },
    KnownLayout {
        name: "TriviaQA",
        fields: &[("id", "question_id"), ("input", "question"), ("target", "target")],
        is: |survey| survey.has(&["question", "answer"]) && survey.all("answer.value", Value::is_string),
        prepare: Some(|row| {
            let names = ["answer.value", "answer.aliases", "answer.normalized_aliases"];
            let texts = names.iter().filter_map(|name| resolve(row, name)).flat_map(|value| match value {
                Value::Array(items) => items,
                single => vec![single],
            });
            let texts: Vec<Value> = texts.collect();
            row.insert("target".to_owned(), Value::Array(texts));
        }),
        detail: Some("targets from answer.value and answer.aliases"),
        ..PLAIN
    },
];

/// The layout that the fields of a file's rows have.
pub(super) fn find(survey: &Survey) -> Option<&'static KnownLayout> {
    KNOWN.iter().find(|known| (known.is)(survey))
}

/// Field names that many datasets use, in the order in which they are tried.
const USUAL: [(&str, &[&str]); 5] = [
    ("id", &["id", "unique_id", "question_id", "qid", "ID"]),
    (
        "input",
        &[
            "input",
            "question",
            "problem",
            "prompt",
            "query",
            "instruction",
            "Question",
            "Problem",
            "question_text",
        ],
    ),
    (
        "target",
        &[
            "target",
            "answer",
            "final_answer",
            "gold",
            "answerKey",
            "correct_answer",
            "expected_answer",
            "expected",
            "reference_answer",
            "ground_truth",
            "label",
            "output",
            "Answer",
            "answers",
        ],
    ),
    ("options", &["options", "choices", "Options", "Choices"]),
    ("category", &["category", "subject", "topic", "Category"]),
];

/// The usual names of fields that a file has, if it has a question and an answer.
pub(super) fn usual_names(survey: &Survey) -> Option<ColumnMap> {
    let mut pairs = Vec::new();
    for (field, names) in USUAL {
        let found = names.iter().find(|name| survey.has(&[**name]));
        match found {
            Some(name) if *name != field => pairs.push(format!("{field}={name}")),
            None if matches!(field, "input" | "target") => return None,
            Some(_) | None => {}
        }
    }
    pairs.join(",").parse().ok()
}

impl KnownLayout {
    /// The names of the fields that the file has.
    pub(super) fn columns(&self, survey: &Survey) -> ColumnMap {
        let pairs = self.fields.iter().filter_map(|(field, name)| {
            if name.contains('+') {
                let parts: Vec<&str> = name.split('+').filter(|part| survey.has(&[part])).collect();
                return Some(format!("{field}={}", parts.join("+")));
            }
            let is_made = self.prepare.is_some() && !survey.has(&[name]);
            let is_needed = is_made || matches!(*field, "input" | "target" | "options");
            (field != name && (is_needed || survey.has(&[name]))).then(|| format!("{field}={name}"))
        });
        let pairs: Vec<String> = pairs.collect();
        pairs.join(",").parse().unwrap_or_default()
    }
}

/// The column names of an MMLU file without a header row, by its first row: five cells and the letter of the answer.
pub(crate) fn native_mmlu(first_row: &[String]) -> Option<Vec<String>> {
    let is_letter = |cell: &String| matches!(cell.as_str(), "A" | "B" | "C" | "D");
    let is_data = first_row.len() == MMLU_COLUMNS.len()
        && first_row.last().is_some_and(is_letter)
        && !first_row[1..5].iter().all(is_letter);
    is_data.then(|| MMLU_COLUMNS.map(str::to_owned).to_vec())
}

fn has_list(value: &Value) -> bool {
    value.is_array() || value.as_str().is_some_and(|text| text.trim_start().starts_with(['[', 'a']))
}

/// Options and targets of `{"option": score, …}`: the options with the highest score are correct.
pub(super) fn scored_options(row: &mut Map<String, Value>) {
    let Some(Value::Object(scores)) = row.get("target_scores") else { return };
    let score = |value: &Value| value.as_f64().unwrap_or(f64::NEG_INFINITY);
    let best = scores.values().map(score).fold(f64::NEG_INFINITY, f64::max);
    let options: Vec<Value> = scores.keys().map(|option| Value::String(option.clone())).collect();
    let targets = scores.iter().filter(|(_, value)| score(value) >= best && best > 0.0);
    let targets: Vec<Value> = targets.map(|(option, _)| Value::String(option.clone())).collect();
    row.insert("options".to_owned(), Value::Array(options));
    row.insert("target".to_owned(), Value::Array(targets));
}

/// Options from columns of which the first is the correct one, in alphabetical order so that its place reveals nothing.
fn sorted_options(row: &mut Map<String, Value>, names: &[&str]) {
    let mut texts: Vec<String> = names
        .iter()
        .filter_map(|name| row.get(*name)?.as_str().map(|text| text.trim().to_owned()))
        .filter(|text| !text.is_empty())
        .collect();
    texts.sort();
    texts.dedup();
    row.insert("options".to_owned(), texts.into());
}

/// `mc1_targets: {"choices": […], "labels": [1, 0, …]}`.
fn truthful_choice(row: &mut Map<String, Value>) {
    let list = |name: &str| resolve(row, name)?.as_array().cloned();
    let (Some(choices), Some(labels)) = (list("mc1_targets.choices"), list("mc1_targets.labels")) else {
        return;
    };
    let correct: Vec<Value> =
        choices.iter().zip(&labels).filter(|(_, label)| **label == 1).map(|(text, _)| text.clone()).collect();
    let mut texts: Vec<String> =
        choices.iter().filter_map(|text| Some(text.as_str()?.trim().to_owned())).collect();
    texts.sort();
    row.insert("options".to_owned(), texts.into());
    row.insert("target".to_owned(), Value::Array(correct));
}

/// `Best Answer`, and the texts of `Correct Answers`, which are separated by semicolons.
fn truthful_answers(row: &mut Map<String, Value>) {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    let texts = std::iter::once(text("Best Answer")).chain(text("Correct Answers").split(';')).map(str::trim);
    let targets: Vec<String> = texts.filter(|text| !text.is_empty()).map(str::to_owned).collect();
    row.insert("target".to_owned(), targets.into());
}
