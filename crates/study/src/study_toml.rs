//! Writing a `study.toml` from choices made in a form or on a command line.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde_json::json;

use crate::keys::{eval, study};
use crate::{Prices, Study, StudyError, write_file};

/// How a model is queried; what is `None` is left to the defaults of a study.
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

impl EvalSpec {
    /// Adds an evaluation of this model to the text of a study.
    pub fn append_eval(&self, text: &mut String, model: &str) {
        let mut line = |key: &str, value: &str| {
            // A JSON string is a TOML string, but for one character that TOML wants spelt out.
            let value = json!(value).to_string().replace('\u{7f}', "\\u007f");
            writeln!(text, "{key} = {value}").expect("a string takes everything");
        };
        line(&format!("\n[[{}]]\n{}", study::EVAL, eval::MODEL), model);
        line(eval::BASE_URL, &self.base_url);
        for (key, value) in [
            (eval::PROVIDER, &self.provider),
            (eval::API_KEY_ENV, &self.api_key_env),
            (eval::TEMPLATE, &self.template),
            (eval::SAMPLER, &self.sampler),
        ] {
            if let Some(value) = value {
                line(key, value);
            }
        }
        let numbers = [
            (eval::CONCURRENCY, self.concurrency.map(f64::from)),
            (eval::PRICE_PROMPT, self.prices.map(|prices| prices.prompt)),
            (eval::PRICE_COMPLETION, self.prices.map(|prices| prices.completion)),
        ];
        for (key, value) in numbers {
            if let Some(value) = value {
                writeln!(text, "{key} = {value}").expect("a string takes everything");
            }
        }
    }
}

/// Checks the text of a study and writes it to the study's folder.
///
/// # Errors
/// The [`StudyError`] of an invalid text, for which no file is written, or the error of the file system.
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
        let mut text = "suite = \"quick\"\n".to_owned();
        let odd = "a \"b\" \\ \u{e9}\n[[eval]]\u{7f}";
        spec.append_eval(&mut text, odd);
        spec.append_eval(&mut text, "plain");
        let study = Study::parse(&text, Path::new(".")).unwrap();
        assert_eq!(study.evals.iter().map(|eval| eval.model.as_str()).collect::<Vec<_>>(), [odd, "plain"]);
        assert_eq!((study.evals[0].limits.concurrency, study.evals[0].prices), (3, spec.prices));
    }
}
