//! One question of a dataset.

use serde_json::{Map, Value, json};

use super::ColumnMap;
use super::options::Options;
use super::prompt::{choice_test, free_form_test};
use super::row::{Row, TargetOf};
use crate::{Scorer, Test};

/// One question of a dataset, with its answer and metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Unique id; empty until the dataset is complete if the file has no ids.
    pub id: String,
    /// The question as in the dataset.
    pub input: String,
    /// The prompt: the question with its context and options.
    pub test: Test,
    /// The category that it belongs to.
    pub category: Option<String>,
    /// Context that the answer must be based on.
    pub context: Option<String>,
    /// Other fields, passed through unchanged.
    pub metadata: Option<Value>,
    /// The scorer that the row itself names; it overrides the dataset's.
    pub scorer: Option<Scorer>,
    /// Line or row in the file, from 1; 0 if it wasn't read from one.
    pub line: usize,
}

impl Item {
    /// Reads an item from a row. `target_of` extracts the answer from longer targets, such as worked solutions.
    ///
    /// There may be several targets, all of them correct. Options are texts, or texts with labels as in ARC
    /// (`{"text": […], "label": […]}`); a target is an option's text, its label, its letter or its index, counted from
    /// 0. Without options but with a letter in brackets as target, the options are read from the question's own list,
    /// as in BIG-Bench Hard.
    ///
    /// # Errors
    /// What is missing or invalid, and what was expected.
    pub fn read(
        row: &Map<String, Value>,
        columns: &ColumnMap,
        target_of: Option<&TargetOf<'_>>,
    ) -> Result<Self, String> {
        let fields = Row { row, columns };
        let input = fields.text("input")?.ok_or_else(|| fields.missing("input"))?;
        let targets = fields.targets(target_of)?;
        let context = fields.text("context")?;
        let category = fields.scalar("category")?;
        let id = fields.scalar("id")?.unwrap_or_default();
        let scorer: Option<Scorer> = match fields.scalar("scorer")? {
            Some(name) => {
                Some(name.parse().map_err(|error| format!("`{}`: {error}", columns.name_of("scorer")))?)
            }
            None => None,
        };
        let mut test = match Options::read(&fields)? {
            Some(options) => choice_test(&input, context.as_deref(), &options, &targets)?,
            None => free_form_test(&input, context.as_deref(), targets),
        };
        test.scorer = scorer;
        let metadata = columns.find(row, "metadata").cloned();
        Ok(Self { id, input, test, category, context, metadata, scorer, line: 0 })
    }

