//! A study as parsed: types and ranges are checked, names and combinations are not yet.

use reasonscape_providers::Secret;
use toml::Spanned;
use toml::de::DeValue;

use crate::keys::{budget, eval, header, study};
use crate::toml_document::{Document, Fields, Span, SpannedValue, TableItems};
use crate::{HeaderSource, StudyError};

/// The same limit as in a suite: more tests per point than this are probably a typo.
const MAX_TESTS: i64 = 100_000;
/// One day.
const MAX_SECONDS: f64 = 86_400.0;
/// The minimum timeout.
const MIN_SECONDS: f64 = 0.001;

/// A study as parsed.
pub(crate) struct RawStudy<'d> {
    pub(crate) document: Document<'d>,
    pub(crate) problems: RawProblems,
    pub(crate) scorer: Option<Spanned<String>>,
    pub(crate) count: Option<Spanned<i64>>,
    pub(crate) precision: Option<Spanned<f64>>,
    pub(crate) max_count: Option<Spanned<i64>>,
    pub(crate) seed: Option<i64>,
    pub(crate) repeats: u32,
    pub(crate) budget: RawBudget,
    pub(crate) evals: Vec<RawEval>,
    /// Deprecated keys in the file.
    pub(crate) notices: Vec<String>,
}

/// Where the problems come from: exactly one of `suite` and `dataset`.
pub(crate) enum RawProblems {
    Suite(Spanned<String>),
    Dataset(Spanned<String>),
}

/// `[budget]` as parsed.
#[derive(Default)]
pub(crate) struct RawBudget {
    pub(crate) tokens: Option<u64>,
    pub(crate) requests: Option<u64>,
    pub(crate) money: Option<Spanned<f64>>,
    pub(crate) seconds: Option<f64>,
    pub(crate) minutes: Option<f64>,
}

/// An `[[eval]]` as parsed.
pub(crate) struct RawEval {
    pub(crate) span: Span,
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
    pub(crate) outage_timeout_seconds: Option<f64>,
    pub(crate) price_prompt: Option<f64>,
    pub(crate) price_completion: Option<f64>,
    pub(crate) cache_namespace: Option<String>,
    pub(crate) headers: Vec<RawHeader>,
}

/// A header as parsed.
pub(crate) struct RawHeader {
    pub(crate) name: Spanned<String>,
    pub(crate) source: HeaderSource,
}

impl<'d> RawStudy<'d> {
    pub(crate) fn read(document: Document<'d>) -> Result<Self, StudyError> {
        let mut fields = Fields::new(document, &study::KEYS, document.table()?)?;
        let problems = match (fields.text(study::SUITE)?, fields.text(study::DATASET)?) {
            (Some(suite), None) => RawProblems::Suite(suite),
            (None, Some(dataset)) => RawProblems::Dataset(dataset),
            (None, None) => return Err(fields.missing(study::SUITE, "\"quick\"")),
            (Some(_), Some(dataset)) => {
                let problem = "a study has a `suite` or a `dataset`, not both; remove one";
                return Err(document.error(dataset.span(), problem));
            }
        };
        let budget = match fields.table(study::BUDGET)? {
            Some(table) => RawBudget::read(document, table)?,
            None => RawBudget::default(),
        };
        let mut notices = Vec::new();
        let evals = fields
            .tables(study::EVAL)?
            .into_iter()
            .map(|table| RawEval::read(document, table, &mut notices))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            document,
            problems,
            scorer: fields.text(study::SCORER)?,
            count: fields.integer(study::COUNT, 1..=MAX_TESTS)?,
            precision: fields.number(study::PRECISION, 0.001..=0.5)?,
            max_count: fields.integer(study::MAX_COUNT, 1..=MAX_TESTS)?,
            seed: fields.integer(study::SEED, i64::MIN..=i64::MAX)?.map(Spanned::into_inner),
            repeats: fields
                .integer(study::REPEATS, 1..=10_000)?
                .map_or(1, |repeats| *repeats.get_ref() as u32),
            budget,
            evals,
            notices,
        })
    }
}

impl RawBudget {
    fn read<'d>(document: Document<'d>, table: Spanned<TableItems<'d>>) -> Result<Self, StudyError> {
        let mut fields = Fields::new(document, &budget::KEYS, table)?;
        let unsigned = |value: Spanned<i64>| value.into_inner().unsigned_abs();
        Ok(Self {
            tokens: fields.integer(budget::TOKENS, 1..=i64::MAX)?.map(unsigned),
            requests: fields.integer(budget::REQUESTS, 1..=i64::MAX)?.map(unsigned),
            money: fields.number(budget::MONEY, f64::MIN_POSITIVE..=1e12)?,
            seconds: fields.number(budget::SECONDS, MIN_SECONDS..=1e9)?.map(Spanned::into_inner),
            minutes: fields.number(budget::MINUTES, MIN_SECONDS..=1e7)?.map(Spanned::into_inner),
        })
    }
}

