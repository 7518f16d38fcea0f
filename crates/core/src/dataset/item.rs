//! One question of a dataset.

use serde_json::{Map, Value, json};

use super::ColumnMap;
use crate::Test;

/// One question of a dataset, with its answer and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What names it apart from the others; empty until the dataset is complete, if it brings none.
    pub id: String,
    /// The question as the dataset has it.
    pub input: String,
    /// What is asked: the question with its context and options.
    pub test: Test,
    /// The part of the dataset that it belongs to.
    pub category: Option<String>,
    /// Text that the answer has to rest on.
    pub context: Option<String>,
    /// Anything else, handed on as it is.
    pub metadata: Option<Value>,
}

/// Letters for options.
const LETTERS: std::ops::RangeInclusive<char> = 'A'..='Z';

/// Takes the answer out of what a dataset has as target.
pub(super) type TargetOf<'f> = dyn Fn(&str) -> Result<String, String> + 'f;

impl Item {
    /// Reads an item from a row. `target_of` takes the answer out of longer targets, such as solutions.
    ///
    /// Targets may be several, all of them right. Options are texts, or texts with labels as in ARC
    /// (`{"text": […], "label": […]}`); a target is an option's text, its label, its letter or its place, counted from
    /// 0. Where there are none but the target is a letter in brackets, those are taken that the question itself lists,
    /// as BIG-Bench Hard does.
    ///
    /// # Errors
    /// What is missing or wrong, and what was expected.
    pub fn read(
        row: &Map<String, Value>,
        columns: &ColumnMap,
        target_of: Option<&TargetOf<'_>>,
    ) -> Result<Self, String> {
        let read = Row { row, columns };
        let input = read.text("input")?.ok_or_else(|| read.missing("input"))?;
        let targets = read.targets(target_of)?;
        let context = read.text("context")?;
        let category = read.scalar("category")?;
        let id = read.scalar("id")?.unwrap_or_default();
        let test = match read.options()? {
            Some(options) => choice(&input, context.as_deref(), &options, &targets)?,
            None => free_form(&input, context.as_deref(), targets),
        };
        let metadata = columns.find(row, "metadata").cloned();
        Ok(Self { id, input, test, category, context, metadata })
    }

    /// Every answer that is right.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.test.target).chain(&self.test.alternative_targets).map(String::as_str)
    }

    /// The item under the names that this project uses.
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
        if let Some(metadata) = &self.metadata {
            row.insert("metadata".to_owned(), metadata.clone());
        }
        Value::Object(row)
    }
}

/// A row that is being read.
struct Row<'r> {
    row: &'r Map<String, Value>,
    columns: &'r ColumnMap,
}

/// Options and, where the dataset has them, their labels.
struct Options {
    texts: Vec<String>,
    labels: Vec<String>,
}

