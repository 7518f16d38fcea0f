//! A study as it is written: every value of the right kind and range, and nothing yet compared or looked up.

use reasonscape_providers::Secret;
use toml::Spanned;
use toml::de::DeValue;

use crate::toml_document::{Document, Fields, SpannedValue, TableItems};
use crate::{HeaderSource, StudyError};

/// What stands at the top of a study.
pub(crate) const STUDY_KEYS: &[&str] =
    &["suite", "dataset", "count", "precision", "max_count", "seed", "repeats", "budget", "eval"];
/// What stands under [budget].
pub(crate) const BUDGET_KEYS: &[&str] = &["tokens", "requests", "money", "seconds", "minutes"];
/// What stands under [[eval]].
pub(crate) const EVAL_KEYS: &[&str] = &[
    "name",
    "model",
    "base_url",
    "provider",
    "api_key_env",
    "template",
    "sampler",
    "max_tokens_field",
    "groups",
    "concurrency",
    "timeout_seconds",
    "idle_timeout_seconds",
    "connect_timeout_seconds",
    "max_retries",
    "patience_seconds",
    "price_prompt",
    "price_completion",
    "cache_namespace",
    "headers",
];

/// More tests at one point than this are surely a slip, as in a suite.
const MAX_TESTS: i64 = 100_000;
/// A day; no reply is worth more.
const MAX_SECONDS: f64 = 86_400.0;
/// The least time that a clock should be asked for.
const MIN_SECONDS: f64 = 0.001;

/// A study as it is written.
pub(crate) struct RawStudy<'d> {
    pub(crate) document: Document<'d>,
    pub(crate) problems: RawProblems,
    pub(crate) count: Option<Spanned<i64>>,
    pub(crate) precision: Option<Spanned<f64>>,
    pub(crate) max_count: Option<Spanned<i64>>,
    pub(crate) seed: Option<i64>,
    pub(crate) repeats: u32,
    pub(crate) budget: RawBudget,
    pub(crate) evals: Vec<RawEval>,
}

/// What is asked: exactly one of `suite` and `dataset`.
pub(crate) enum RawProblems {
    Suite(Spanned<String>),
    Dataset(Spanned<String>),
}

/// `[budget]` as it is written.
#[derive(Default)]
pub(crate) struct RawBudget {
    pub(crate) tokens: Option<u64>,
    pub(crate) requests: Option<u64>,
    pub(crate) money: Option<Spanned<f64>>,
    pub(crate) seconds: Option<f64>,
    pub(crate) minutes: Option<f64>,
}

/// An `[[eval]]` as it is written.
pub(crate) struct RawEval {
    /// Where it starts.
    pub(crate) at: usize,
    pub(crate) name: Option<String>,
    pub(crate) model: String,
    pub(crate) base_urls: Vec<Spanned<String>>,
    pub(crate) provider: Option<Spanned<String>>,
    pub(crate) api_key_env: Option<Spanned<String>>,
    pub(crate) template: Option<Spanned<String>>,
    pub(crate) sampler: Option<Spanned<String>>,
    pub(crate) max_tokens_field: Option<String>,
    pub(crate) groups: Vec<Spanned<String>>,
    pub(crate) concurrency: Option<usize>,
    pub(crate) timeout_seconds: Option<f64>,
    pub(crate) idle_timeout_seconds: Option<f64>,
    pub(crate) connect_timeout_seconds: Option<f64>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) patience_seconds: Option<f64>,
    pub(crate) price_prompt: Option<f64>,
    pub(crate) price_completion: Option<f64>,
    pub(crate) cache_namespace: Option<String>,
    pub(crate) headers: Vec<RawHeader>,
}

/// A header as it is written.
pub(crate) struct RawHeader {
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) source: HeaderSource,
}

