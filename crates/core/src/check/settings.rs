//! Do two settings of the parameters give different problems?

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};

use super::surface::tokens;
use super::{PointCheck, Problem};
use crate::{Json, to_hex};

/// Buckets that words are hashed into. Two words in one bucket hide a difference only if one replaces the other.
const BUCKETS: usize = 128;

/// The first numbers of a prompt, whose values are features too.
const FIRST_NUMBERS: usize = 8;

/// How many standard errors two means must be apart to count as different: about 1 % for all features together.
const DIFFERENCE: f64 = 4.0;

/// Mean and variance of features of problems, to compare two settings.
#[derive(Debug, Clone, Default)]
pub(super) struct Profile {
    count: f64,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Profile {
    pub(super) fn new(problems: &[Problem]) -> Self {
        let width = BUCKETS + 6 + FIRST_NUMBERS;
        let mut profile =
            Self { count: problems.len() as f64, sums: vec![0.0; width], squares: vec![0.0; width] };
        let mut features = vec![0.0; width];
        for problem in problems {
            features.fill(0.0);
            let mut numbers = 0;
            for token in tokens(&problem.prompt) {
                features[bucket(token)] += 1.0;
                features[BUCKETS] += 1.0;
                if numbers < FIRST_NUMBERS && token.starts_with(|c: char| c.is_ascii_digit()) {
                    features[BUCKETS + 6 + numbers] = libm::log1p(token.parse().unwrap_or(0.0));
                    numbers += 1;
                }
            }
            features[BUCKETS + 1] = problem.prompt.len() as f64;
            features[BUCKETS + 2] = problem.target.len() as f64;
            features[BUCKETS + 3] = problem.options.len() as f64;
            features[BUCKETS + 4] = problem.prompt.matches('\n').count() as f64;
            features[BUCKETS + 5] = problem
                .target
                .parse()
                .map_or(0.0, |value: f64| libm::copysign(libm::log1p(value.abs()), value));
            for (place, value) in features.iter().enumerate() {
                profile.sums[place] += value;
                profile.squares[place] += value * value;
            }
        }
        profile
    }

    /// Whether the mean of some feature differs, beyond chance.
    fn differs(&self, other: &Self) -> bool {
        let moments = |profile: &Self, place: usize| {
            let mean = profile.sums[place] / profile.count;
            (mean, (profile.squares[place] / profile.count - mean * mean).max(0.0) / profile.count)
        };
        (0..self.sums.len()).any(|place| {
            let ((mean, error), (other_mean, other_error)) = (moments(self, place), moments(other, place));
            (mean - other_mean).abs() > DIFFERENCE * (error + other_error).sqrt() + 1e-9 * mean.abs()
        })
    }
}

/// FNV-1a, since the standard library's hash may change, mixed once more: its upper bits hardly depend on the last byte.
fn bucket(token: &str) -> usize {
    let hash = token.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as usize
}

/// A hash of problems and their answers.
pub(super) fn fingerprint(problems: &[Problem]) -> String {
    let parts: Vec<String> = problems
        .iter()
        .map(|problem| format!("{}\0{}\0{:?}\n", problem.prompt, problem.target, problem.options))
        .collect();
    to_hex(&Sha256::digest(parts.concat()))
}

/// The groups of two or more points that generate the same problems from the same random numbers, as canonical parameters.
pub(super) fn same_problems(points: &[&PointCheck]) -> Vec<Vec<String>> {
    let mut groups: HashMap<&str, Vec<String>> = HashMap::new();
    let mut order = Vec::new();
    for point in points {
        let Some(common) = &point.common else { continue };
        let group = groups.entry(common).or_default();
        if group.is_empty() {
            order.push(common.as_str());
        }
        group.push(point.params.clone());
    }
    order.into_iter().filter_map(|common| groups.remove(common)).filter(|group| group.len() > 1).collect()
}

/// Pairs of points that differ in one parameter only, with no value of it between theirs, and whose problems look alike.
///
/// Looks at words and lengths only, so two settings that differ in meaning alone may be listed: a note, not a failure.
pub(super) fn without_difference(points: &[&PointCheck]) -> Vec<[String; 2]> {
    let parsed: Vec<BTreeMap<String, Json>> = points
        .iter()
        .map(|point| match Json::parse(&point.params) {
            Ok(Json::Object(values)) => values,
            _ => BTreeMap::new(),
        })
        .collect();
    let mut names: Vec<&String> = parsed.iter().flat_map(BTreeMap::keys).collect();
    names.sort_unstable();
    names.dedup();
    let mut pairs = Vec::new();
    for name in names {
        // Points that agree in all other parameters, with their value of this one.
        let mut lines: BTreeMap<String, Vec<(f64, usize)>> = BTreeMap::new();
        for (index, values) in parsed.iter().enumerate() {
            let mut rest = values.clone();
            let value = match rest.remove(name) {
                Some(Json::Int(value)) => value as f64,
                Some(Json::Float(value)) => value,
                // Words have no order, so every pair of them is compared through their neighbors in the list of points.
                Some(_) => index as f64,
                None => continue,
            };
            lines.entry(crate::canonical_json(&Json::Object(rest))).or_default().push((value, index));
        }
        for mut line in lines.into_values() {
            line.sort_by(|a, b| a.0.total_cmp(&b.0));
            for pair in line.windows(2) {
                let (one, other) = (points[pair[0].1], points[pair[1].1]);
                if !one.profile.differs(&other.profile) {
                    pairs.push([one.params.clone(), other.params.clone()]);
                }
            }
        }
    }
    pairs
}
