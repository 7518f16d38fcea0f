//! The request that creates a run, as a form or as JSON.

use reasonscape_core::{ColumnMap, Scorer, Suite};
use reasonscape_study::{EvalSpec, Prices, StudyText};
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use url::form_urlencoded;

use crate::error::ApiError;
use reasonscape_ingest::dataset_reader::{DatasetFormat, TargetExtraction};

/// Maximum number of models per run.
const MAX_MODELS: usize = 100;
/// Maximum number of problems per point, as in a suite.
const MAX_COUNT: u32 = 100_000;
/// The comment at the top of the study.toml of a run.
const HEAD: &str = "# Created in the web app. Edit as needed; `reasonscape run` on this directory sends the missing requests.\n";

/// The source of the problems of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RunSource {
    /// The served study, or a part of it.
    Study,
    /// A suite, with the models of the request.
    Suite,
    /// A dataset, with the models of the request.
    Dataset,
}

/// A run to create. Absent fields have the defaults of a study.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewRun")]
pub(crate) struct CreateRunRequest {
    /// The source of the problems: the served study, a suite, or a dataset. Required.
    source: Option<RunSource>,
    /// Former name of `source`.
    #[schemars(extend("deprecated" = true))]
    ask: Option<RunSource>,
    /// A built-in suite, or `study` for that of the study.
    pub(super) suite: Option<String>,
    /// The name of an uploaded dataset.
    pub(super) dataset: Option<String>,
    /// The names of its columns, such as `input=question,target=answer`.
    map: Option<String>,
    /// A regular expression that finds the answer in the target.
    target_regex: Option<String>,
    /// How answers are compared with the targets of the dataset; detected from them by default.
    pub(super) scorer: Option<String>,
    /// The size of a random sample of the questions.
    pub(super) sample: Option<u32>,
    /// The models.
    #[serde(default)]
    pub(super) models: Vec<String>,
    /// The base URL of the endpoint.
    base_url: Option<String>,
    /// The API of the endpoint.
    #[schemars(extend("enum" = ["openai-chat", "openai-text", "anthropic", null]))]
    provider: Option<String>,
    /// The environment variable of the server that holds the API key.
    pub(super) api_key_env: Option<String>,
    /// The prompt template.
    template: Option<String>,
    /// The sampling parameters.
    sampler: Option<String>,
    /// Maximum number of requests in flight at each base URL.
    concurrency: Option<u32>,
    /// The price of a million prompt tokens.
    price_prompt: Option<f64>,
    /// The price of a million completion tokens.
    price_completion: Option<f64>,
    /// Problems per point.
    pub(super) count: Option<u32>,
    /// Samples per problem.
    repeats: Option<u32>,
    /// Evaluations of the study, by id.
    #[serde(default)]
    pub(super) evals: Vec<String>,
    /// Tasks of the study.
    #[serde(default)]
    pub(super) tasks: Vec<String>,
}

impl CreateRunRequest {
    /// Reads JSON.
    pub(crate) fn from_json(body: &[u8]) -> Result<Self, ApiError> {
        let request: Self = serde_json::from_slice(body)
            .map_err(|error| ApiError::bad_request(format_args!("invalid run request: {error}")))?;
        if request.source.or(request.ask).is_none() {
            return Err(ApiError::bad_request(
                "invalid run request: missing field `source`; expected `study`, `suite` or `dataset`",
            ));
        }
        request.checked()
    }

    /// The source of the problems; a form without one means a suite.
    pub(super) fn source(&self) -> RunSource {
        self.source.unwrap_or(RunSource::Suite)
    }

