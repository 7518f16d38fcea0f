//! From a study as it is written to one that can be run.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use reasonscape_core::{Dataset, Suite};
use reasonscape_providers::Provider;
use toml::Spanned;
use url::Url;

use crate::eval::display_model_name;
use crate::raw::{RawBudget, RawEval, RawHeader, RawProblems, RawStudy, variable_name};
use crate::sampler::MAX_TOKENS;
use crate::toml_document::{Document, did_you_mean, named, read};
use crate::{
    Budget, Eval, EvalId, HeaderSource, Limits, Precision, Prices, Sampler, Study, StudyError, Template,
};

const DEFAULT_TEMPLATE: &str = "zero-shot-cot";
const DEFAULT_SAMPLER: &str = "greedy-2k";

pub(crate) fn study(text: &str, place: &str, folder: &Path) -> Result<Study, StudyError> {
    let raw = RawStudy::read(Document { place, text })?;
    let mut check = Validator { document: raw.document, folder, templates: HashMap::new() };
    let (suite, suite_text, dataset) = match &raw.problems {
        RawProblems::Suite(name) => {
            let (suite, text) = check.suite(name)?;
            (suite, text, None)
        }
        RawProblems::Dataset(path) => {
            let dataset = check.dataset(path)?;
            (dataset.suite(), String::new(), Some(dataset))
        }
    };
    let precision = check.precision(&raw)?;
    let mut evals: Vec<Eval> = Vec::new();
    for eval in &raw.evals {
        let checked = check.eval(eval)?;
        if let Some(twin) = evals.iter().position(|known| is_same(known, &checked)) {
            let problem = format!(
                "this eval is eval {} again: the same model, template, sampler and cache_namespace; change one \
                 (several endpoints of one model are a list in `base_url`)",
                twin + 1
            );
            return Err(raw.document.error(eval.at, problem));
        }
        // Six digits are few: one pair in a thousand evals shares them by accident.
        if let Some(other) = evals.iter().find(|known| known.id == checked.id) {
            let problem = format!(
                "this eval and `{}` share the id {} by accident; give one of them a `cache_namespace`",
                other.name, other.id
            );
            return Err(raw.document.error(eval.at, problem));
        }
        evals.push(checked);
    }
    if evals.is_empty() {
        let problem =
            "no [[eval]]: a study asks at least one model; add [[eval]] with `model` and `base_url`";
        return Err(StudyError::Wrong { place: place.to_owned(), line: None, problem: problem.to_owned() });
    }
    let budget = check.budget(&raw.budget, &evals)?;
    Ok(Study {
        folder: folder.to_owned(),
        seed: raw.seed.unwrap_or(suite.seed),
        suite,
        suite_text,
        dataset,
        count: raw.count.map(|count| *count.get_ref() as usize),
        precision,
        repeats: raw.repeats,
        budget,
        evals,
    })
}

fn is_same(a: &Eval, b: &Eval) -> bool {
    (&a.model, &a.template.name, &a.sampler.name, &a.cache_namespace)
        == (&b.model, &b.template.name, &b.sampler.name, &b.cache_namespace)
}

struct Validator<'d> {
    document: Document<'d>,
    folder: &'d Path,
    /// Each template is compiled once, however many evals use it.
    templates: HashMap<String, Arc<Template>>,
}

