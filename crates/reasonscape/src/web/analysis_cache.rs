//! Analyses of points along parameters and of trials, each worked out once however many ask.

use std::sync::Arc;

use reasonscape_points::Estimator;
use reasonscape_stats::{Confidence, Mode};

use super::api::mode;
use super::app::Snapshot;
use super::error::Problem;
use super::query_string::Query;
use super::single_flight::Memo;
use crate::analysis::{
    self, Along, Asked, By, Compression, CompressionOptions, Frontiers, HazardOptions, HazardRow,
    TaskParameters, TokensOptions, TokensRow, Views,
};

/// The share of right answers that a smaller token limit should keep, unless told otherwise.
pub(super) const KEEP: f64 = 0.95;

/// Which part of a study is meant, and how shares are estimated.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// Conditions on points, of the form `COLUMN=VALUE`.
    pub(super) conditions: Vec<String>,
    pub(super) mode: Mode,
    pub(super) confidence: Confidence,
}

impl Part {
    /// Reads it from an address: `eval`, `task`, `filter`, `mode` and `confidence`.
    pub(super) fn of(query: &Query) -> Result<Self, Problem> {
        let named =
            |name, column: &str| query.all(name).map(move |value| format!("{column}={value}")).collect();
        let mut conditions: Vec<String> = named("eval", "eval_id");
        conditions.extend::<Vec<String>>(named("task", "base_task"));
        conditions.extend(query.all("filter").map(ToOwned::to_owned));
        let confidence = match query.get("confidence") {
            None => Confidence::default(),
            Some(text) => {
                text.parse().ok().and_then(|level| Confidence::new(level).ok()).ok_or_else(|| {
                    Problem::wrong(format_args!(
                        "`confidence={text}` is out of range; give a number from 0.01 to 0.999999, as 0.95 for 95 %"
                    ))
                })?
            }
        };
        Ok(Self { conditions, mode: mode(query, Mode::C_P)?, confidence })
    }

    pub(super) fn estimator(&self) -> Estimator {
        Estimator { mode: self.mode, confidence: self.confidence }
    }
}

/// What a row stands for: `by=eval` or `by=task`.
pub(super) fn by(query: &Query, usual: By) -> Result<By, Problem> {
    match query.get("by") {
        None => Ok(usual),
        Some("eval") => Ok(By::Eval),
        Some("task") => Ok(By::Task),
        Some(other) => Err(Problem::wrong(format_args!("`by={other}` is unknown; there are eval and task"))),
    }
}

/// What is looked along: the horizontal parameter and the vertical one, and whether two are wanted.
type Axes = (Option<String>, Option<String>, bool);

/// The answers that were worked out already.
#[derive(Default)]
pub(super) struct Answers {
    parameters: Memo<Vec<String>, Vec<TaskParameters>>,
    views: Memo<(Part, Axes), Views>,
    frontiers: Memo<(Part, Option<String>), Frontiers>,
    hazard: Memo<(Part, By, Option<u64>), Vec<HazardRow>>,
    tokens: Memo<(Part, By, f64, Vec<u64>), Vec<TokensRow>>,
    compression: Memo<(Part, By, Option<f64>, usize), Compression>,
}

impl Snapshot {
    /// The parameters that vary, task by task.
    pub(super) async fn parameters(
        &self,
        conditions: &[String],
    ) -> Result<Arc<Vec<TaskParameters>>, Problem> {
        let asked = Asked::parse(conditions)?;
        let work = async || analysis::parameters(&self.db, &asked).await;
        Ok(self.answers.parameters.get(conditions.to_vec(), work).await?)
    }

    /// Accuracy over two parameters.
    pub(super) async fn surface(
        &self,
        part: &Part,
        x: Option<&str>,
        y: Option<&str>,
    ) -> Result<Arc<Views>, Problem> {
        self.views(part, Along { x, y, is_surface: true }).await
    }

    /// Accuracy along one parameter.
    pub(super) async fn projection(&self, part: &Part, x: Option<&str>) -> Result<Arc<Views>, Problem> {
        self.views(part, Along { x, y: None, is_surface: false }).await
    }

    async fn views(&self, part: &Part, along: Along<'_>) -> Result<Arc<Views>, Problem> {
        let asked = Asked::parse(&part.conditions)?;
        let axes = (along.x.map(ToOwned::to_owned), along.y.map(ToOwned::to_owned), along.is_surface);
        let work = async || analysis::views(&self.db, &asked, along, part.estimator()).await;
        Ok(self.answers.views.get((part.clone(), axes), work).await?)
    }

    /// Where half of the answers are known.
    pub(super) async fn frontiers(&self, part: &Part, x: Option<&str>) -> Result<Arc<Frontiers>, Problem> {
        let asked = Asked::parse(&part.conditions)?;
        let work = async || analysis::frontiers(&self.db, &asked, x, part.estimator()).await;
        Ok(self.answers.frontiers.get((part.clone(), x.map(ToOwned::to_owned)), work).await?)
    }

    /// When trials answered.
    pub(super) async fn hazard(
        &self,
        part: &Part,
        by: By,
        width: Option<u64>,
    ) -> Result<Arc<Vec<HazardRow>>, Problem> {
        let asked = Asked::parse(&part.conditions)?;
        if width == Some(0) {
            return Err(Problem::wrong("`width=0` is out of range; a bin has at least one token"));
        }
        let options = HazardOptions { by, width, confidence: part.confidence };
        let work = async || analysis::hazard(&self.db, &asked, options).await;
        Ok(self.answers.hazard.get((part.clone(), by, width), work).await?)
    }

    /// What smaller limits would have given.
    pub(super) async fn tokens(
        &self,
        part: &Part,
        by: By,
        keep: Option<f64>,
        budgets: &[u64],
    ) -> Result<Arc<Vec<TokensRow>>, Problem> {
        let asked = Asked::parse(&part.conditions)?;
        let keep = keep.unwrap_or(KEEP);
        if !(keep > 0.0 && keep <= 1.0) {
            return Err(Problem::wrong(format_args!(
                "`keep={keep}` is out of range; give a share above 0 and up to 1, as 0.95 for 95 %"
            )));
        }
        let options = TokensOptions { by, estimator: part.estimator(), keep, budgets: budgets.to_vec() };
        let work = async || analysis::tokens(&self.db, &asked, &options).await;
        Ok(self.answers.tokens.get((part.clone(), by, keep, budgets.to_vec()), work).await?)
    }

    /// What trials weigh.
    pub(super) async fn compression(
        &self,
        part: &Part,
        by: By,
        loop_bits: Option<f64>,
        examples: usize,
    ) -> Result<Arc<Compression>, Problem> {
        let asked = Asked::parse(&part.conditions)?;
        if let Some(bits) = loop_bits
            && !(bits.is_finite() && bits > 0.0)
        {
            return Err(Problem::wrong(format_args!(
                "`loop_bits={bits}` is out of range; give a number of bits above 0, as 1.5"
            )));
        }
        let options = CompressionOptions { by, confidence: part.confidence, loop_bits, examples };
        let work = async || analysis::compression(&self.db, &asked, options).await;
        Ok(self.answers.compression.get((part.clone(), by, loop_bits, examples), work).await?)
    }
}