impl<'d> RawStudy<'d> {
    pub(crate) fn read(document: Document<'d>) -> Result<Self, StudyError> {
        let mut fields = Fields::new(document, "a study", 0, document.table()?, STUDY_KEYS)?;
        let problems = match (fields.text("suite")?, fields.text("dataset")?) {
            (Some(suite), None) => RawProblems::Suite(suite),
            (None, Some(dataset)) => RawProblems::Dataset(dataset),
            (None, None) => return Err(fields.missing("suite", "\"quick\"")),
            (Some(_), Some(dataset)) => {
                let problem = "a study asks a `suite` or a `dataset`, not both; keep one";
                return Err(document.error(dataset.span().start, problem));
            }
        };
        let budget = match fields.table("budget")? {
            Some(table) => RawBudget::read(document, table)?,
            None => RawBudget::default(),
        };
        let evals = fields
            .tables("eval")?
            .into_iter()
            .map(|table| RawEval::read(document, table))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            document,
            problems,
            count: fields.whole("count", 1..=MAX_TESTS)?,
            precision: fields.number("precision", 0.001..=0.5)?,
            max_count: fields.whole("max_count", 1..=MAX_TESTS)?,
            seed: fields.whole("seed", i64::MIN..=i64::MAX)?.map(Spanned::into_inner),
            repeats: fields.whole("repeats", 1..=10_000)?.map_or(1, |repeats| *repeats.get_ref() as u32),
            budget,
            evals,
        })
    }
}

impl RawBudget {
    fn read<'d>(document: Document<'d>, table: Spanned<TableItems<'d>>) -> Result<Self, StudyError> {
        let at = table.span().start;
        let mut fields = Fields::new(document, "[budget]", at, table.into_inner(), BUDGET_KEYS)?;
        let whole = |value: Spanned<i64>| value.into_inner().unsigned_abs();
        Ok(Self {
            tokens: fields.whole("tokens", 1..=i64::MAX)?.map(whole),
            requests: fields.whole("requests", 1..=i64::MAX)?.map(whole),
            money: fields.number("money", f64::MIN_POSITIVE..=1e12)?,
            seconds: fields.number("seconds", MIN_SECONDS..=1e9)?.map(Spanned::into_inner),
            minutes: fields.number("minutes", MIN_SECONDS..=1e7)?.map(Spanned::into_inner),
        })
    }
}

impl RawEval {
    fn read<'d>(document: Document<'d>, table: Spanned<TableItems<'d>>) -> Result<Self, StudyError> {
        let at = table.span().start;
        let mut fields = Fields::new(document, "an [[eval]]", at, table.into_inner(), EVAL_KEYS)?;
        let plain = |fields: &mut Fields<'d>, key| Ok(fields.text(key)?.map(Spanned::into_inner));
        let seconds = |fields: &mut Fields<'d>, key| {
            Ok(fields.number(key, MIN_SECONDS..=MAX_SECONDS)?.map(Spanned::into_inner))
        };
        let price =
            |fields: &mut Fields<'d>, key| Ok(fields.number(key, 0.0..=1e9)?.map(Spanned::into_inner));
        let model = plain(&mut fields, "model")?
            .ok_or_else(|| fields.missing("model", "\"smollm2-135m-instruct\""))?;
        Ok(Self {
            at,
            name: plain(&mut fields, "name")?,
            model,
            base_urls: base_urls(&mut fields)?,
            provider: fields.text("provider")?,
            api_key_env: fields.text("api_key_env")?,
            template: fields.text("template")?,
            sampler: fields.text("sampler")?,
            max_tokens_field: plain(&mut fields, "max_tokens_field")?,
            groups: fields.texts("groups")?.unwrap_or_default(),
            concurrency: fields.whole("concurrency", 1..=65_536)?.map(|most| *most.get_ref() as usize),
            timeout_seconds: seconds(&mut fields, "timeout_seconds")?,
            idle_timeout_seconds: seconds(&mut fields, "idle_timeout_seconds")?,
            connect_timeout_seconds: seconds(&mut fields, "connect_timeout_seconds")?,
            max_retries: fields.whole("max_retries", 0..=1000)?.map(|most| *most.get_ref() as u32),
            patience_seconds: seconds(&mut fields, "patience_seconds")?,
            price_prompt: price(&mut fields, "price_prompt")?,
            price_completion: price(&mut fields, "price_completion")?,
            cache_namespace: plain(&mut fields, "cache_namespace")?,
            headers: headers(document, &mut fields)?,
        })
    }
}

