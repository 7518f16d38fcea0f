//! Parameters of a query string that several pages and API calls share.

use reasonscape_points::Estimator;
use reasonscape_stats::{Confidence, Mode};

use super::error::ApiError;
use super::query_string::Query;
use super::trial_query::{MAX_PAGE_SIZE, PAGE_SIZE};
use reasonscape_analysis::{BoardOptions, GroupBy, ScoreMethod, Ties};

/// The points that an analysis selects, and how accuracy is estimated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnalysisQuery {
    /// Conditions on points, of the form `COLUMN=VALUE`.
    pub(crate) conditions: Vec<String>,
    pub(crate) mode: Mode,
    pub(crate) confidence: Confidence,
}

impl AnalysisQuery {
    /// Reads `eval`, `task`, `filter`, `mode` and `confidence`.
    pub(crate) fn from_query(query: &Query) -> Result<Self, ApiError> {
        let named =
            |name, column: &str| query.all(name).map(move |value| format!("{column}={value}")).collect();
        let mut conditions: Vec<String> = named("eval", "eval_id");
        conditions.extend::<Vec<String>>(named("task", "base_task"));
        conditions.extend(query.all("filter").map(ToOwned::to_owned));
        let confidence = match query.get("confidence") {
            None => Confidence::default(),
            Some(text) => {
                text.parse().ok().and_then(|level| Confidence::new(level).ok()).ok_or_else(|| {
                    ApiError::bad_request(format_args!(
                        "`confidence={text}` is out of range; expected a number from 0.01 to 0.999999, such as 0.95"
                    ))
                })?
            }
        };
        Ok(Self { conditions, mode: mode(query, Mode::C_P)?, confidence })
    }

    pub(crate) fn estimator(&self) -> Estimator {
        Estimator { mode: self.mode, confidence: self.confidence, is_literal: false }
    }
}

/// The number of problems to read at each point: `first`, or all.
pub(crate) fn first(query: &Query) -> Result<Option<u64>, ApiError> {
    match number(query, "first")? {
        Some(0) => Err(ApiError::bad_request("`first=0` selects no problems; expected a number from 1")),
        first => Ok(first),
    }
}

/// Whether to use the product formulas of the C and K estimators everywhere: `literal=true`.
pub(crate) fn is_literal(query: &Query) -> Result<bool, ApiError> {
    match query.get("literal") {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => Err(ApiError::bad_request(format_args!(
            "`literal={other}` is unknown; expected `true` or `false`"
        ))),
    }
}

/// The estimator: `mode` and `literal`.
pub(crate) fn estimator(query: &Query, default: Mode) -> Result<Estimator, ApiError> {
    Ok(Estimator { is_literal: is_literal(query)?, ..Estimator::from(mode(query, default)?) })
}

/// How a leaderboard is computed: `mode`, `literal`, `method` and `ties`. An empty value is the default.
pub(crate) fn board_options(query: &Query) -> Result<BoardOptions, ApiError> {
    let unknown = |name: &str, value: &str, expected: &str| {
        ApiError::bad_request(format_args!("`{name}={value}` is unknown; expected {expected}"))
    };
    let method = match query.get("method") {
        None | Some("") => None,
        Some("likelihood") => Some(ScoreMethod::Likelihood),
        Some("bootstrap") => Some(ScoreMethod::Bootstrap),
        Some(other) => return Err(unknown("method", other, "`likelihood` or `bootstrap`")),
    };
    let ties = match query.get("ties") {
        None | Some("") => None,
        Some("paired") => Some(Ties::Paired),
        Some("v2") => Some(Ties::V2),
        Some(other) => return Err(unknown("ties", other, "`paired` or `v2`")),
    };
    let options = BoardOptions { estimator: estimator(query, Mode::C_P)?, method, ties };
    options.resolve()?;
    Ok(options)
}

/// The estimation mode: `mode`, or the given default.
pub(crate) fn mode(query: &Query, default: Mode) -> Result<Mode, ApiError> {
    Ok(query.get("mode").map(str::parse).transpose()?.unwrap_or(default))
}

/// The grouping of rows: `by=eval` or `by=task`.
pub(crate) fn by(query: &Query, default: GroupBy) -> Result<GroupBy, ApiError> {
    match query.get("by") {
        None => Ok(default),
        Some("eval") => Ok(GroupBy::Eval),
        Some("task") => Ok(GroupBy::Task),
        Some(other) => {
            Err(ApiError::bad_request(format_args!("`by={other}` is unknown; expected `eval` or `task`")))
        }
    }
}

/// A number, if the query has one of this name.
pub(crate) fn number<T: std::str::FromStr>(query: &Query, name: &str) -> Result<Option<T>, ApiError> {
    let invalid = |text: &str| {
        ApiError::bad_request(format_args!("`{name}={text}` is not a valid number; expected a number from 0"))
    };
    query.get(name).map(|text| text.parse().map_err(|_| invalid(text))).transpose()
}

/// The rows to return: the number to skip (`offset`) and the maximum number (`limit`).
pub(crate) fn page_range(query: &Query) -> Result<(u64, usize), ApiError> {
    let limit = number(query, "limit")?.unwrap_or(PAGE_SIZE);
    if limit == 0 || limit > MAX_PAGE_SIZE {
        return Err(ApiError::bad_request(format_args!(
            "`limit={limit}` is out of range; expected a number from 1 to {MAX_PAGE_SIZE}"
        )));
    }
    Ok((number(query, "offset")?.unwrap_or(0), limit))
}
