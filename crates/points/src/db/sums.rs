//! Sums over problems from trials, for files of earlier formats and for a part of the trials.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use reasonscape_stats::likelihood::PointSums;

use super::columns::{IntColumn, OutcomeColumn, RealColumn, TextColumn};
use crate::files::FileInfo;
use crate::sampling::{Sample, point_sums};
use crate::schema::SUM_COLUMNS;
use crate::write::sum_columns;
use crate::{PointsError, SamplingRule};

/// The columns of trials that sums are computed from.
const COLUMNS: [&str; 5] = ["params", "index", "repeat", "status", "guess"];

/// What the sums need of the trials of a unit, by the parameters of their points.
#[derive(Default)]
pub(super) struct UnitSamples {
    points: HashMap<String, Vec<Sample>>,
}

impl UnitSamples {
    /// Reads the trials of a file.
    pub(super) fn read(trials: &FileInfo) -> Result<Self, PointsError> {
        let mut samples = Self::default();
        for batch in trials.read_columns(&COLUMNS)? {
            samples.add(&batch, None)?;
        }
        Ok(samples)
    }

    /// Adds a batch of trials, limited to the `first` problems of each point. Other columns are ignored.
    pub(super) fn add(&mut self, batch: &RecordBatch, first: Option<u64>) -> Result<(), PointsError> {
        let params = TextColumn::new(batch, "params");
        let [index, repeat] = ["index", "repeat"].map(|name| IntColumn::new(batch, name));
        let status = OutcomeColumn::new(batch, "status");
        let guess = RealColumn::new(batch, "guess");
        for row in 0..batch.num_rows() {
            // An imported index is a hash, stored with its sign bit.
            let index = index.value(row) as u64;
            if first.is_some_and(|first| index >= first) {
                continue;
            }
            let sample = Sample {
                index,
                repeat: u32::try_from(repeat.value(row)).unwrap_or(u32::MAX),
                outcome: status.value(row)?,
                guess: guess.value(row),
            };
            match self.points.get_mut(params.value(row)) {
                Some(samples) => samples.push(sample),
                None => drop(self.points.insert(params.value(row).to_owned(), vec![sample])),
            }
        }
        Ok(())
    }

    /// The points with their sums. A unit of an earlier format whose points have different numbers of planned trials may
    /// have been sampled adaptively by a rule that wasn't recorded: then the same number of problems of each point counts.
    pub(super) fn add_to(
        mut self,
        points: &RecordBatch,
        is_earlier_format: bool,
    ) -> Result<RecordBatch, PointsError> {
        let params = TextColumn::new(points, "params");
        let recorded = TextColumn::new(points, "stop_rule");
        let equal_prefix = if is_earlier_format { self.smallest_plan(points) } else { None };
        let mut rules = Vec::with_capacity(points.num_rows());
        let mut sums: Vec<PointSums> = Vec::with_capacity(points.num_rows());
        for row in 0..points.num_rows() {
            let recorded = recorded.optional(row).and_then(|rule| rule.parse::<SamplingRule>().ok());
            let rule = recorded.or(equal_prefix.map(SamplingRule::First));
            let mut samples = self.points.remove(params.value(row)).unwrap_or_default();
            sums.push(point_sums(&mut samples, rule));
            rules.push(rule.map(|rule| rule.to_string()));
        }
        let mut columns = points.columns().to_vec();
        let mut set = |name: &str, column: ArrayRef| -> Result<(), PointsError> {
            columns[points.schema().index_of(name)?] = column;
            Ok(())
        };
        for (name, column) in ["problems"].into_iter().chain(SUM_COLUMNS).zip(sum_columns(&sums)) {
            set(name, column)?;
        }
        set("stop_rule", Arc::new(rules.into_iter().collect::<StringArray>()))?;
        Ok(RecordBatch::try_new(points.schema(), columns)?)
    }

    /// The smallest number of planned problems of a point, if points differ in it.
    fn smallest_plan(&self, points: &RecordBatch) -> Option<u64> {
        let repeats = self.points.values().flatten().map(|sample| u64::from(sample.repeat) + 1).max()?;
        let planned = IntColumn::new(points, "planned");
        let planned = planned.values().iter().filter_map(|planned| u64::try_from(*planned).ok());
        let planned = planned.filter(|planned| *planned > 0);
        let (min, max) = (planned.clone().min()?, planned.max()?);
        (min < max).then(|| min.div_ceil(repeats))
    }
}