impl RawEval {
    fn read<'d>(
        document: Document<'d>,
        table: Spanned<TableItems<'d>>,
        notices: &mut Vec<String>,
    ) -> Result<Self, StudyError> {
        let span = table.span();
        let mut fields = Fields::new(document, &eval::KEYS, table)?;
        let string = |fields: &mut Fields<'d>, key| Ok(fields.text(key)?.map(Spanned::into_inner));
        let seconds = |fields: &mut Fields<'d>, key| {
            Ok(fields.number(key, MIN_SECONDS..=MAX_SECONDS)?.map(Spanned::into_inner))
        };
        let price =
            |fields: &mut Fields<'d>, key| Ok(fields.number(key, 0.0..=1e9)?.map(Spanned::into_inner));
        let model = string(&mut fields, eval::MODEL)?
            .ok_or_else(|| fields.missing(eval::MODEL, "\"smollm2-135m-instruct\""))?;
        Ok(Self {
            span,
            name: string(&mut fields, eval::NAME)?,
            model,
            base_urls: base_urls(&mut fields)?,
            provider: fields.text(eval::PROVIDER)?,
            api_key_env: fields.text(eval::API_KEY_ENV)?,
            template: fields.text(eval::TEMPLATE)?,
            sampler: fields.text(eval::SAMPLER)?,
            max_tokens_field: string(&mut fields, eval::MAX_TOKENS_FIELD)?,
            groups: fields.texts(eval::GROUPS)?.unwrap_or_default(),
            concurrency: fields.integer(eval::CONCURRENCY, 1..=65_536)?.map(|max| *max.get_ref() as usize),
            timeout_seconds: seconds(&mut fields, eval::TIMEOUT)?,
            idle_timeout_seconds: seconds(&mut fields, eval::IDLE_TIMEOUT)?,
            connect_timeout_seconds: seconds(&mut fields, eval::CONNECT_TIMEOUT)?,
            max_retries: fields.integer(eval::MAX_RETRIES, 0..=1000)?.map(|max| *max.get_ref() as u32),
            outage_timeout_seconds: outage_timeout(document, &mut fields, notices)?,
            price_prompt: price(&mut fields, eval::PRICE_PROMPT)?,
            price_completion: price(&mut fields, eval::PRICE_COMPLETION)?,
            cache_namespace: string(&mut fields, eval::CACHE_NAMESPACE)?,
            headers: headers(document, &mut fields)?,
        })
    }
}

/// `outage_timeout_seconds`, or its deprecated name `patience_seconds`.
fn outage_timeout(
    document: Document<'_>,
    fields: &mut Fields<'_>,
    notices: &mut Vec<String>,
) -> Result<Option<f64>, StudyError> {
    let (new, old) = (eval::OUTAGE_TIMEOUT, eval::OUTAGE_TIMEOUT_OLD);
    let seconds = fields.number(new, MIN_SECONDS..=MAX_SECONDS)?;
    let Some(deprecated) = fields.number(old, MIN_SECONDS..=MAX_SECONDS)? else {
        return Ok(seconds.map(Spanned::into_inner));
    };
    if seconds.is_some() {
        let problem = format!("both `{new}` and its deprecated name `{old}` are set; remove `{old}`");
        return Err(document.error(deprecated.span(), problem));
    }
    let notice = format!("`{old}` is deprecated; rename it to `{new}`");
    notices.push(document.error(deprecated.span(), notice).to_string());
    Ok(Some(deprecated.into_inner()))
}

/// One URL, or a list of them.
fn base_urls(fields: &mut Fields<'_>) -> Result<Vec<Spanned<String>>, StudyError> {
    const EXAMPLE: &str = "\"http://127.0.0.1:8089/v1\"";
    let Some(value) = fields.take(eval::BASE_URL) else {
        return Err(fields.missing(eval::BASE_URL, EXAMPLE));
    };
    let expected = "a URL in quotes, or a list of them";
    let span = value.span();
    let items = match value.into_inner() {
        DeValue::Array(items) if items.is_empty() => return Err(fields.missing(eval::BASE_URL, EXAMPLE)),
        DeValue::Array(items) => items.into_iter().collect(),
        other => vec![Spanned::new(span, other)],
    };
    let text = |item: SpannedValue<'_>| match item.get_ref() {
        DeValue::String(text) => Ok(Spanned::new(item.span(), text.clone().into_owned())),
        other => Err(fields.mismatch(item.span(), eval::BASE_URL, other, expected)),
    };
    items.into_iter().map(text).collect()
}

/// Headers by name; a value is a string or `{ env = "NAME" }`.
fn headers<'d>(document: Document<'d>, fields: &mut Fields<'d>) -> Result<Vec<RawHeader>, StudyError> {
    let Some(table) = fields.table(eval::HEADERS)? else { return Ok(Vec::new()) };
    let read_header = |(name, value): (Spanned<toml::de::DeString<'d>>, SpannedValue<'d>)| {
        let value_span = value.span();
        let source = match value.into_inner() {
            DeValue::String(text) => HeaderSource::Text(Secret::new(text)),
            DeValue::Table(items) => {
                let table = Spanned::new(value_span, items);
                let mut fields = Fields::new(document, &header::KEYS, table)?;
                let variable =
                    fields.text(header::ENV)?.ok_or_else(|| fields.missing(header::ENV, "\"MY_HEADER\""))?;
                check_variable_name(document, header::ENV, &variable)?;
                HeaderSource::Env(variable.into_inner())
            }
            other => {
                let expected = "a string, or { env = \"NAME\" }";
                return Err(fields.mismatch(value_span, name.get_ref(), &other, expected));
            }
        };
        let name = Spanned::new(name.span(), name.into_inner().to_ascii_lowercase());
        Ok(RawHeader { name, source })
    };
    table.into_inner().into_iter().map(read_header).collect()
}

/// Rejects invalid names of environment variables without quoting them: the value may be the key itself.
pub(crate) fn check_variable_name(
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
        "`{key}` is not the name of an environment variable (capitals, digits and `_`); \
         write the variable's name, never the secret itself"
    );
    Err(document.error(name.span(), problem))
}
