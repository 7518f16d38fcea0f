//! Power spectra of prompts: do two populations of problems differ in structure?
//!
//! Prompts are not stored; they are generated again from parameters and seed.

mod figure;

use std::collections::BTreeSet;
use std::str::FromStr;

use reasonscape_core::{Json, Params, TestStream, tasks};
use reasonscape_points::{Column, Filter, PointsDb, PointsError};
use reasonscape_stats::Mode;
use reasonscape_stats::spectrum::{MIN_SERIES_LEN, PermutationTest, Population};
use serde::Serialize;

use super::query::PointQuery;

pub use self::figure::spectrum_figure;

/// The series that a prompt is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Series {
    /// Lengths of words, in characters.
    #[default]
    Words,
    /// Classes of characters: white space, lower case, upper case, digit, other.
    Classes,
}

impl Series {
    fn values(self, prompt: &str) -> Vec<f64> {
        match self {
            Self::Words => prompt.split_whitespace().map(|word| word.chars().count() as f64).collect(),
            Self::Classes => prompt.chars().map(character_class).collect(),
        }
    }

    /// One step of the series.
    pub fn step(self) -> &'static str {
        match self {
            Self::Words => "word",
            Self::Classes => "character",
        }
    }
}

impl FromStr for Series {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "words" => Ok(Self::Words),
            "classes" => Ok(Self::Classes),
            _ => Err(format!("unknown series `{name}`; expected `words` or `classes`")),
        }
    }
}

fn character_class(letter: char) -> f64 {
    match letter {
        white if white.is_whitespace() => 0.0,
        small if small.is_lowercase() => 1.0,
        capital if capital.is_alphabetic() => 2.0,
        digit if digit.is_numeric() => 3.0,
        _ => 4.0,
    }
}

/// How populations are sampled and compared.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// The series that a prompt is converted to.
    pub series: Series,
    /// Problems per point.
    pub count: usize,
    /// Frequency bins.
    pub bins: usize,
    /// Permutations of the test.
    pub permutations: usize,
}

/// Points under a seed.
#[derive(Debug, Clone)]
pub struct PromptSource<'a> {
    /// The points.
    pub query: &'a PointQuery,
    /// The global seed.
    pub seed: i64,
}

/// Two populations and the distance between their spectra.
#[derive(Debug, Clone, Serialize)]
pub struct Spectra {
    /// The series that a prompt is converted to.
    pub series: Series,
    /// Population A.
    pub a: PopulationSummary,
    /// Population B.
    pub b: PopulationSummary,
    /// Cycles per step, the middle of each bin.
    pub frequencies: Vec<f64>,
    /// Root mean square difference of the mean spectra, in decibels.
    pub distance_db: f64,
    /// The distance that equal populations exceed in 5 % of cases.
    pub chance_db: f64,
    /// The p-value.
    pub p: f64,
    /// Permutations of the test.
    pub permutations: usize,
    /// `different`, `no difference seen`, or `cannot tell` where there are too few prompts.
    pub verdict: &'static str,
}

/// One population.
#[derive(Debug, Clone, Serialize)]
pub struct PopulationSummary {
    /// The global seed.
    pub seed: i64,
    /// The tasks.
    pub tasks: Vec<String>,
    /// Points.
    pub points: usize,
    /// Prompts.
    pub prompts: usize,
    /// Prompts that are too short for a spectrum.
    pub too_short: usize,
    /// Mean power density by frequency.
    pub mean: Vec<f64>,
    /// 10th percentile of the prompts by frequency.
    pub low: Vec<f64>,
    /// 90th percentile of the prompts by frequency.
    pub high: Vec<f64>,
}

/// Below this number of prompts per population, a result that isn't significant is inconclusive.
const MIN_PROMPTS: usize = 20;

/// Generates the prompts of both populations again and compares their spectra.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn spectra(
    db: &PointsDb,
    a: PromptSource<'_>,
    b: PromptSource<'_>,
    sampling: Sampling,
) -> Result<Spectra, PointsError> {
    let (population_a, a) = population(db, a, sampling).await?;
    let (population_b, b) = population(db, b, sampling).await?;
    let test = PermutationTest { permutations: sampling.permutations, ..PermutationTest::default() };
    let found = population_a.compare(&population_b, test)?;
    let is_small = a.prompts.min(b.prompts) < MIN_PROMPTS;
    Ok(Spectra {
        series: sampling.series,
        frequencies: population_a.frequencies(),
        distance_db: found.distance_db,
        chance_db: found.chance_db,
        p: found.p,
        permutations: found.permutations,
        verdict: if found.p <= 0.05 {
            "different"
        } else if is_small {
            "cannot tell"
        } else {
            "no difference seen"
        },
        a,
        b,
    })
}

async fn population(
    db: &PointsDb,
    source: PromptSource<'_>,
    sampling: Sampling,
) -> Result<(Population, PopulationSummary), PointsError> {
    let points = points(db, &source.query.filter).await?;
    if points.is_empty() {
        return Err(source.query.no_match_error(db).await);
    }
    let (mut series, mut too_short, mut names) = (Vec::new(), 0, BTreeSet::new());
    for (name, params) in &points {
        let task = tasks::by_stored_name(name).ok_or_else(|| {
            PointsError::InvalidQuery(format!(
                "`{name}` is not a built-in task, so its prompts cannot be generated again; use `--filter base_task=…` to \
                 select built-in tasks"
            ))
        })?;
        let invalid_point = |problem: String| {
            PointsError::InvalidQuery(format!(
                "the prompts of point `{params}` of `{name}` cannot be generated again: {problem}"
            ))
        };
        let given = Json::parse(params).map_err(|error| invalid_point(error.to_string()))?;
        let params = Params::new(task, &given).map_err(|error| invalid_point(error.to_string()))?;
        for test in TestStream::new(task, &params, source.seed).take(sampling.count) {
            let one = sampling.series.values(&test.prompt);
            if one.len() < MIN_SERIES_LEN {
                too_short += 1;
            } else {
                series.push(one);
            }
        }
        names.insert(name.clone());
    }
    if series.is_empty() {
        return Err(PointsError::InvalidQuery(format!(
            "every prompt is shorter than {MIN_SERIES_LEN} steps, too short for a spectrum; `--series classes` accepts shorter prompts"
        )));
    }
    let population = Population::new(&series, sampling.bins)?;
    let summary = PopulationSummary {
        seed: source.seed,
        tasks: names.into_iter().collect(),
        points: points.len(),
        prompts: series.len(),
        too_short,
        mean: population.mean(),
        low: population.quantile(0.1)?,
        high: population.quantile(0.9)?,
    };
    Ok((population, summary))
}

/// The distinct points that a filter selects: task and parameters.
async fn points(db: &PointsDb, filter: &Filter) -> Result<Vec<(String, String)>, PointsError> {
    let groups = db.aggregate(&[Column::BaseTask, Column::Params], filter, Mode::C_P.into()).await?;
    Ok(groups.into_iter().map(|group| (group.key[0].to_string(), group.key[1].to_string())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_word_lengths_or_character_classes() {
        assert_eq!(Series::Words.values("Sum: 1 +\n größer"), [4.0, 1.0, 1.0, 6.0]);
        assert_eq!(Series::Classes.values("Aß 7."), [2.0, 1.0, 0.0, 3.0, 4.0]);
        assert!(Series::Words.values(" \n").is_empty());
    }
}
