//! Writing the study.toml of a study that is made of choices, so that everything works with it as with any other.

use std::fmt::Write as _;
use std::path::Path;

use reasonscape_runner::{Prices, Study};
use serde_json::json;

use crate::failure::Failure;
use crate::output::write_file;

/// How models are asked; what is not said is left to the defaults of a study.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asking {
    pub(crate) base_url: String,
    pub(crate) provider: Option<String>,
    pub(crate) api_key_env: Option<String>,
    pub(crate) template: Option<String>,
    pub(crate) sampler: Option<String>,
    pub(crate) concurrency: Option<u32>,
    pub(crate) prices: Option<Prices>,
}

impl Asking {
    /// Adds an evaluation of this model to the text of a study.
    pub(crate) fn push(&self, text: &mut String, model: &str) {
        let mut line = |key: &str, value: &str| {
            // A JSON string is a TOML string, but for one character that TOML wants spelt out.
            let value = json!(value).to_string().replace('\u{7f}', "\\u007f");
            writeln!(text, "{key} = {value}").expect("a string takes everything");
        };
        line("\n[[eval]]\nmodel", model);
        line("base_url", &self.base_url);
        for (key, value) in [
            ("provider", &self.provider),
            ("api_key_env", &self.api_key_env),
            ("template", &self.template),
            ("sampler", &self.sampler),
        ] {
            if let Some(value) = value {
                line(key, value);
            }
        }
        let numbers = [
            ("concurrency", self.concurrency.map(f64::from)),
            ("price_prompt", self.prices.map(|prices| prices.prompt)),
            ("price_completion", self.prices.map(|prices| prices.completion)),
        ];
        for (key, value) in numbers {
            if let Some(value) = value {
                writeln!(text, "{key} = {value}").expect("a string takes everything");
            }
        }
    }
}

/// Writes the file of a study once it is known to be right.
pub(crate) fn write_study(folder: &Path, text: &str) -> Result<Study, Failure> {
    let study = Study::parse(text, folder)?;
    write_file(&folder.join(Study::FILE), |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(study)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_chosen_is_read_back_as_it_was() {
        let asking = Asking {
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            provider: Some("anthropic".to_owned()),
            concurrency: Some(3),
            prices: Some(Prices { prompt: 0.5, completion: 2.0 }),
            ..Asking::default()
        };
        let mut text = "suite = \"quick\"\n".to_owned();
        let odd = "a \"b\" \\ \u{e9}\n[[eval]]\u{7f}";
        asking.push(&mut text, odd);
        asking.push(&mut text, "plain");
        let study = Study::parse(&text, Path::new(".")).unwrap();
        assert_eq!(study.evals.iter().map(|eval| eval.model.as_str()).collect::<Vec<_>>(), [odd, "plain"]);
        assert_eq!((study.evals[0].limits.concurrency, study.evals[0].prices), (3, asking.prices));
    }
}
