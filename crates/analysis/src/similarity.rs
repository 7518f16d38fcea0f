//! Which models perform similarly: evaluations grouped by their accuracy on each task.

mod figure;

use reasonscape_core::PyRandom;
use reasonscape_points::{Estimator, EvalInfo, PointsDb, PointsError};
use reasonscape_stats::cluster::{Linkage, cluster, distance, noise_distance, stability};
use reasonscape_stats::{Confidence, chi_square};
use serde::Serialize;

use super::query::PointQuery;
use super::totals::{EvalTotals, SuiteTotals};

pub use self::figure::similarity_figure;

/// How many times the profiles are resampled within their errors, to see which groups are stable.
const RESAMPLES: usize = 200;
const SEED: i128 = 42;

/// Evaluations in groups.
#[derive(Debug, Clone, Serialize)]
pub struct ModelClusters {
    /// The tasks of a profile.
    pub tasks: Vec<String>,
    /// The evaluations, similar ones next to each other.
    pub members: Vec<ClusteredModel>,
    /// The merges, the nearest first.
    pub merges: Vec<ClusterMerge>,
    /// Evaluations without an estimate on some task.
    pub left_out: Vec<ExcludedEval>,
    /// Whether profiles are compared without their mean.
    pub shape: bool,
    /// The estimator.
    pub mode: &'static str,
    /// The level of confidence intervals.
    pub confidence: f64,
}

/// One evaluation.
#[derive(Debug, Clone, Serialize)]
pub struct ClusteredModel {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// Evaluations of one group are statistically indistinguishable; numbered from 1.
    pub group: usize,
    /// The accuracy on each task; minus the mean over tasks if only the shape is compared.
    pub profile: Vec<f64>,
    /// Standard errors of the profile.
    pub errors: Vec<f64>,
    /// Margins of the profile at the requested confidence level.
    #[serde(skip)]
    pub margins: Vec<f64>,
    /// Trials.
    pub n: u64,
    /// The evaluation whose profile is nearest.
    pub nearest: Option<NearestModel>,
}

/// The most similar evaluation.
#[derive(Debug, Clone, Serialize)]
pub struct NearestModel {
    /// The id of the evaluation.
    pub eval_id: String,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// Root mean square difference over tasks.
    pub distance: f64,
    /// The distance that two profiles of the same model stay below at the requested confidence level.
    pub by_chance: f64,
}

/// A merge of two groups.
#[derive(Debug, Clone, Serialize)]
pub struct ClusterMerge {
    /// Ids of the first group.
    pub a: Vec<String>,
    /// Ids of the second group.
    pub b: Vec<String>,
    /// Indices of the two: a member, or, from the number of members on, an earlier merge.
    pub nodes: [usize; 2],
    /// Distance at which the two merge.
    pub height: f64,
    /// The distance that profiles of the same model stay below at the requested confidence level.
    pub by_chance: f64,
    /// Proportion of resamples in which exactly these form a group.
    pub stability: f64,
}

/// An evaluation that cannot be compared.
#[derive(Debug, Clone, Serialize)]
pub struct ExcludedEval {
    /// The id of the evaluation.
    pub eval_id: String,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// Tasks without an estimate.
    pub lacks: Vec<String>,
}

/// The accuracies of one evaluation and their standard errors, by task.
struct Profile<'a> {
    eval: &'a EvalTotals,
    values: Vec<f64>,
    errors: Vec<f64>,
}

/// Groups the evaluations that have every task. With `shape`, the mean of each profile is subtracted first.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn cluster_models(
    db: &PointsDb,
    query: &PointQuery,
    estimator: Estimator,
    linkage: Linkage,
    shape: bool,
) -> Result<ModelClusters, PointsError> {
    let totals = SuiteTotals::load(db, query).await?;
    let has_trials = |task: &&String| totals.evals.iter().any(|eval| trials(eval, task) > 0);
    let tasks: Vec<String> = totals.suite.keys().filter(has_trials).cloned().collect();
    if shape && tasks.len() < 2 {
        return Err(PointsError::InvalidQuery(format!(
            "a profile of {} task has no shape; remove `--shape` or widen the filter",
            tasks.len()
        )));
    }
    let (mut profiles, mut left_out) = (Vec::new(), Vec::new());
    for eval in &totals.evals {
        match profile(eval, &tasks, estimator)? {
            Ok(profile) => profiles.push(if shape { without_level(profile) } else { profile }),
            Err(lacks) => left_out.push(ExcludedEval {
                eval_id: eval.info.eval_id.clone(),
                label: eval.label.clone(),
                lacks,
            }),
        }
    }
    if profiles.len() < 2 {
        let lacks =
            left_out.iter().map(|out| format!("; {} has no estimate on {}", out.label, out.lacks.join(", ")));
        return Err(PointsError::InvalidQuery(format!(
            "similarity needs at least two evaluations with every task, but {} {} every task{}; use \
             `--filter base_task=…` to select common tasks",
            profiles.len(),
            if profiles.len() == 1 { "has" } else { "have" },
            lacks.take(3).collect::<String>()
        )));
    }
    group(&profiles, tasks, left_out, linkage, estimator, shape)
}

