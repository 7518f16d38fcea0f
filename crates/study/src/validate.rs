//! Validates a parsed study and resolves its suite, templates and samplers.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use reasonscape_core::{Dataset, Scorer, Suite};
use reasonscape_providers::Provider;
use toml::Spanned;

use crate::base_url::parse_base_url;
use crate::eval::display_model_name;
use crate::keys;
use crate::raw::{RawBudget, RawEval, RawHeader, RawProblems, RawStudy, check_variable_name};
use crate::sampler::MAX_TOKENS;
use crate::toml_document::{Document, Span, did_you_mean, quoted_path, read, read_up_to};
use crate::versions::implied_version;
use crate::{
    Budget, Eval, EvalId, HeaderSource, Limits, Precision, Prices, Sampler, Study, StudyError, Template,
};

const DEFAULT_TEMPLATE: &str = "zero-shot-cot";
const DEFAULT_SAMPLER: &str = "greedy-2k";
/// Maximum number of characters of a model or a display name, which every table and figure repeats.
pub const MAX_NAME_LENGTH: usize = 512;

pub(crate) fn study(text: &str, origin: &str, dir: &Path) -> Result<Study, StudyError> {
    let raw = RawStudy::read(Document { origin, text })?;
    let mut validator = Validator { document: raw.document, dir, templates: HashMap::new() };
    let mut implied = None;
    let (suite, suite_text, dataset) = match &raw.problems {
        RawProblems::Suite(name) => {
            if let Some(scorer) = &raw.scorer {
                let problem =
                    "`scorer` only applies to a `dataset`; generated problems are scored by their task";
                return Err(raw.document.error(scorer.span(), problem));
            }
            let version = implied_version(dir)?;
            let (suite, text) = validator.suite(name, version)?;
            if !name.get_ref().contains('@') {
                implied = Some(version);
            }
            (suite, text, None)
        }
        RawProblems::Dataset(path) => {
            let scorer = validator.scorer(raw.scorer.as_ref())?;
            let dataset = validator.dataset(path)?;
            let dataset = match scorer {
                Some(scorer) => dataset.with_scorer(scorer),
                None => dataset,
            };
            (dataset.suite(), String::new(), Some(dataset))
        }
    };
    let precision = validator.precision(&raw)?;
    let mut evals: Vec<Eval> = Vec::new();
    for eval in &raw.evals {
        let checked = validator.eval(eval)?;
        if let Some(same) = evals.iter().position(|known| is_same(known, &checked)) {
            let problem = format!(
                "duplicate of eval {}: same model, template, sampler and cache_namespace; change one \
                 (to use several endpoints for one model, make `base_url` a list)",
                same + 1
            );
            return Err(raw.document.error(eval.span.clone(), problem));
        }
        // Ids have six hexadecimal digits, so collisions are possible in large studies.
        if let Some(other) = evals.iter().find(|known| known.id == checked.id) {
            let problem = format!(
                "this eval and `{}` have the same id {} by coincidence; give one of them a `cache_namespace`",
                other.name, other.id
            );
            return Err(raw.document.error(eval.span.clone(), problem));
        }
        evals.push(checked);
    }
    if evals.is_empty() {
        let problem =
            "no [[eval]]: a study needs at least one model; add [[eval]] with `model` and `base_url`";
        return Err(StudyError::Invalid {
            origin: origin.to_owned(),
            line: None,
            problem: problem.to_owned(),
        });
    }
    let budget = validator.budget(&raw.budget, &evals)?;
    Ok(Study {
        dir: dir.to_owned(),
        seed: raw.seed.unwrap_or(suite.seed),
        suite,
        suite_text,
        dataset,
        count: raw.count.map(|count| *count.get_ref() as usize),
        precision,
        repeats: raw.repeats,
        budget,
        evals,
        implied_version: implied,
        notices: raw.notices,
    })
}

fn is_same(a: &Eval, b: &Eval) -> bool {
    (&a.model, &a.template.name, &a.sampler.name, &a.cache_namespace)
        == (&b.model, &b.template.name, &b.sampler.name, &b.cache_namespace)
}

struct Validator<'d> {
    document: Document<'d>,
    dir: &'d Path,
    /// Each template is compiled once, however many evals use it.
    templates: HashMap<String, Arc<Template>>,
}