/// One address, or a list of them.
fn base_urls(fields: &mut Fields<'_>) -> Result<Vec<Spanned<String>>, StudyError> {
    const EXAMPLE: &str = "\"http://127.0.0.1:8089/v1\"";
    let Some(value) = fields.take("base_url") else { return Err(fields.missing("base_url", EXAMPLE)) };
    let wanted = "an address in quotes, or a list of them";
    let at = value.span().start;
    let items = match value.into_inner() {
        DeValue::Array(items) if items.is_empty() => return Err(fields.missing("base_url", EXAMPLE)),
        DeValue::Array(items) => items.into_iter().collect(),
        other => vec![Spanned::new(at..at, other)],
    };
    let text = |item: SpannedValue<'_>| match item.get_ref() {
        DeValue::String(text) => Ok(Spanned::new(item.span(), text.clone().into_owned())),
        other => Err(fields.mismatch(item.span().start, "base_url", other, wanted)),
    };
    items.into_iter().map(text).collect()
}

/// Headers by name; a value is a string or `{ env = "NAME" }`.
fn headers<'d>(document: Document<'d>, fields: &mut Fields<'d>) -> Result<Vec<RawHeader>, StudyError> {
    let Some(table) = fields.table("headers")? else { return Ok(Vec::new()) };
    let header = |(name, value): (Spanned<toml::de::DeString<'d>>, SpannedValue<'d>)| {
        let (at, value_at) = (name.span().start, value.span().start);
        let source = match value.into_inner() {
            DeValue::String(text) => HeaderSource::Text(Secret::new(text)),
            DeValue::Table(members) => {
                let mut members = Fields::new(document, "a header's table", value_at, members, &["env"])?;
                let variable = members.text("env")?.ok_or_else(|| members.missing("env", "\"MY_HEADER\""))?;
                variable_name(document, "env", &variable)?;
                HeaderSource::Env(variable.into_inner())
            }
            other => {
                let wanted = "a string, or { env = \"NAME\" }";
                return Err(fields.mismatch(value_at, name.get_ref(), &other, wanted));
            }
        };
        Ok(RawHeader { at, name: name.into_inner().to_ascii_lowercase(), source })
    };
    table.into_inner().into_iter().map(header).collect()
}

/// Refuses what is no name of an environment variable, and shows nothing of it: it may be the key itself, put into
/// the wrong place.
pub(crate) fn variable_name(
    document: Document<'_>,
    key: &str,
    name: &Spanned<String>,
) -> Result<(), StudyError> {
    let is_name = name.get_ref().bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
        && !name.get_ref().starts_with(|first: char| first.is_ascii_digit());
    if is_name {
        return Ok(());
    }
    let problem = format!(
        "`{key}` is no name of an environment variable (capitals, digits and `_`); \
         write the variable's name, never the secret itself"
    );
    Err(document.error(name.span().start, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commented_study_covers_every_key() {
        let mentions = |key: &str| {
            let line = |line: &str| {
                let line = line.trim_start_matches("# ");
                line.starts_with(&format!("{key} = ")) || line.contains(&format!("[{key}]"))
            };
            crate::Study::COMMENTED.lines().any(line)
        };
        for key in [STUDY_KEYS, BUDGET_KEYS, EVAL_KEYS].concat() {
            assert!(mentions(key), "`{key}` is not in commented.toml");
        }
    }
}
