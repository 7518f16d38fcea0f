//! The options of a question, and the option that a target refers to.

use serde_json::Value;

use super::row::{Row, scalar_text};

/// Letters for options.
pub(super) const LETTERS: std::ops::RangeInclusive<char> = 'A'..='Z';

/// Options and, where the dataset has them, their labels.
pub(super) struct Options {
    pub(super) texts: Vec<String>,
    labels: Vec<String>,
}

impl Options {
    /// The options of a row, if it has any.
    ///
    /// # Errors
    /// What is wrong with them, and what was expected.
    pub(super) fn read(row: &Row<'_>) -> Result<Option<Self>, String> {
        let expected = "a list of at least two texts, or {\"text\": […], \"label\": […]}";
        let Some(value) = row.columns.find(row.row, "options") else { return Ok(None) };
        let list = |value: &Value| -> Option<Vec<String>> {
            value
                .as_array()?
                .iter()
                .map(|item| scalar_text(item).map(|text| text.trim().to_owned()))
                .collect()
        };
        let parsed = match value {
            Value::Array(items) if items.is_empty() => return Ok(None),
            Value::Array(_) => list(value).map(|texts| Self { texts, labels: Vec::new() }),
            Value::Object(object) => object.get("text").and_then(list).and_then(|texts| {
                let labels = object.get("label").map_or(Some(Vec::new()), list)?;
                (labels.is_empty() || labels.len() == texts.len()).then_some(Self { texts, labels })
            }),
            // Table cells are strings; a string that looks like a list is parsed as one.
            Value::String(text) => serde_json::from_str(text)
                .ok()
                .and_then(|value: Value| list(&value))
                .map(|texts| Self { texts, labels: Vec::new() }),
            _ => None,
        };
        let options = parsed.ok_or_else(|| row.invalid("options", value, expected))?;
        if options.texts.len() < 2 || options.texts.iter().any(String::is_empty) {
            return Err(row.invalid("options", value, expected));
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

    /// The option that a target refers to: by its text, its label, its letter or its index from 0.
    pub(super) fn index_of(&self, target: &str) -> Option<usize> {
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
            .filter(|index| *index < self.texts.len())
            // `\boxed{D}` and `$D$` are the letter D.
            .or_else(|| {
                let cleaned = crate::clean(target);
                if cleaned == target { None } else { self.index_of(cleaned) }
            })
    }
}

/// Options that the question itself lists, one per line as `(A) …`, if the target is one of those letters.
pub(super) fn listed_options(input: &str, targets: &[String]) -> Option<(Vec<String>, usize)> {
    let [target] = targets else { return None };
    let letter = |text: &str| {
        let mut inside = text.strip_prefix('(')?.chars();
        let letter = inside.next().filter(char::is_ascii_uppercase)?;
        (inside.next()? == ')').then_some((letter, inside.as_str().trim().to_owned()))
    };
    let (target_letter, rest) = letter(target)?;
    let listed: Vec<(char, String)> = input.lines().filter_map(|line| letter(line.trim())).collect();
    let in_order =
        listed.iter().zip(LETTERS).all(|((found, text), expected)| *found == expected && !text.is_empty());
    let correct = listed.iter().position(|(found, _)| *found == target_letter)?;
    let options: Vec<String> = listed.into_iter().map(|(_, text)| text).collect();
    (rest.is_empty() && in_order && options.len() >= 2).then_some((options, correct))
}