impl Row<'_> {
    fn missing(&self, field: &str) -> String {
        let name = self.columns.name_of(field);
        let has: Vec<String> = self.row.keys().map(|key| format!("`{key}`")).collect();
        let has = if has.is_empty() { "nothing".to_owned() } else { has.join(", ") };
        let hint = if self.columns.is_mapped(field) {
            String::new()
        } else {
            format!("; `--map {field}=NAME` says where it stands")
        };
        format!("no `{name}` (there is {has}){hint}")
    }

    fn wrong(&self, field: &str, found: &Value, wanted: &str) -> String {
        format!("`{}` is {}; expected {wanted}", self.columns.name_of(field), described(found))
    }

    fn text(&self, field: &str) -> Result<Option<String>, String> {
        match self.columns.find(self.row, field) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() && field == "input" => {
                Err(format!("`{}` is empty; expected a question", self.columns.name_of(field)))
            }
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
            Some(Value::Array(parts)) if field == "context" => {
                let part = |part: &Value| part.as_str().map(str::to_owned);
                let parts: Option<Vec<String>> = parts.iter().map(part).collect();
                let wanted = "a text, or a list of texts";
                parts.map(|parts| Some(parts.join("\n\n"))).ok_or_else(|| {
                    self.wrong(field, self.columns.find(self.row, field).unwrap_or(&Value::Null), wanted)
                })
            }
            Some(other) => Err(self.wrong(field, other, "a text")),
        }
    }

    /// A text or a number, as text.
    fn scalar(&self, field: &str) -> Result<Option<String>, String> {
        match self.columns.find(self.row, field) {
            None => Ok(None),
            Some(value) => match plain(value) {
                Some(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
                None => Err(self.wrong(field, value, "a text or a number")),
            },
        }
    }

    fn targets(&self, target_of: Option<&TargetOf<'_>>) -> Result<Vec<String>, String> {
        let wanted = "a text, a number, or a list of those";
        let value = self.columns.find(self.row, "target").ok_or_else(|| self.missing("target"))?;
        let items = match value {
            Value::Array(items) => items.iter().collect(),
            single => vec![single],
        };
        let mut targets: Vec<String> = Vec::new();
        for item in items {
            let text = plain(item).ok_or_else(|| self.wrong("target", item, wanted))?;
            let text = target_of.map_or(Ok(text.clone()), |target_of| target_of(&text))?;
            if text.trim().is_empty() {
                return Err(format!("`{}` is empty; expected an answer", self.columns.name_of("target")));
            }
            let text = text.trim().to_owned();
            if !targets.contains(&text) {
                targets.push(text);
            }
        }
        if targets.is_empty() {
            return Err(self.wrong("target", value, "at least one answer"));
        }
        Ok(targets)
    }

    fn options(&self) -> Result<Option<Options>, String> {
        let wanted = "a list of at least two texts, or {\"text\": […], \"label\": […]}";
        let Some(value) = self.columns.find(self.row, "options") else { return Ok(None) };
        let list = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|item| plain(item).map(|text| text.trim().to_owned())).collect()
        };
        let read = match value {
            Value::Array(items) if items.is_empty() => return Ok(None),
            Value::Array(_) => list(value).map(|texts| Options { texts, labels: Vec::new() }),
            Value::Object(object) => object.get("text").and_then(list).and_then(|texts| {
                let labels = object.get("label").map_or(Some(Vec::new()), list)?;
                (labels.is_empty() || labels.len() == texts.len()).then_some(Options { texts, labels })
            }),
            // A table has only texts; one that looks like a list is one.
            Value::String(text) => serde_json::from_str(text)
                .ok()
                .and_then(|value: Value| list(&value))
                .map(|texts| Options { texts, labels: Vec::new() }),
            _ => None,
        };
        let options = read.ok_or_else(|| self.wrong("options", value, wanted))?;
        if options.texts.len() < 2 || options.texts.iter().any(String::is_empty) {
            return Err(self.wrong("options", value, wanted));
        }
        if options.texts.len() > LETTERS.count() {
            return Err(format!(
                "`options` has {} entries; at most {} have a letter",
                options.texts.len(),
                LETTERS.count()
            ));
        }
        Ok(Some(options))
    }
}

impl Options {
    /// The option that a target means: by its text, its label, its letter or its place from 0.
    fn place(&self, target: &str) -> Option<usize> {
        let bare = target.trim_matches(['(', ')', '.', ':', ' ']);
        let letter = || {
            let mut letters = bare.chars();
            let letter = letters.next().filter(|_| letters.next().is_none())?.to_ascii_uppercase();
            LETTERS.clone().position(|known| known == letter)
        };
        let labelled = || self.labels.iter().position(|label| label.eq_ignore_ascii_case(bare));
        let counted = || target.parse().ok();
        self.texts
            .iter()
            .position(|text| text == target)
            .or_else(|| if self.labels.is_empty() { letter().or_else(counted) } else { labelled() })
            .filter(|place| *place < self.texts.len())
    }
}

