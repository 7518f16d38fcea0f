//! Writes a `study.toml` from choices made in a form or on the command line.

use std::fmt::{Display, Formatter};
use std::io;
use std::path::Path;

use toml_edit::{DocumentMut, Item, Table, TomlError, value};

use crate::keys::{eval, study};
use crate::{Prices, Study, StudyError, write_file};

/// Request settings of a model; `None` means the default of a study.
#[derive(Debug, Clone, Default)]
pub struct EvalSpec {
    /// As `base_url` in a study.
    pub base_url: String,
    /// As `provider` in a study.
    pub provider: Option<String>,
    /// As `api_key_env` in a study.
    pub api_key_env: Option<String>,
    /// As `template` in a study.
    pub template: Option<String>,
    /// As `sampler` in a study.
    pub sampler: Option<String>,
    /// As `concurrency` in a study.
    pub concurrency: Option<u32>,
    /// As `price_prompt` and `price_completion` in a study.
    pub prices: Option<Prices>,
}

/// The text of a study being written or extended; comments and layout are preserved.
#[derive(Debug, Clone)]
pub struct StudyText {
    document: DocumentMut,
}

impl StudyText {
    /// Starts from an existing text.
    ///
    /// # Errors
    /// A [`StudyError`] when it is not valid TOML.
    pub fn parse(text: &str) -> Result<Self, StudyError> {
        let document = text.parse().map_err(|error: TomlError| StudyError::Invalid {
            origin: format!("`{}`", Study::FILE),
            line: None,
            // Only the message: the complete error would print the line, which may contain a pasted API key.
            problem: format!("invalid TOML: {}", error.message()),
        })?;
        Ok(Self { document })
    }

    /// Sets a top-level number.
    pub fn set_number(&mut self, key: &str, number: u32) {
        self.document[key] = value(i64::from(number));
    }

    /// Sets a top-level text.
    pub fn set_text(&mut self, key: &str, text: &str) {
        self.document[key] = value(text);
    }

    /// Changes the `base_url` of the evaluation with this position. Returns whether it has one such key of a single address.
    pub fn set_base_url(&mut self, index: usize, base_url: &str) -> bool {
        let evals = self.document.get_mut(study::EVAL).and_then(Item::as_array_of_tables_mut);
        let Some(item) =
            evals.and_then(|evals| evals.get_mut(index)).and_then(|table| table.get_mut(eval::BASE_URL))
        else {
            return false;
        };
        let is_single = item.is_str();
        if is_single {
            *item = value(base_url);
        }
        is_single
    }

    /// Adds an evaluation of a model.
    pub fn append_eval(&mut self, spec: &EvalSpec, model: &str) {
        let mut table = Table::new();
        table[eval::MODEL] = value(model);
        table[eval::BASE_URL] = value(&spec.base_url);
        for (key, text) in [
            (eval::PROVIDER, &spec.provider),
            (eval::API_KEY_ENV, &spec.api_key_env),
            (eval::TEMPLATE, &spec.template),
            (eval::SAMPLER, &spec.sampler),
        ] {
            if let Some(text) = text {
                table[key] = value(text);
            }
        }
        if let Some(concurrency) = spec.concurrency {
            table[eval::CONCURRENCY] = value(i64::from(concurrency));
        }
        if let Some(prices) = spec.prices {
            table[eval::PRICE_PROMPT] = value(prices.prompt);
            table[eval::PRICE_COMPLETION] = value(prices.completion);
        }
        // Evaluations may also be an inline list, `eval = [{ … }]`.
        let evals = self.document.remove(study::EVAL).map(Item::into_array_of_tables);
        let mut evals = evals.and_then(Result::ok).unwrap_or_default();
        evals.push(table);
        self.document.insert(study::EVAL, Item::ArrayOfTables(evals));
    }
}

impl Display for StudyText {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.document.fmt(f)
    }
}

/// Validates the text of a study and writes it to the study directory.
///
/// # Errors
/// A [`StudyError`] if the text is invalid (nothing is written then), or the file system's error.
pub fn write_study<E>(dir: &Path, text: &str) -> Result<Study, E>
where
    E: From<StudyError> + From<io::Error>,
{
    let study = Study::parse(text, dir)?;
    write_file(&dir.join(Study::FILE), |out| Ok::<_, E>(out.write_all(text.as_bytes())?))?;
    Ok(study)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_evals_parse_back_unchanged() {
        let spec = EvalSpec {
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            provider: Some("anthropic".to_owned()),
            concurrency: Some(3),
            prices: Some(Prices { prompt: 0.5, completion: 2.0 }),
            ..EvalSpec::default()
        };
        let mut text = StudyText::parse("# of mine\nsuite = \"quick\"  # a small one\n").unwrap();
        let odd = "a \"b\" \\ \u{e9}\n[[eval]]\u{7f}";
        text.append_eval(&spec, odd);
        text.append_eval(&spec, "plain");
        text.set_number("repeats", 3);
        let text = text.to_string();
        assert!(
            text.starts_with("# of mine\nsuite = \"quick\"  # a small one\nrepeats = 3\n\n[[eval]]\n"),
            "{text}"
        );
        let study = Study::parse(&text, Path::new(".")).unwrap();
        assert_eq!(study.repeats, 3);
        assert_eq!(study.evals.iter().map(|eval| eval.model.as_str()).collect::<Vec<_>>(), [odd, "plain"]);
        assert_eq!((study.evals[0].limits.concurrency, study.evals[0].prices), (3, spec.prices));
    }
}