    /// Reads a form; empty fields count as absent.
    pub(crate) fn from_form(body: &[u8]) -> Result<Self, ApiError> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(body)
            .map(|(name, value)| (name.into_owned(), value.trim().to_owned()))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let all = |field: &str| -> Vec<String> {
            let found = pairs.iter().filter(|(name, _)| name == field);
            found
                .flat_map(|(_, value)| value.lines())
                .map(|line| line.trim().to_owned())
                .filter(|line| !line.is_empty())
                .collect()
        };
        let text = |field: &str| pairs.iter().find(|(name, _)| name == field).map(|(_, value)| value.clone());
        let source = |field: &str| match text(field).as_deref() {
            None => Ok(None),
            Some("study") => Ok(Some(RunSource::Study)),
            Some("dataset") => Ok(Some(RunSource::Dataset)),
            Some("suite") => Ok(Some(RunSource::Suite)),
            Some(other) => Err(ApiError::bad_request(format_args!(
                "`{field}={other}` is unknown; expected `study`, `suite` or `dataset`"
            ))),
        };
        let request = Self {
            source: source("source")?,
            ask: source("ask")?, // wording: allow
            suite: text("suite"),
            dataset: text("dataset"),
            map: text("map"),
            target_regex: text("target_regex"),
            scorer: text("scorer"),
            sample: number(text("sample"), "questions")?,
            models: all("models"),
            base_url: text("base_url"),
            provider: text("provider"),
            api_key_env: text("api_key_env"),
            template: text("template"),
            sampler: text("sampler"),
            concurrency: number(text("concurrency"), "concurrent requests")?,
            price_prompt: number(text("price_prompt"), "prompt price")?,
            price_completion: number(text("price_completion"), "completion price")?,
            count: number(text("count"), "problems per point")?,
            repeats: number(text("repeats"), "samples per problem")?,
            evals: all("evals"),
            tasks: all("tasks"),
        };
        request.checked()
    }

    /// The filled-in form as a query string.
    pub(super) fn form(&self) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        let source = match self.source() {
            RunSource::Study => "study",
            RunSource::Suite => "suite",
            RunSource::Dataset => "dataset",
        };
        let models = self.models.join("\n");
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let price = |price: Option<f64>| price.map(|price| price.to_string());
        for (name, value) in [
            ("source", Some(source.to_owned())),
            ("suite", self.suite.clone()),
            ("dataset", self.dataset.clone()),
            ("map", self.map.clone()),
            ("target_regex", self.target_regex.clone()),
            ("scorer", self.scorer.clone()),
            ("sample", number(self.sample)),
            ("models", (!models.is_empty()).then_some(models)),
            ("base_url", self.base_url.clone()),
            ("provider", self.provider.clone()),
            ("api_key_env", self.api_key_env.clone()),
            ("template", self.template.clone()),
            ("sampler", self.sampler.clone()),
            ("concurrency", number(self.concurrency)),
            ("price_prompt", price(self.price_prompt)),
            ("price_completion", price(self.price_completion)),
            ("count", number(self.count)),
            ("repeats", number(self.repeats)),
        ] {
            if let Some(value) = value {
                form.append_pair(name, &value);
            }
        }
        for (name, values) in [("evals", &self.evals), ("tasks", &self.tasks)] {
            form.extend_pairs(values.iter().map(|value| (name, value)));
        }
        form.finish()
    }

    fn checked(mut self) -> Result<Self, ApiError> {
        let former = self.ask.take();
        if self.source.is_some() && former.is_some() && self.source != former {
            return Err(ApiError::bad_request(
                "invalid run request: `source` contradicts `ask`, its former name; give one of them", // wording: allow
            ));
        }
        self.source = Some(self.source.or(former).unwrap_or(RunSource::Suite));
        for (what, number) in [("count", self.count), ("repeats", self.repeats), ("sample", self.sample)] {
            if let Some(invalid) = number.filter(|number| !(1..=MAX_COUNT).contains(number)) {
                return Err(ApiError::bad_request(format_args!(
                    "`{what}` is {invalid}; expected a number from 1 to {MAX_COUNT}"
                )));
            }
        }
        if self.source() == RunSource::Study {
            return Ok(self);
        }
        if self.models.is_empty() || self.base_url.is_none() {
            return Err(ApiError::bad_request(
                "a run needs at least one model and the base URL of its endpoint, such as `http://127.0.0.1:8089/v1`",
            ));
        }
        if self.models.len() > MAX_MODELS {
            return Err(ApiError::bad_request(format_args!(
                "too many models; a run can have at most {MAX_MODELS}"
            )));
        }
        Ok(self)
    }

    /// The columns and the target pattern of the dataset.
    pub(super) fn dataset_format(&self) -> Result<DatasetFormat, ApiError> {
        let columns = match &self.map {
            Some(map) => map.parse::<ColumnMap>().map_err(ApiError::bad_request)?,
            None => ColumnMap::default(),
        };
        let compile = |text: &String| {
            Regex::new(text)
                .map_err(|error| ApiError::bad_request(format_args!("invalid `target_regex`: {error}")))
        };
        let target = self.target_regex.as_ref().map(compile).transpose()?;
        let target = target.map_or(TargetExtraction::Whole, TargetExtraction::Regex);
        Ok(DatasetFormat { columns, target, recognize: true, ..DatasetFormat::default() })
    }

    /// The scorer that is wanted for the dataset.
    pub(super) fn scorer(&self) -> Result<Option<Scorer>, ApiError> {
        self.scorer.as_deref().map(|name| name.parse().map_err(ApiError::bad_request)).transpose()
    }

    /// The text of the study.toml; `source_line` is the line that names the suite or the dataset.
    pub(super) fn study_toml(&self, source_line: &str) -> Result<String, ApiError> {
        let prices = match (self.price_prompt, self.price_completion) {
            (Some(prompt), Some(completion)) => Some(Prices { prompt, completion }),
            (None, None) => None,
            _ => {
                return Err(ApiError::bad_request(
                    "`price_prompt` and `price_completion` go together; give both, 0 if free",
                ));
            }
        };
        let spec = EvalSpec {
            base_url: self.base_url.clone().unwrap_or_default(),
            provider: self.provider.clone(),
            api_key_env: self.api_key_env.clone(),
            template: self.template.clone(),
            sampler: self.sampler.clone(),
            concurrency: self.concurrency,
            prices,
        };
        let mut text = StudyText::parse(&format!("{HEAD}{source_line}\n")).map_err(ApiError::bad_request)?;
        for (key, number) in [("count", self.count), ("repeats", self.repeats)] {
            // A dataset has one problem per question, so `count` does not apply.
            if let Some(number) = number.filter(|_| key == "repeats" || self.source() == RunSource::Suite) {
                text.set_number(key, number);
            }
        }
        for model in &self.models {
            text.append_eval(&spec, model);
        }
        Ok(text.to_string())
    }

    /// The name of the built-in suite; `None` for the suite of the study.
    pub(super) fn built_in_suite(&self) -> Result<Option<&str>, ApiError> {
        let name = self.suite.as_deref().unwrap_or("quick");
        if name == "study" {
            return Ok(None);
        }
        if Suite::built_in(name).is_none() {
            let known: Vec<&str> = Suite::built_in_names().collect();
            return Err(ApiError::bad_request(format_args!(
                "unknown suite `{name}`; expected one of {}, or `study` for the suite of the study",
                known.join(", ")
            )));
        }
        Ok(Some(name))
    }
}