    /// All correct answers.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.test.target).chain(&self.test.alternative_targets).map(String::as_str)
    }

    /// Sets how the answers are compared, unless the row names a scorer itself.
    pub(super) fn set_scorer(&mut self, scorer: Scorer) {
        self.test.scorer = Some(self.scorer.unwrap_or(scorer));
    }

    /// What is wrong with a target: a reply that states it would be incorrect, or it isn't what its scorer compares.
    pub fn target_problem(&self) -> Option<String> {
        let scorer = self.test.scorer?;
        self.targets().find_map(|target| {
            let what = scorer.target_problem(target).or_else(|| {
                (!["", "Answer: "].iter().all(|before| self.is_found(scorer, &format!("{before}{target}")))).then(|| {
                    "is not found by the extraction of answers, so a reply that states it is scored incorrect"
                        .to_owned()
                })
            })?;
            let shown: String = target.chars().take(60).collect();
            Some(format!("target `{}` {what}", shown.escape_debug()))
        })
    }

    /// Whether a reply is scored correct.
    fn is_found(&self, scorer: Scorer, reply: &str) -> bool {
        let found = crate::extract(&crate::Reply::from(reply));
        found.answer.is_some_and(|answer| scorer.score(&answer, &self.test).is_correct)
    }

    /// The item with the default field names.
    pub fn to_json(&self) -> Value {
        let mut row = Map::new();
        row.insert("id".to_owned(), json!(self.id));
        row.insert("input".to_owned(), json!(self.input));
        let target = if self.test.alternative_targets.is_empty() {
            json!(self.test.target)
        } else {
            json!(self.targets().collect::<Vec<_>>())
        };
        row.insert("target".to_owned(), target);
        if !self.test.options.is_empty() {
            row.insert("options".to_owned(), json!(self.test.options));
        }
        for (field, value) in [("category", &self.category), ("context", &self.context)] {
            if let Some(value) = value {
                row.insert(field.to_owned(), json!(value));
            }
        }
        if let Some(scorer) = self.scorer {
            row.insert("scorer".to_owned(), json!(scorer.to_string()));
        }
        if let Some(metadata) = &self.metadata {
            row.insert("metadata".to_owned(), metadata.clone());
        }
        Value::Object(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(row: &str) -> Result<Item, String> {
        mapped(row, "")
    }

    fn mapped(row: &str, columns: &str) -> Result<Item, String> {
        let Value::Object(row) = serde_json::from_str(row).unwrap() else { panic!("a row is an object") };
        Item::read(&row, &columns.parse().unwrap(), None)
    }

    #[test]
    fn reads_known_dataset_layouts() {
        let arc = r#"{"id": "Mercury_1", "question": "Which is a metal?",
            "choices": {"text": ["wood", "iron", "glass"], "label": ["1", "2", "3"]}, "answerKey": "2"}"#;
        let arc = mapped(arc, "input=question,options=choices,target=answerKey").unwrap();
        assert_eq!(arc.test.target, "iron");
        assert_eq!(arc.test.prompt, "Which is a metal?\n\nA. wood\nB. iron\nC. glass");
        let mmlu = r#"{"question": "Which is a metal?", "choices": ["wood", "iron"], "answer": 1, "subject": "things"}"#;
        let mmlu = mapped(mmlu, "input=question,options=choices,target=answer,category=subject").unwrap();
        assert_eq!((mmlu.test.target.as_str(), mmlu.category.as_deref()), ("iron", Some("things")));
        let hard = r#"{"input": "Which is a metal?\nOptions:\n(A) wood\n(B) iron", "target": "(B)"}"#;
        let hard = item(hard).unwrap();
        assert_eq!((hard.test.target.as_str(), hard.test.guess()), ("iron", 0.5));
        assert_eq!(hard.test.prompt, hard.input);
        let several = item(r#"{"input": "Where?", "target": ["Oslo", "Oslo, Norway", "Oslo"]}"#).unwrap();
        assert_eq!(several.targets().collect::<Vec<_>>(), ["Oslo", "Oslo, Norway"]);
    }

    #[test]
    fn number_is_an_option_index_only_if_not_an_option() {
        let numbers =
            item(r#"{"input": "Which is even?", "options": ["1", "2", "3"], "target": 2}"#).unwrap();
        assert_eq!(numbers.test.target, "2");
        let places = item(r#"{"input": "Which is even?", "options": ["one", "two"], "target": 1}"#).unwrap();
        assert_eq!(places.test.target, "two");
    }

    #[test]
    fn items_round_trip() {
        for row in [
            r#"{"id": 7, "input": "6 * 7?", "target": 42}"#,
            r#"{"id": "a", "input": "Where?", "target": ["Oslo", "Bergen"], "context": "Norway.", "metadata": {"x": [1]}}"#,
            r#"{"id": "b", "input": "Which?", "options": {"text": ["x", "y"], "label": ["P", "Q"]}, "target": "Q", "category": "c/d"}"#,
            r#"{"id": "c", "input": "Which?\n(A) x\n(B) y", "target": "(A)"}"#,
            r#"{"id": "d", "input": "How much?", "target": "1/3", "scorer": "numeric:1/100"}"#,
        ] {
            let first = item(row).unwrap();
            assert_eq!(item(&first.to_json().to_string()).unwrap(), first);
        }
    }

    #[test]
    fn reports_invalid_rows() {
        for (row, says) in [
            (r#"{"question": "?", "target": "1"}"#, "missing field `input` (found `question`, `target`)"),
            (r#"{"input": "?"}"#, "missing field `target`"),
            (r#"{"input": "  ", "target": "1"}"#, "`input` is empty"),
            (r#"{"input": 5, "target": "1"}"#, "`input` is the number 5; expected a text"),
            (r#"{"input": "?", "target": " "}"#, "`target` is empty"),
            (r#"{"input": "?", "target": []}"#, "an empty list; expected at least one answer"),
            (r#"{"input": "?", "target": {"a": 1}}"#, "`target` is an object"),
            (r#"{"input": "?", "target": "z", "options": ["x", "y"]}"#, "not among the options"),
            (r#"{"input": "?", "target": "x", "options": ["x"]}"#, "at least two"),
            (r#"{"input": "?", "target": "x", "options": 3}"#, "`options` is the number 3"),
            (r#"{"input": "?", "target": "x", "scorer": "nummeric"}"#, "did you mean `numeric`?"),
            (r#"{"input": "?", "target": "x", "scorer": "math:2"}"#, "the scorer `math` has no parameter"),
        ] {
            let error = item(row).unwrap_err();
            assert!(error.contains(says), "{row}: {error}");
        }
    }
}