fn choice(input: &str, context: Option<&str>, options: &Options, targets: &[String]) -> Result<Test, String> {
    let mut right = Vec::new();
    for target in targets {
        let place = options.place(target).ok_or_else(|| {
            format!("`target` `{target}` is none of the options, by text, label, letter or place from 0")
        })?;
        right.push(options.texts[place].clone());
    }
    let target = right.remove(0);
    // A question that lists its options already is not made to list them twice.
    let shown =
        if options.texts.iter().all(|text| input.contains(text.as_str())) { &[][..] } else { &options.texts };
    Ok(Test {
        prompt: prompt(input, context, shown),
        target,
        alternative_targets: right,
        options: options.texts.clone(),
    })
}

/// A question without options of its own, unless it lists them itself.
fn free_form(input: &str, context: Option<&str>, mut targets: Vec<String>) -> Test {
    let prompt = prompt(input, context, &[]);
    if let Some((options, right)) = listed_options(input, &targets) {
        return Test::choice(prompt, options, right);
    }
    let alternative_targets = targets.split_off(1);
    Test { prompt, target: targets.remove(0), alternative_targets, options: Vec::new() }
}

/// Options that the question lists itself, a line each as `(A) …`, when the target is one of those letters.
fn listed_options(input: &str, targets: &[String]) -> Option<(Vec<String>, usize)> {
    let [target] = targets else { return None };
    let letter = |text: &str| {
        let mut inside = text.strip_prefix('(')?.chars();
        let letter = inside.next().filter(char::is_ascii_uppercase)?;
        (inside.next()? == ')').then_some((letter, inside.as_str().trim().to_owned()))
    };
    let (wanted, rest) = letter(target)?;
    let listed: Vec<(char, String)> = input.lines().filter_map(|line| letter(line.trim())).collect();
    let in_order = listed.iter().zip(LETTERS).all(|((found, text), due)| *found == due && !text.is_empty());
    let right = listed.iter().position(|(found, _)| *found == wanted)?;
    let options: Vec<String> = listed.into_iter().map(|(_, text)| text).collect();
    (rest.is_empty() && in_order && options.len() >= 2).then_some((options, right))
}

/// What is asked: what it rests on, the question, and what there is to choose from.
fn prompt(input: &str, context: Option<&str>, options: &[String]) -> String {
    let mut prompt = String::new();
    if let Some(context) = context {
        prompt.push_str(context.trim());
        prompt.push_str("\n\n");
    }
    prompt.push_str(input.trim());
    for (place, (letter, option)) in LETTERS.zip(options).enumerate() {
        prompt.push_str(if place == 0 { "\n\n" } else { "\n" });
        prompt.push(letter);
        prompt.push_str(". ");
        prompt.push_str(option);
    }
    prompt
}

/// A text, a number or a truth value, as text.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(truth) => format!("`{truth}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() > 40 => {
            format!("`{}…`", text.chars().take(40).collect::<String>().escape_debug())
        }
        Value::String(text) => format!("`{}`", text.escape_debug()),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
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
        ] {
            let first = item(row).unwrap();
            assert_eq!(item(&first.to_json().to_string()).unwrap(), first);
        }
    }

    #[test]
    fn reports_invalid_rows() {
        for (row, says) in [
            (r#"{"question": "?", "target": "1"}"#, "no `input` (there is `question`, `target`)"),
            (r#"{"input": "?"}"#, "no `target`"),
            (r#"{"input": "  ", "target": "1"}"#, "`input` is empty"),
            (r#"{"input": 5, "target": "1"}"#, "`input` is the number 5; expected a text"),
            (r#"{"input": "?", "target": " "}"#, "`target` is empty"),
            (r#"{"input": "?", "target": []}"#, "an empty list; expected at least one answer"),
            (r#"{"input": "?", "target": {"a": 1}}"#, "`target` is an object"),
            (r#"{"input": "?", "target": "z", "options": ["x", "y"]}"#, "none of the options"),
            (r#"{"input": "?", "target": "x", "options": ["x"]}"#, "at least two"),
            (r#"{"input": "?", "target": "x", "options": 3}"#, "`options` is the number 3"),
        ] {
            let error = item(row).unwrap_err();
            assert!(error.contains(says), "{row}: {error}");
        }
    }
}
