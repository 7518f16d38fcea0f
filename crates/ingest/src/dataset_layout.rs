//! Layouts of datasets: which fields hold what, and how options and targets are written.
//!
//! A row is rewritten in the field's own terms before `Item::read` sees it: nested paths are resolved, options become a list,
//! and a target that is an index becomes the option's text. What isn't recognized is left as it is.

mod known;
mod options;
mod paths;

use std::collections::BTreeMap;

use reasonscape_core::{ColumnMap, closest};
use serde_json::{Map, Value};

use self::known::KnownLayout;
pub(crate) use self::known::{TargetRule, native_mmlu};
use self::options::{canonical_options, dashed_options, option_count, option_texts};
use self::paths::{is_path, resolve};
use crate::tabular_reader::row_size;

/// Rows that are kept to look at.
const MAX_SAMPLES: usize = 50;
/// Bytes of rows that are kept to look at, beyond the first row.
const MAX_SAMPLE_BYTES: u64 = 4 << 20;
/// Distinct fields that are counted; more mean that names are data.
const MAX_FIELDS: usize = 256;

/// What the rows of a file have in common.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The fields that any row has with a value.
    fields: BTreeMap<String, usize>,
    samples: Vec<Map<String, Value>>,
    /// What the samples take.
    sample_bytes: u64,
    rows: usize,
}

impl Survey {
    pub(crate) fn add(&mut self, row: &Map<String, Value>) {
        self.rows += 1;
        for (name, _) in row.iter().filter(|(_, value)| !value.is_null()) {
            if let Some(count) = self.fields.get_mut(name) {
                *count += 1;
            } else if self.fields.len() < MAX_FIELDS {
                self.fields.insert(name.clone(), 1);
            }
        }
        let bytes = row_size(row);
        let has_room = self.samples.is_empty() || self.sample_bytes + bytes <= MAX_SAMPLE_BYTES;
        if self.samples.len() < MAX_SAMPLES && has_room {
            self.sample_bytes += bytes;
            self.samples.push(row.clone());
        }
    }

    /// Bytes that the kept rows take, however large the rows of the file are: those of the first, or a few millions.
    pub(crate) fn sample_bytes(&self) -> u64 {
        self.sample_bytes
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.fields.contains_key(*name))
    }

    /// Whether a value of every sampled row satisfies a condition.
    fn all(&self, path: &str, is: impl Fn(&Value) -> bool) -> bool {
        !self.samples.is_empty()
            && self.samples.iter().all(|row| resolve(row, path).is_some_and(|value| is(&value)))
    }

    /// Whether a value of most sampled rows satisfies a condition: the others are errors in their lines.
    fn most(&self, path: &str, is: impl Fn(&Value) -> bool) -> bool {
        let found = |row: &&Map<String, Value>| resolve(row, path).is_some_and(|value| is(&value));
        2 * self.samples.iter().filter(found).count() > self.samples.len()
    }

    /// Whether a row has a value for a name, which may be a path.
    fn finds(&self, name: &str) -> bool {
        if self.fields.contains_key(name) {
            return true;
        }
        // Only the first step is known of all rows.
        is_path(name)
            && name.split('+').all(|part| self.fields.contains_key(part.split('.').next().unwrap_or(part)))
    }

    /// The message about a mapped field that no row has.
    pub(crate) fn missing_field(&self, columns: &ColumnMap) -> Option<String> {
        let (field, name) = columns.renamed().find(|(_, name)| !self.finds(name))?;
        if self.rows == 0 {
            return None;
        }
        let known: Vec<&str> = self.fields.keys().map(String::as_str).collect();
        let hint = closest(name, &known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let shown = known.iter().take(20).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Some(format!("`--map {field}={name}`: no line has `{name}`{hint} (found {shown})"))
    }
}

/// How the rows of a file are read.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) columns: ColumnMap,
    known: Option<&'static KnownLayout>,
    /// Where targets are numbers of options: the number of the first option.
    first_option: Option<usize>,
    /// Whether only what was never accepted otherwise is rewritten.
    is_strict: bool,
}

impl Layout {
    /// The mapping by column names only.
    pub(crate) fn strict(columns: ColumnMap) -> Self {
        Self { columns, known: None, first_option: None, is_strict: true }
    }

    /// The layout of a file with these rows. Without `columns`, well-known field names are recognized.
    pub(crate) fn recognize(columns: ColumnMap, survey: &Survey) -> Self {
        let is_mapped = columns.renamed().next().is_some();
        let has_own = survey.has(&["input", "target"]);
        let known = if is_mapped || has_own { None } else { known::find(survey) };
        let columns = match known {
            Some(known) => known.columns(survey),
            None if is_mapped || has_own => columns,
            None => known::usual_names(survey).unwrap_or(columns),
        };
        Self { columns, known, first_option: None, is_strict: false }
    }

    /// The note on a recognized layout.
    pub(crate) fn announcement(&self) -> Option<String> {
        let renamed: Vec<String> =
            self.columns.renamed().map(|(field, name)| format!("{field}={name}")).collect();
        let fields = renamed.join(", ");
        match self.known {
            Some(known) => {
                let detail = known.detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
                Some(format!("looks like {}: {fields}{detail}", known.name))
            }
            None => (!fields.is_empty()).then(|| format!("reading {fields}")),
        }
    }

    /// The rule of the known layout for targets that are worked solutions.
    pub(crate) fn target_rule(&self) -> Option<TargetRule> {
        self.known.and_then(|known| known.target)
    }