impl Validator<'_> {
    /// Resolves a suite: a path if it looks like one, else a file in `suites/`, else a built-in suite.
    fn suite(&self, name: &Spanned<String>, version: u32) -> Result<(Suite, String), StudyError> {
        let path = Path::new(name.get_ref());
        let is_path = path.extension().is_some() || path.components().count() > 1;
        let own = if is_path {
            self.dir.join(path)
        } else {
            self.dir.join("suites").join(format!("{}.toml", name.get_ref()))
        };
        let (origin, text) = match (read(&own)?, Suite::built_in_for(name.get_ref(), version)) {
            (Some(text), _) => (quoted_path(&own), text),
            (None, Some(text)) => (format!("built-in suite `{}`", name.get_ref()), text.to_owned()),
            (None, None) => {
                let known: Vec<&'static str> = Suite::built_in_names().collect();
                let what = if is_path {
                    format!("suite not found: {}", quoted_path(&own))
                } else {
                    format!("unknown suite `{}`{}", name.get_ref(), did_you_mean(name.get_ref(), &known))
                };
                let problem = format!(
                    "{what}; built-in suites: {}; for a file, give its path relative to the study directory, as in `mine.toml`",
                    known.join(" and ")
                );
                return Err(self.document.error(name.span(), problem));
            }
        };
        match Suite::parse_for(&text, version) {
            Ok(suite) => Ok((suite, text)),
            Err(error) => Err(StudyError::Invalid { origin, line: error.line, problem: error.problem }),
        }
    }

    fn scorer(&self, name: Option<&Spanned<String>>) -> Result<Option<Scorer>, StudyError> {
        name.map(|name| {
            name.get_ref().parse().map_err(|problem: String| self.document.error(name.span(), problem))
        })
        .transpose()
    }

    /// Reads a JSONL file in the study directory. The error names the first invalid line.
    fn dataset(&self, path: &Spanned<String>) -> Result<Dataset, StudyError> {
        let file = self.dir.join(path.get_ref());
        let Some(text) = read_up_to(2 * reasonscape_limits::max_file_bytes(), &file)? else {
            let problem = format!(
                "dataset not found: {}; give its path relative to the study directory, as in `questions.jsonl`",
                quoted_path(&file)
            );
            return Err(self.document.error(path.span(), problem));
        };
        let name = file.file_stem().map_or_else(|| "dataset".into(), |stem| stem.to_string_lossy());
        Dataset::parse(&name, &text).map_err(|problems| {
            let first = &problems[0];
            let more = match problems.len() {
                1 => String::new(),
                2 => " (and 1 more invalid line)".to_owned(),
                count => format!(" (and {} more invalid lines)", count - 1),
            };
            StudyError::Invalid {
                origin: quoted_path(&file),
                line: Some(first.line),
                problem: format!("{}{more}", first.problem),
            }
        })
    }

    fn precision(&self, raw: &RawStudy<'_>) -> Result<Option<Precision>, StudyError> {
        if let (RawProblems::Dataset(_), Some(margin)) = (&raw.problems, &raw.precision) {
            let problem = "a dataset has a fixed number of questions, so `precision` does not apply; remove it, \
                           or set `repeats`";
            return Err(self.document.error(margin.span(), problem));
        }
        let max_count = raw.max_count.as_ref();
        let Some(margin) = &raw.precision else {
            return max_count.map_or(Ok(None), |max_count| {
                let problem =
                    "`max_count` has no effect without `precision`; add `precision = 0.05` or set `count`";
                Err(self.document.error(max_count.span(), problem))
            });
        };
        let max_count = max_count.map_or(Precision::MAX_COUNT, |count| *count.get_ref() as usize);
        if let Some(count) = raw.count.as_ref().filter(|count| *count.get_ref() as usize > max_count) {
            let problem = format!(
                "`count` is {}, more than the `max_count` of {max_count}; raise `max_count`",
                count.get_ref()
            );
            return Err(self.document.error(count.span(), problem));
        }
        Ok(Some(Precision { margin: *margin.get_ref(), max_count }))
    }

    fn budget(&self, raw: &RawBudget, evals: &[Eval]) -> Result<Budget, StudyError> {
        if let (Some(money), Some(unpriced)) = (&raw.money, evals.iter().find(|eval| eval.prices.is_none())) {
            let problem = format!(
                "`money` needs prices, and `{}` has none; set `price_prompt` and \
                 `price_completion` for every eval, 0 if free",
                unpriced.name
            );
            return Err(self.document.error(money.span(), problem));
        }
        let time = match (raw.minutes, raw.seconds) {
            (None, None) => None,
            (minutes, seconds) => Some(minutes.unwrap_or(0.0) * 60.0 + seconds.unwrap_or(0.0)),
        };
        Ok(Budget {
            tokens: raw.tokens,
            requests: raw.requests,
            money: raw.money.as_ref().map(|money| *money.get_ref()),
            time: time.map(Duration::from_secs_f64),
        })
    }

    fn eval(&mut self, raw: &RawEval) -> Result<Eval, StudyError> {
        self.check_name_length(raw, keys::eval::MODEL, Some(&raw.model))?;
        self.check_name_length(raw, keys::eval::NAME, raw.name.as_deref())?;
        let provider = self.provider(raw.provider.as_ref())?;
        let template = self.template(raw)?;
        let sampler = self.sampler(raw)?;
        if provider == Provider::Anthropic && !sampler.params.contains_key(MAX_TOKENS) {
            let problem = format!(
                "`anthropic` requires `max_tokens`, and sampler `{}` does not set it; add it",
                sampler.name
            );
            return Err(self.document.error(name_span(raw.sampler.as_ref(), raw), problem));
        }
        if let Some(variable) = &raw.api_key_env {
            check_variable_name(self.document, keys::eval::API_KEY_ENV, variable)?;
        }
        let params = sampler.params_with_limit_called(raw.max_tokens_field.as_deref().unwrap_or(MAX_TOKENS));
        let display_model =
            display_model_name(&raw.model, raw.cache_namespace.as_deref().unwrap_or_default());
        Ok(Eval {
            id: EvalId::new(&display_model, &template.name, &sampler.name),
            name: raw.name.clone().unwrap_or_else(|| raw.model.clone()),
            model: raw.model.clone(),
            base_urls: self.base_urls(&raw.base_urls, provider)?,
            provider,
            api_key_env: raw.api_key_env.clone().map(Spanned::into_inner),
            api_key_override: None,
            template,
            sampler,
            params,
            groups: raw.groups.iter().map(|group| group.get_ref().clone()).collect(),
            facets: self.facets(&raw.groups)?,
            limits: limits(raw),
            prices: self.prices(raw)?,
            cache_namespace: raw.cache_namespace.clone().unwrap_or_default(),
            headers: self.headers(&raw.headers, raw.api_key_env.is_some())?,
        })
    }

    fn check_name_length(&self, raw: &RawEval, key: &str, name: Option<&str>) -> Result<(), StudyError> {
        let length = name.map_or(0, |name| name.chars().count());
        if length <= MAX_NAME_LENGTH {
            return Ok(());
        }
        let problem = format!("`{key}` has {length} characters; expected at most {MAX_NAME_LENGTH}");
        Err(self.document.error(raw.span.clone(), problem))
    }

    fn provider(&self, name: Option<&Spanned<String>>) -> Result<Provider, StudyError> {
        let Some(name) = name else { return Ok(Provider::OpenAiChat) };
        Provider::from_str(name.get_ref())
            .map_err(|error| self.document.error(name.span(), error.to_string()))
    }

    fn template(&mut self, raw: &RawEval) -> Result<Arc<Template>, StudyError> {
        let name = raw.template.as_ref().map_or(DEFAULT_TEMPLATE, |name| name.get_ref());
        if let Some(template) = self.templates.get(name) {
            return Ok(Arc::clone(template));
        }
        let template = Template::load(name, self.dir)
            .map_err(|error| self.with_line(error, name_span(raw.template.as_ref(), raw)))?;
        let template = Arc::new(template);
        self.templates.insert(name.to_owned(), Arc::clone(&template));
        Ok(template)
    }

    fn sampler(&self, raw: &RawEval) -> Result<Sampler, StudyError> {
        let name = raw.sampler.as_ref().map_or(DEFAULT_SAMPLER, |name| name.get_ref());
        Sampler::load(name, self.dir)
            .map_err(|error| self.with_line(error, name_span(raw.sampler.as_ref(), raw)))
    }

    /// Adds the line number to an error about an unknown name.
    fn with_line(&self, error: StudyError, span: Span) -> StudyError {
        match error {
            StudyError::Unknown { problem } => self.document.error(span, problem),
            other => other,
        }
    }

    fn base_urls(&self, raw: &[Spanned<String>], provider: Provider) -> Result<Vec<String>, StudyError> {
        let mut base_urls: Vec<String> = Vec::new();
        for address in raw {
            let base_url = parse_base_url(address.get_ref(), provider)
                .map_err(|problem| self.document.error(address.span(), problem))?;
            if base_urls.contains(&base_url) {
                let problem = format!("`{base_url}` is listed twice; name each endpoint once");
                return Err(self.document.error(address.span(), problem));
            }
            base_urls.push(base_url);
        }
        Ok(base_urls)
    }

    fn facets(&self, groups: &[Spanned<String>]) -> Result<BTreeMap<String, String>, StudyError> {
        let mut facets = BTreeMap::new();
        for group in groups {
            let problem = |problem| self.document.error(group.span(), problem);
            let parts = group.get_ref().split_once(':').map(|(facet, value)| (facet.trim(), value.trim()));
            let Some((facet, value)) = parts.filter(|(facet, value)| !facet.is_empty() && !value.is_empty())
            else {
                return Err(problem(format!(
                    "group `{}` is not of the form `facet:value`; expected for example `family:smollm`",
                    group.get_ref()
                )));
            };
            if let Some(other) = facets.insert(facet.to_owned(), value.to_owned()) {
                return Err(problem(format!(
                    "`{facet}` is both `{other}` and `{value}`; keep one group per facet"
                )));
            }
        }
        Ok(facets)
    }

    fn prices(&self, raw: &RawEval) -> Result<Option<Prices>, StudyError> {
        match (raw.price_prompt, raw.price_completion) {
            (Some(prompt), Some(completion)) => Ok(Some(Prices { prompt, completion })),
            (None, None) => Ok(None),
            _ => {
                let problem = "`price_prompt` and `price_completion` go together; set both, 0 if free";
                Err(self.document.error(raw.span.clone(), problem))
            }
        }
    }

    fn headers(
        &self,
        raw: &[RawHeader],
        has_key: bool,
    ) -> Result<BTreeMap<String, HeaderSource>, StudyError> {
        let mut headers = BTreeMap::new();
        for RawHeader { name: spanned_name, source } in raw {
            let name = spanned_name.get_ref();
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            let problem = if name.is_empty() || !name.bytes().all(token) {
                format!("`{}` is not a valid header name", name.escape_debug())
            } else if ["host", "content-length", "content-type", "transfer-encoding"].contains(&name.as_str())
            {
                format!("the header `{name}` is set by the program; remove it")
            } else if has_key && ["authorization", "x-api-key"].contains(&name.as_str()) {
                format!("the header `{name}` and `api_key_env` would both send a key; remove one")
            } else if headers.insert(name.clone(), source.clone()).is_some() {
                format!("the header `{name}` is given twice; header names are case-insensitive")
            } else if !is_sendable(source) {
                format!("the header `{name}` has a value that can't be sent; use printable ASCII")
            } else {
                continue;
            };
            return Err(self.document.error(spanned_name.span(), problem));
        }
        Ok(headers)
    }
}

/// The span of a name, or of the eval if the name is the default.
fn name_span(name: Option<&Spanned<String>>, raw: &RawEval) -> Span {
    name.map_or_else(|| raw.span.clone(), Spanned::span)
}

fn is_sendable(source: &HeaderSource) -> bool {
    match source {
        HeaderSource::Text(value) => value.expose().bytes().all(|byte| matches!(byte, b' '..=b'~')),
        HeaderSource::Env(_) => true,
    }
}

fn limits(raw: &RawEval) -> Limits {
    let defaults = Limits::default();
    let seconds = |seconds: Option<f64>, default| seconds.map_or(default, Duration::from_secs_f64);
    Limits {
        concurrency: raw.concurrency.unwrap_or(defaults.concurrency),
        timeout: seconds(raw.timeout_seconds, defaults.timeout),
        idle_timeout: seconds(raw.idle_timeout_seconds, defaults.idle_timeout),
        connect_timeout: seconds(raw.connect_timeout_seconds, defaults.connect_timeout),
        max_retries: raw.max_retries.unwrap_or(defaults.max_retries),
        outage_timeout: seconds(raw.outage_timeout_seconds, defaults.outage_timeout),
    }
}