fn trials(eval: &EvalTotals, task: &str) -> u64 {
    eval.tasks.get(task).map_or(0, |task| task.counts.n)
}

/// The profile of an evaluation, or the tasks without an estimate.
fn profile<'a>(
    eval: &'a EvalTotals,
    tasks: &[String],
    estimator: Estimator,
) -> Result<Result<Profile<'a>, Vec<String>>, PointsError> {
    let (mut values, mut errors, mut lacks) = (Vec::new(), Vec::new(), Vec::new());
    for task in tasks {
        let counts = eval.tasks.get(task).map(|task| task.counts).unwrap_or_default();
        let estimate = estimator.estimate(&counts)?;
        match estimate.point {
            Some(point) if counts.n > 0 => {
                values.push(point);
                errors.push(estimate.margin() / estimator.confidence.z());
            }
            _ => lacks.push(task.clone()),
        }
    }
    Ok(if lacks.is_empty() { Ok(Profile { eval, values, errors }) } else { Err(lacks) })
}

/// Subtracts the mean of a profile, and adjusts the errors.
fn without_level(mut profile: Profile<'_>) -> Profile<'_> {
    let tasks = profile.values.len() as f64;
    let mean = profile.values.iter().sum::<f64>() / tasks;
    let of_mean = profile.errors.iter().map(|error| error * error).sum::<f64>() / (tasks * tasks);
    for (value, error) in profile.values.iter_mut().zip(&mut profile.errors) {
        *value -= mean;
        // Errors are independent; the mean contains 1/tasks of the value itself.
        *error = (*error * *error * (1.0 - 2.0 / tasks) + of_mean).max(0.0).sqrt();
    }
    profile
}

fn group(
    profiles: &[Profile<'_>],
    tasks: Vec<String>,
    left_out: Vec<ExcludedEval>,
    linkage: Linkage,
    estimator: Estimator,
    shape: bool,
) -> Result<ModelClusters, PointsError> {
    let values: Vec<&Vec<f64>> = profiles.iter().map(|profile| &profile.values).collect();
    let errors: Vec<&Vec<f64>> = profiles.iter().map(|profile| &profile.errors).collect();
    let tree = cluster(&values, linkage)?;
    let mut rng = PyRandom::new(SEED);
    let redrawn = |_| -> Vec<Vec<f64>> {
        let mut redraw = |(value, error): (&f64, &f64)| value + error * normal(&mut rng);
        profiles
            .iter()
            .map(|profile| profile.values.iter().zip(&profile.errors).map(&mut redraw).collect())
            .collect()
    };
    let stabilities = stability(&tree, linkage, RESAMPLES, redrawn)?;
    let noise = tree.noise_heights(&errors)?;
    let degrees = if shape { tasks.len() - 1 } else { tasks.len() };
    let margin = margin_of_chance(degrees, estimator.confidence)?;
    let leaves = profiles.len();
    let id = |leaf: &usize| profiles[*leaf].eval.info.eval_id.clone();
    let groups = tree.groups();
    let ids = |node: usize| match node.checked_sub(leaves) {
        None => vec![id(&node)],
        Some(earlier) => groups[earlier].iter().map(id).collect(),
    };
    let merges: Vec<ClusterMerge> = tree
        .merges()
        .iter()
        .zip(noise.iter().zip(stabilities))
        .map(|(merge, (noise, stability))| ClusterMerge {
            a: ids(merge.a),
            b: ids(merge.b),
            nodes: [merge.a, merge.b],
            height: merge.height,
            by_chance: margin * noise,
            stability,
        })
        .collect();
    let order = tree.leaf_order();
    let numbers = number_groups(&merges, &groups, leaves, &order);
    let members = (0..leaves)
        .map(|leaf| {
            Ok(ClusteredModel {
                eval: profiles[leaf].eval.info.clone(),
                label: profiles[leaf].eval.label.clone(),
                group: numbers[leaf],
                profile: profiles[leaf].values.clone(),
                errors: profiles[leaf].errors.clone(),
                margins: profiles[leaf].errors.iter().map(|error| error * estimator.confidence.z()).collect(),
                n: profiles[leaf].eval.total().n,
                nearest: nearest(profiles, leaf, margin)?,
            })
        })
        .collect::<Result<Vec<ClusteredModel>, PointsError>>()?;
    let (mode, confidence) = (estimator.mode.name(), estimator.confidence.level());
    Ok(reordered(ModelClusters { tasks, members, merges, left_out, shape, mode, confidence }, &order))
}

/// Puts the members into the order of the tree, and renumbers them in the merges.
fn reordered(mut clusters: ModelClusters, order: &[usize]) -> ModelClusters {
    let mut new_index = vec![0; order.len()];
    for (to, from) in order.iter().enumerate() {
        new_index[*from] = to;
    }
    for merge in &mut clusters.merges {
        merge.nodes = merge.nodes.map(|node| new_index.get(node).copied().unwrap_or(node));
    }
    clusters.members = order.iter().map(|leaf| clusters.members[*leaf].clone()).collect();
    clusters
}

/// The group of each leaf: groups merge as long as their distance, and all distances within them, are within noise.
fn number_groups(
    merges: &[ClusterMerge],
    groups: &[Vec<usize>],
    leaves: usize,
    order: &[usize],
) -> Vec<usize> {
    let mut is_one = vec![true; leaves];
    let mut first: Vec<usize> = (0..leaves).collect();
    for (merge, members) in merges.iter().zip(groups) {
        let joins = merge.nodes.iter().all(|node| is_one[*node]) && merge.height <= merge.by_chance;
        is_one.push(joins);
        if joins {
            for leaf in members {
                first[*leaf] = members[0];
            }
        }
    }
    let mut known: Vec<usize> = Vec::new();
    for leaf in order {
        if !known.contains(&first[*leaf]) {
            known.push(first[*leaf]);
        }
    }
    first.iter().map(|first| 1 + known.iter().position(|known| known == first).unwrap_or(0)).collect()
}

fn nearest(profiles: &[Profile<'_>], leaf: usize, margin: f64) -> Result<Option<NearestModel>, PointsError> {
    let mut best: Option<(f64, usize)> = None;
    for other in (0..profiles.len()).filter(|other| *other != leaf) {
        let profile_distance = distance(&profiles[leaf].values, &profiles[other].values)?;
        if best.is_none_or(|(min_distance, _)| profile_distance < min_distance) {
            best = Some((profile_distance, other));
        }
    }
    let Some((profile_distance, other)) = best else { return Ok(None) };
    let noise = noise_distance(&profiles[leaf].errors, &profiles[other].errors)?;
    Ok(Some(NearestModel {
        eval_id: profiles[other].eval.info.eval_id.clone(),
        label: profiles[other].eval.label.clone(),
        distance: profile_distance,
        by_chance: margin * noise,
    }))
}

/// The factor on the noise below which a distance is within chance: `sqrt(q / tasks)` with the quantile `q` of the
/// chi-square distribution, which the sum of squared differences follows if tasks have equal errors.
fn margin_of_chance(degrees: usize, confidence: Confidence) -> Result<f64, PointsError> {
    let degrees = degrees.max(1) as u64;
    let (mut low, mut high) = (0.0, 100.0 + 4.0 * degrees as f64);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if chi_square::survival(middle, degrees)? > 1.0 - confidence.level() {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok((low / degrees as f64).sqrt())
}

/// A draw from the normal distribution (Box-Muller).
fn normal(rng: &mut PyRandom) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margin_of_chance_matches_chi_square() {
        // scipy.stats.chi2.ppf(0.95, degrees)
        for (degrees, quantile) in
            [(1, 3.841_458_820_694_124), (3, 7.814_727_903_251_179), (12, 21.026_069_817_483_07)]
        {
            let found = margin_of_chance(degrees, Confidence::P95).unwrap();
            assert!((found - (quantile / degrees as f64).sqrt()).abs() < 1e-9, "{degrees}: {found}");
        }
    }
}