    /// Whether targets may be numbers of options, so that all rows must be read.
    pub(crate) fn may_count_options(&self, survey: &Survey) -> bool {
        !self.is_strict
            && survey.samples.iter().any(|row| {
                let mut row = row.clone();
                self.rewrite(&mut row);
                self.option_number(&row).is_some()
            })
    }

    /// The target of a rewritten row as a number, the number of its options, and whether it is an option's text too.
    fn option_number(&self, row: &Map<String, Value>) -> Option<(usize, usize, bool)> {
        let options = row.get(self.columns.name_of("options"))?;
        let count = option_count(options)?;
        let target = row.get(self.columns.name_of("target"))?;
        let text = match target {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.trim().to_owned(),
            _ => return None,
        };
        let is_text = option_texts(options).contains(&text);
        Some((text.parse().ok()?, count, is_text))
    }

    /// With the numbering of options that all targets agree on, if any does not name an option by its text.
    pub(crate) fn with_numbering(mut self, numbering: &Numbering) -> Self {
        self.first_option = numbering.first(self.known_first());
        self
    }

    /// The number of the first option in the known layout.
    fn known_first(&self) -> Option<usize> {
        self.known.and_then(|known| known.first_option)
    }

    /// Rewrites the fields of a row.
    pub(crate) fn rewrite(&self, row: &mut Map<String, Value>) {
        if let Some(prepare) = self.known.and_then(|known| known.prepare) {
            prepare(row);
        }
        if row.get("target_scores").is_some_and(Value::is_object) && !row.contains_key("options") {
            known::scored_options(row);
        }
        for (_, name) in self.columns.renamed() {
            if !row.contains_key(name)
                && let Some(value) = resolve(row, name)
            {
                row.insert(name.to_owned(), value);
            }
        }
        let options = self.columns.name_of("options");
        if let Some(found) = row.get(options)
            && let Some(canonical) = canonical_options(found, self.is_strict)
        {
            row.insert(options.to_owned(), canonical);
        }
        if self.is_strict {
            return;
        }
        if !row.contains_key(options)
            && let Some(listed) = self.listed_options(row)
        {
            row.insert(options.to_owned(), listed);
        }
        if let Some(first) = self.first_option
            && let Some((number, count, _)) = self.option_number(row)
            && (first..first + count).contains(&number)
            && let Some(options) = row.get(options)
        {
            let text = option_texts(options).swap_remove(number - first);
            row.insert(self.columns.name_of("target").to_owned(), Value::String(text));
        }
    }

    /// Options that the question lists with dashes, as BIG-Bench Hard does.
    fn listed_options(&self, row: &Map<String, Value>) -> Option<Value> {
        let input = row.get(self.columns.name_of("input"))?.as_str()?;
        let target = row.get(self.columns.name_of("target"))?.as_str()?;
        let listed = dashed_options(input, target)?;
        Some(Value::Array(listed.into_iter().map(|option| Value::String(option.to_owned())).collect()))
    }
}

/// What the targets of all rows imply about numbers of options.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    rows: usize,
    /// Rows whose target isn't the number of an option, from 0 or from 1.
    other: usize,
    zeros: usize,
    /// Targets that equal the number of options.
    last: usize,
    /// Targets that aren't the text of an option, and so are numbers.
    only_number: usize,
}

impl Numbering {
    pub(crate) fn add(&mut self, layout: &Layout, row: &Map<String, Value>) {
        self.rows += 1;
        match layout.option_number(row) {
            Some((number, count, is_text)) if number <= count => {
                self.zeros += usize::from(number == 0);
                self.last += usize::from(number == count);
                self.only_number += usize::from(!is_text);
            }
            _ => self.other += 1,
        }
    }

    /// The number of the first option, if all targets are numbers of options. Where they could begin at 0 and at 1, it is
    /// what the known layout says, or 0.
    fn first(&self, known: Option<usize>) -> Option<usize> {
        let is_numbered = self.rows > 0 && self.other == 0 && self.only_number > 0;
        match (self.zeros, self.last) {
            _ if !is_numbered => None,
            (0, 0) => Some(known.unwrap_or(0)),
            (_, 0) => Some(0),
            (0, _) => Some(1),
            _ => None,
        }
    }

    /// The note on it.
    pub(crate) fn announcement(&self, layout: &Layout) -> Option<String> {
        let known = layout.known_first();
        let first = self.first(known)?;
        let is_open = (self.zeros, self.last) == (0, 0) && known.is_none();
        let doubt = if is_open {
            "; none is 0 or the number of the last option, so if they count from 1, replace them by the options' texts or \
             letters"
        } else {
            ""
        };
        Some(format!("targets are numbers of options, from {first}{doubt}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey_of(rows: usize, length: usize) -> Survey {
        let row = Map::from_iter([("input".to_owned(), Value::String("x".repeat(length)))]);
        let mut survey = Survey::default();
        for _ in 0..rows {
            survey.add(&row);
        }
        survey
    }

    /// A small file can have many large rows: a dictionary repeats one text.
    #[test]
    fn kept_rows_are_bounded_in_bytes() {
        let large = survey_of(60, 3 << 20);
        assert_eq!((large.samples.len(), large.rows), (1, 60));
        assert!(large.sample_bytes() < 4 << 20);
        let medium = survey_of(60, 1 << 20);
        assert!(medium.samples.len() == 3 && medium.sample_bytes() <= MAX_SAMPLE_BYTES);
        assert_eq!(survey_of(60, 10).samples.len(), MAX_SAMPLES);
    }
}
