//! Adaptive sampling: samples each point in rounds until its target precision is reached.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

use reasonscape_cache::{Cache, Reader};
use reasonscape_core::{Outcome, Point};
use reasonscape_points::{PointsError, score_responses};
use reasonscape_runner::RunError;
use reasonscape_stats::Counters;
use reasonscape_stats::power::next_count;
use reasonscape_study::{Eval, Precision, Study};

/// Problems per point in the first round.
const FIRST_ROUND: usize = 32;

/// Decides how many problems of each point are sampled.
pub(crate) struct PrecisionPlanner<'s> {
    study: &'s Study,
    cache: &'s Cache,
    precision: Precision,
    /// Counters of each evaluation's points so far, so that every response is scored only once.
    counters: Mutex<HashMap<String, Vec<Counters>>>,
}

impl<'s> PrecisionPlanner<'s> {
    pub(crate) fn new(study: &'s Study, cache: &'s Cache, precision: Precision) -> Self {
        Self { study, cache, precision, counters: Mutex::default() }
    }

    /// The problems of each point to request after the last round; `None` if no point needs more.
    pub(crate) fn next_round(
        &self,
        eval: &Eval,
        points: &[Point<'_>],
        last: Option<&[Range<usize>]>,
    ) -> Result<Option<Vec<Range<usize>>>, RunError> {
        let max_count = self.precision.max_count;
        let Some(last) = last else {
            return Ok(Some(points.iter().map(|_| 0..FIRST_ROUND.min(max_count)).collect()));
        };
        let reader = self.cache.reader()?;
        let known = self.lock().remove(eval.id.as_str());
        let mut counters = known.unwrap_or_else(|| vec![Counters::default(); points.len()]);
        let mut round = Vec::with_capacity(points.len());
        for ((point, range), counters) in points.iter().zip(last).zip(&mut counters) {
            *counters = *counters
                + self
                    .count(&reader, eval, point, range.clone())
                    .map_err(|error| RunError::NextRound(error.into()))?;
            let is_done = range.is_empty() || range.end >= max_count;
            let end = if is_done { range.end } else { self.target_count(counters, range.end) };
            round.push(range.end..end);
        }
        self.lock().insert(eval.id.to_string(), counters);
        Ok(round.iter().any(|range| !range.is_empty()).then_some(round))
    }

    fn target_count(&self, counters: &Counters, so_far: usize) -> usize {
        let Precision { margin, max_count } = self.precision;
        next_count(counters, so_far as u64, margin, max_count as u64) as usize
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<Counters>>> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counters of the planned trials of some problems.
    fn count(
        &self,
        reader: &Reader,
        eval: &Eval,
        point: &Point<'_>,
        problems: Range<usize>,
    ) -> Result<Counters, PointsError> {
        let mut counters = Counters::default();
        score_responses(self.study, reader, eval, point, problems, &mut |trial| {
            let flag = |outcome: Outcome| f64::from(u8::from(trial.outcome == outcome));
            let guess = if trial.outcome == Outcome::Truncated { 0.0 } else { trial.test.guess() };
            let one = Counters::new(1.0, flag(Outcome::Correct), flag(Outcome::Truncated), guess);
            counters = counters + one.expect("the counters of one trial");
            ControlFlow::Continue(())
        })?;
        Ok(counters)
    }
}