impl Validator<'_> {
    /// A path if it looks like one; else a file in `suites/`, or else a built-in suite.
    fn suite(&self, name: &Spanned<String>) -> Result<(Suite, String), StudyError> {
        let path = Path::new(name.get_ref());
        let is_path = path.extension().is_some() || path.components().count() > 1;
        let own = if is_path {
            self.folder.join(path)
        } else {
            self.folder.join("suites").join(format!("{}.toml", name.get_ref()))
        };
        let (place, text) = match (read(&own)?, Suite::built_in(name.get_ref())) {
            (Some(text), _) => (named(&own), text),
            (None, Some(text)) => (format!("built-in suite `{}`", name.get_ref()), text.to_owned()),
            (None, None) => {
                let known: Vec<&'static str> = Suite::built_in_names().collect();
                let what = if is_path {
                    format!("there is no suite {}", named(&own))
                } else {
                    format!("unknown suite `{}`{}", name.get_ref(), did_you_mean(name.get_ref(), &known))
                };
                let problem = format!(
                    "{what}; built in are {}, and a file is named by its path from the study's folder, as in `mine.toml`",
                    known.join(" and ")
                );
                return Err(self.document.error(name.span().start, problem));
            }
        };
        match Suite::parse(&text) {
            Ok(suite) => Ok((suite, text)),
            Err(error) => Err(StudyError::Wrong { place, line: error.line, problem: error.problem }),
        }
    }

    /// A file of lines, from the study's folder. Of several wrong lines the first is told.
    fn dataset(&self, path: &Spanned<String>) -> Result<Dataset, StudyError> {
        let file = self.folder.join(path.get_ref());
        let Some(text) = read(&file)? else {
            let problem = format!(
                "there is no dataset {}; it is named by its path from the study's folder, as in `questions.jsonl`",
                named(&file)
            );
            return Err(self.document.error(path.span().start, problem));
        };
        let name = file.file_stem().map_or_else(|| "dataset".into(), |stem| stem.to_string_lossy());
        Dataset::parse(&name, &text).map_err(|problems| {
            let first = &problems[0];
            let more = match problems.len() {
                1 => String::new(),
                2 => " (and 1 more line is wrong)".to_owned(),
                count => format!(" (and {} more lines are wrong)", count - 1),
            };
            StudyError::Wrong {
                place: named(&file),
                line: Some(first.line),
                problem: format!("{}{more}", first.problem),
            }
        })
    }

    fn precision(&self, raw: &RawStudy<'_>) -> Result<Option<Precision>, StudyError> {
        if let (RawProblems::Dataset(_), Some(margin)) = (&raw.problems, &raw.precision) {
            let problem = "a dataset has only so many questions, so no `precision` can be asked for; take it out, \
                           or set `repeats`";
            return Err(self.document.error(margin.span().start, problem));
        }
        let most = raw.max_count.as_ref();
        let Some(margin) = &raw.precision else {
            return most.map_or(Ok(None), |most| {
                let problem =
                    "`max_count` does nothing without `precision`; add `precision = 0.05` or set `count`";
                Err(self.document.error(most.span().start, problem))
            });
        };
        let max_count = most.map_or(Precision::MAX_COUNT, |most| *most.get_ref() as usize);
        if let Some(count) = raw.count.as_ref().filter(|count| *count.get_ref() as usize > max_count) {
            let problem = format!(
                "`count` is {}, more than the `max_count` of {max_count}; raise that",
                count.get_ref()
            );
            return Err(self.document.error(count.span().start, problem));
        }
        Ok(Some(Precision { margin: *margin.get_ref(), max_count }))
    }

    fn budget(&self, raw: &RawBudget, evals: &[Eval]) -> Result<Budget, StudyError> {
        if let (Some(money), Some(free)) = (&raw.money, evals.iter().find(|eval| eval.prices.is_none())) {
            let problem = format!(
                "`money` limits nothing while `{}` has no prices; give every eval `price_prompt` and \
                 `price_completion`, 0 for what costs nothing",
                free.name
            );
            return Err(self.document.error(money.span().start, problem));
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
        let provider = self.provider(raw.provider.as_ref())?;
        let template = self.template(raw)?;
        let sampler = self.sampler(raw)?;
        if provider == Provider::Anthropic && !sampler.params.contains_key(MAX_TOKENS) {
            let problem =
                format!("`anthropic` needs `max_tokens`, and sampler `{}` has none; add it", sampler.name);
            return Err(self.document.error(place_of(raw.sampler.as_ref(), raw), problem));
        }
        if let Some(variable) = &raw.api_key_env {
            variable_name(self.document, "api_key_env", variable)?;
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

    fn provider(&self, name: Option<&Spanned<String>>) -> Result<Provider, StudyError> {
        let Some(name) = name else { return Ok(Provider::OpenAiChat) };
        Provider::from_str(name.get_ref())
            .map_err(|error| self.document.error(name.span().start, error.to_string()))
    }

    fn template(&mut self, raw: &RawEval) -> Result<Arc<Template>, StudyError> {
        let name = raw.template.as_ref().map_or(DEFAULT_TEMPLATE, |name| name.get_ref());
        if let Some(template) = self.templates.get(name) {
            return Ok(Arc::clone(template));
        }
        let template = Template::load(name, self.folder)
            .map_err(|error| self.placed(error, place_of(raw.template.as_ref(), raw)))?;
        let template = Arc::new(template);
        self.templates.insert(name.to_owned(), Arc::clone(&template));
        Ok(template)
    }

    fn sampler(&self, raw: &RawEval) -> Result<Sampler, StudyError> {
        let name = raw.sampler.as_ref().map_or(DEFAULT_SAMPLER, |name| name.get_ref());
        Sampler::load(name, self.folder)
            .map_err(|error| self.placed(error, place_of(raw.sampler.as_ref(), raw)))
    }

    /// A name that nothing has is an error of the line that says it.
    fn placed(&self, error: StudyError, at: usize) -> StudyError {
        match error {
            StudyError::Unknown { problem } => self.document.error(at, problem),
            other => other,
        }
    }

    fn base_urls(&self, raw: &[Spanned<String>], provider: Provider) -> Result<Vec<String>, StudyError> {
        let mut base_urls: Vec<String> = Vec::new();
        for address in raw {
            let base_url = base_url(address.get_ref(), provider)
                .map_err(|problem| self.document.error(address.span().start, problem))?;
            if base_urls.contains(&base_url) {
                let problem = format!("`{base_url}` is listed twice; name each endpoint once");
                return Err(self.document.error(address.span().start, problem));
            }
            base_urls.push(base_url);
        }
        Ok(base_urls)
    }

    fn facets(&self, groups: &[Spanned<String>]) -> Result<BTreeMap<String, String>, StudyError> {
        let mut facets = BTreeMap::new();
        for group in groups {
            let problem = |problem| self.document.error(group.span().start, problem);
            let parts = group.get_ref().split_once(':').map(|(facet, value)| (facet.trim(), value.trim()));
            let Some((facet, value)) = parts.filter(|(facet, value)| !facet.is_empty() && !value.is_empty())
            else {
                return Err(problem(format!(
                    "group `{}` is no `facet:value`; write one such as `family:smollm`",
                    group.get_ref()
                )));
            };
            if let Some(other) = facets.insert(facet.to_owned(), value.to_owned()) {
                return Err(problem(format!(
                    "`{facet}` is both `{other}` and `{value}`; keep one group a facet"
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
                let problem =
                    "`price_prompt` and `price_completion` go together; give both, 0 for what is free";
                Err(self.document.error(raw.at, problem))
            }
        }
    }

    fn headers(
        &self,
        raw: &[RawHeader],
        has_key: bool,
    ) -> Result<BTreeMap<String, HeaderSource>, StudyError> {
        let mut headers = BTreeMap::new();
        for RawHeader { at, name, source } in raw {
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            let problem = if name.is_empty() || !name.bytes().all(token) {
                format!("`{}` is no name of a header", name.escape_debug())
            } else if ["host", "content-length", "content-type", "transfer-encoding"].contains(&name.as_str())
            {
                format!("the header `{name}` is set by the program; take it out")
            } else if has_key && ["authorization", "x-api-key"].contains(&name.as_str()) {
                format!("the header `{name}` and `api_key_env` would both carry a key; keep one")
            } else if headers.insert(name.clone(), source.clone()).is_some() {
                format!("the header `{name}` is given twice; its name may not differ by capitals alone")
            } else if !sendable(source) {
                format!("the header `{name}` has a value that no header can carry; use printable ASCII")
            } else {
                continue;
            };
            return Err(self.document.error(*at, problem));
        }
        Ok(headers)
    }
}

/// Where a name stands, or else the eval that leaves it to the default.
fn place_of(name: Option<&Spanned<String>>, raw: &RawEval) -> usize {
    name.map_or(raw.at, |name| name.span().start)
}

fn sendable(source: &HeaderSource) -> bool {
    match source {
        HeaderSource::Text(value) => value.expose().bytes().all(|byte| matches!(byte, b' '..=b'~')),
        HeaderSource::Env(_) => true,
    }
}

fn limits(raw: &RawEval) -> Limits {
    let usual = Limits::default();
    let seconds = |given: Option<f64>, usual| given.map_or(usual, Duration::from_secs_f64);
    Limits {
        concurrency: raw.concurrency.unwrap_or(usual.concurrency),
        timeout: seconds(raw.timeout_seconds, usual.timeout),
        idle_timeout: seconds(raw.idle_timeout_seconds, usual.idle_timeout),
        connect_timeout: seconds(raw.connect_timeout_seconds, usual.connect_timeout),
        max_retries: raw.max_retries.unwrap_or(usual.max_retries),
        outage_timeout: seconds(raw.patience_seconds, usual.outage_timeout),
    }
}

/// An address without the slash at its end. One that may hold a password is not shown.
fn base_url(address: &str, provider: Provider) -> Result<String, String> {
    const FORM: &str = "expected one such as `http://127.0.0.1:8089/v1`";
    // Both errors could show what stands before an `@`, so neither shows the address.
    let url =
        Url::parse(address.trim()).map_err(|error| format!("`base_url` is no address ({error}); {FORM}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("`base_url` holds a user or password; keep it out of files and use `api_key_env` or \
                    `headers = { authorization = { env = \"NAME\" } }`"
            .to_owned());
    }
    if !["http", "https"].contains(&url.scheme()) {
        return Err(format!("`base_url` begins with `{}:`; {FORM}", url.scheme()));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("`base_url` has a `?` or `#`, but a path is added to its end; {FORM}"));
    }
    let base = url.as_str().trim_end_matches('/');
    match base.strip_suffix(provider.path()) {
        Some(before) if before.ends_with('/') => Err(format!(
            "`base_url` ends with `{}`, which the program adds itself; write `{}`",
            provider.path(),
            before.trim_end_matches('/')
        )),
        _ => Ok(base.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_lose_their_trailing_slash() {
        for address in
            ["http://127.0.0.1:8089/v1", "http://127.0.0.1:8089/v1/", " http://127.0.0.1:8089/v1// "]
        {
            assert_eq!(base_url(address, Provider::OpenAiChat).unwrap(), "http://127.0.0.1:8089/v1");
        }
        assert_eq!(base_url("https://example.com", Provider::OpenAiChat).unwrap(), "https://example.com");
    }

    #[test]
    fn rejects_invalid_base_urls() {
        for (address, says) in [
            ("127.0.0.1:8089", "no address"),
            ("localhost:8089/v1", "begins with `localhost:`"),
            ("ftp://example.com/v1", "begins with `ftp:`"),
            ("https://example.com/v1?key=1", "has a `?`"),
            ("https://example.com/v1/chat/completions", "write `https://example.com/v1`"),
            ("http://", "no address"),
        ] {
            let error = base_url(address, Provider::OpenAiChat).unwrap_err();
            assert!(error.contains(says), "{address}: {error}");
        }
    }

    #[test]
    fn errors_hide_passwords_in_urls() {
        let error = base_url("https://me:tea4two@example.com/v1", Provider::OpenAiChat).unwrap_err();
        assert!(!error.contains("tea4two"), "{error}");
    }
}