/// Parses a number from a form field.
fn number<T: std::str::FromStr>(text: Option<String>, what: &str) -> Result<Option<T>, ApiError> {
    let read = |text: String| {
        let plain: String = text.chars().filter(|c| !matches!(c, ',' | ' ' | '_')).collect();
        plain
            .parse()
            .map_err(|_| ApiError::bad_request(format_args!("{what}: `{text}` is not a valid number")))
    };
    text.map(read).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_and_json_give_the_same_study() {
        let form =
            b"source=suite&suite=quick&models=a%0D%0A%0D%0Ab+c&base_url=http%3A%2F%2Fx%2Fv1&count=1%2C024\
                     &price_prompt=0.5&price_completion=2&provider=&sample=";
        let json =
            br#"{"source": "suite", "suite": "quick", "models": ["a", "b c"], "base_url": "http://x/v1",
                        "count": 1024, "price_prompt": 0.5, "price_completion": 2}"#;
        let text = CreateRunRequest::from_form(form).unwrap().study_toml("suite = \"quick\"").unwrap();
        let again = CreateRunRequest::from_form(form).unwrap().form();
        assert_eq!(
            text,
            CreateRunRequest::from_form(again.as_bytes()).unwrap().study_toml("suite = \"quick\"").unwrap()
        );
        assert_eq!(text, CreateRunRequest::from_json(json).unwrap().study_toml("suite = \"quick\"").unwrap());
        let study = reasonscape_study::Study::parse(&text, std::path::Path::new(".")).unwrap();
        assert_eq!((study.count, study.evals.len(), study.evals[1].model.as_str()), (Some(1024), 2, "b c"));
    }

    #[test]
    fn accepts_the_former_name_of_source() {
        let more = r#""suite": "quick", "models": ["a"], "base_url": "http://x/v1""#;
        let parse = |source: &str| CreateRunRequest::from_json(format!("{{{source}, {more}}}").as_bytes());
        let expected = parse(r#""source": "suite""#).unwrap();
        for source in [r#""ask": "suite""#, r#""source": "suite", "ask": "suite""#] {
            assert_eq!(parse(source).unwrap().form(), expected.form());
        }
        let form = "suite=quick&models=a&base_url=http%3A%2F%2Fx%2Fv1";
        for source in ["source=suite", "ask=suite"] {
            let request = CreateRunRequest::from_form(format!("{source}&{form}").as_bytes()).unwrap();
            assert_eq!(request.form(), expected.form());
        }
        let problem = parse(r#""source": "suite", "ask": "study""#).unwrap_err();
        assert_eq!(problem.status, axum::http::StatusCode::BAD_REQUEST);
        assert!(problem.message.contains("`source` contradicts `ask`"), "{}", problem.message);
        let problem = parse(r#""count": 1"#).unwrap_err();
        assert!(problem.message.contains("missing field `source`"), "{}", problem.message);
    }

    #[test]
    fn refuses_invalid_requests() {
        for (form, says) in [
            ("source=everything", "expected `study`, `suite` or `dataset`"),
            ("ask=everything", "`ask=everything` is unknown"),
            ("source=suite&ask=study&models=a&base_url=x", "`source` contradicts `ask`"),
            ("source=suite", "at least one model"),
            ("models=a&base_url=x&count=many", "not a valid number"),
            ("models=a&base_url=x&count=0", "from 1 to"),
            ("models=a&base_url=x&count=99999999999", "not a valid number"),
        ] {
            let problem = CreateRunRequest::from_form(form.as_bytes()).unwrap_err();
            assert!(problem.message.contains(says), "{form}: {}", problem.message);
        }
        let problem = CreateRunRequest::from_json(br#"{"source": "suite", "api_key": "x"}"#).unwrap_err();
        assert!(problem.message.contains("unknown field `api_key`"), "{}", problem.message);
        let request = CreateRunRequest::from_form(b"models=a&base_url=x&price_prompt=1").unwrap();
        assert!(request.study_toml("").unwrap_err().message.contains("go together"));
    }
}
