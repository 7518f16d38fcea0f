//! Hierarchical clustering of models by their task profiles.
//!
//! A profile is one number per task. The [`distance`] between two models is in the unit of the profile: with accuracies,
//! 0.1 is ten points on a typical task. The closest two groups are merged repeatedly until one is left; a [`Clustering`]
//! holds the merges in order. [`noise_distance`] gives the distance expected from noise alone, and [`stability`] how
//! reproducible each group is.

use std::collections::HashMap;

use kodama::Method;

use crate::{StatsError, finite, non_negative};

/// How the distance between two groups is derived from those of their members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Linkage {
    /// The mean distance over all pairs of one member from each.
    #[default]
    Average,
    /// The largest distance.
    Complete,
    /// The smallest distance.
    Single,
    /// Ward's criterion: the increase in within-group variance.
    Ward,
}

impl From<Linkage> for Method {
    fn from(linkage: Linkage) -> Self {
        match linkage {
            Linkage::Average => Self::Average,
            Linkage::Complete => Self::Complete,
            Linkage::Single => Self::Single,
            Linkage::Ward => Self::Ward,
        }
    }
}

/// The merge of two groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// A group: a leaf number, or the number of leaves plus the index of an earlier merge.
    pub a: usize,
    /// The other group, with a larger number.
    pub b: usize,
    /// The distance at which they merge; never smaller than that of the previous merge.
    pub height: f64,
    /// Leaves in the new group.
    pub size: usize,
}

/// A tree of merges over numbered leaves.
///
/// ```
/// use reasonscape_stats::cluster::{Linkage, cluster};
///
/// let profiles = [[0.9, 0.2], [0.1, 0.8], [0.9, 0.3], [0.2, 0.8]];
/// let tree = cluster(&profiles, Linkage::Average)?;
/// assert_eq!(tree.leaf_order(), [0, 2, 1, 3]);
/// assert_eq!(tree.cut(0.2)?, [0, 1, 0, 1]);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    leaves: usize,
    merges: Vec<Merge>,
}

/// The distance between two profiles: the root mean squared difference over tasks.
///
/// # Errors
/// A [`StatsError`] when there is no task, the lengths differ, or a value is not finite.
pub fn distance(a: &[f64], b: &[f64]) -> Result<f64, StatsError> {
    check(&[a, b])?;
    Ok(root_mean_square(a.iter().zip(b).map(|(a, b)| a - b)))
}

/// The distance that noise alone would put between two identical models.
///
/// With the standard errors of the values, `sqrt(mean(error_a^2 + error_b^2))`: the root of the expected squared
/// distance. Assumes independent errors.
///
/// # Errors
/// A [`StatsError`] when there is no task, the lengths differ, or an error is negative or not finite.
pub fn noise_distance(errors_a: &[f64], errors_b: &[f64]) -> Result<f64, StatsError> {
    check(&[errors_a, errors_b])?;
    for &error in errors_a.iter().chain(errors_b) {
        non_negative("errors", error)?;
    }
    Ok(root_mean_square(errors_a.iter().zip(errors_b).map(|(a, b)| a.hypot(*b))))
}

/// Clusters profiles by their [`distance`].
///
/// Merges and their order are as in SciPy; ties are broken by the algorithm.
///
/// # Errors
/// A [`StatsError`] when there is no profile or no task, the lengths differ, or a value is not finite.
pub fn cluster<P: AsRef<[f64]>>(profiles: &[P], linkage: Linkage) -> Result<Clustering, StatsError> {
    check(profiles)?;
    let mut distances = Vec::with_capacity(profiles.len() * (profiles.len() - 1) / 2);
    for (i, a) in profiles.iter().enumerate() {
        for b in &profiles[i + 1..] {
            distances.push(root_mean_square(a.as_ref().iter().zip(b.as_ref()).map(|(a, b)| a - b)));
        }
    }
    let tree = kodama::linkage(&mut distances, profiles.len(), linkage.into());
    let merges = tree
        .steps()
        .iter()
        .map(|step| Merge { a: step.cluster1, b: step.cluster2, height: step.dissimilarity, size: step.size })
        .collect();
    Ok(Clustering { leaves: profiles.len(), merges })
}

/// The proportion of resampled clusterings in which each group appears with exactly the same members.
///
/// `resample(i)` returns the `i`-th resampled profiles, in the same order of models: with each value perturbed by its
/// error, or with tasks drawn with replacement. One value per merge; the last, the group of all models, is always 1.
///
/// Source: J. Felsenstein, "Confidence limits on phylogenies", Evolution 39 (1985).
///
/// # Errors
/// A [`StatsError`] when `resamples` is 0, or a resample can't be clustered.
pub fn stability<P: AsRef<[f64]>>(
    tree: &Clustering,
    linkage: Linkage,
    resamples: usize,
    mut resample: impl FnMut(usize) -> Vec<P>,
) -> Result<Vec<f64>, StatsError> {
    if resamples == 0 {
        return Err(StatsError::OutOfRange { name: "resamples", value: 0.0, expected: "1 or more" });
    }
    let mut found: HashMap<Vec<usize>, usize> = tree.groups().into_iter().map(|group| (group, 0)).collect();
    for i in 0..resamples {
        let again = resample(i);
        if again.len() != tree.leaves {
            return Err(StatsError::WrongLength {
                name: "profiles",
                found: again.len(),
                expected: tree.leaves,
            });
        }
        for group in cluster(&again, linkage)?.groups() {
            if let Some(count) = found.get_mut(&group) {
                *count += 1;
            }
        }
    }
    Ok(tree.groups().iter().map(|group| found[group] as f64 / resamples as f64).collect())
}

impl Clustering {
    /// Number of profiles.
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// The merges, closest first; one fewer than there are leaves.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The leaves in an order that draws the tree without crossings: `a` before `b` in each merge.
    pub fn leaf_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.leaves);
        let mut waiting = vec![(2 * self.leaves).saturating_sub(2)];
        while let Some(node) = waiting.pop() {
            match node.checked_sub(self.leaves) {
                None => order.push(node),
                Some(merge) => waiting.extend([self.merges[merge].b, self.merges[merge].a]),
            }
        }
        order
    }

    /// The members of the group that each merge creates, ascending.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::with_capacity(self.merges.len());
        for merge in &self.merges {
            let mut members: Vec<usize> = [merge.a, merge.b]
                .into_iter()
                .flat_map(|node| match node.checked_sub(self.leaves) {
                    None => vec![node],
                    Some(earlier) => groups[earlier].clone(),
                })
                .collect();
            members.sort_unstable();
            groups.push(members);
        }
        groups
    }

    /// The group of each leaf when merges above `height` are undone, numbered from 0 in order of the leaves.
    ///
    /// # Errors
    /// A [`StatsError`] when `height` is negative or not finite.
    pub fn cut(&self, height: f64) -> Result<Vec<usize>, StatsError> {
        non_negative("height", height)?;
        let mut label: Vec<usize> = (0..self.leaves).collect();
        for (merge, group) in self.merges.iter().zip(self.groups()) {
            if merge.height <= height {
                for &leaf in &group {
                    label[leaf] = group[0];
                }
            }
        }
        let mut numbers = HashMap::new();
        Ok(label
            .into_iter()
            .map(|first| {
                let next = numbers.len();
                *numbers.entry(first).or_insert(next)
            })
            .collect())
    }

    /// For each merge the distance expected from noise alone: the mean [`noise_distance`] over the pairs of one member from
    /// each side. A merge height close to it joins models that can't be distinguished.
    ///
    /// # Errors
    /// A [`StatsError`] unless there is one row of errors per leaf, and when an error is negative or not finite.
    pub fn noise_heights<P: AsRef<[f64]>>(&self, errors: &[P]) -> Result<Vec<f64>, StatsError> {
        if errors.len() != self.leaves {
            return Err(StatsError::WrongLength {
                name: "errors",
                found: errors.len(),
                expected: self.leaves,
            });
        }
        let groups = self.groups();
        let members = |node: usize| match node.checked_sub(self.leaves) {
            None => vec![node],
            Some(merge) => groups[merge].clone(),
        };
        self.merges
            .iter()
            .map(|merge| {
                let (left, right) = (members(merge.a), members(merge.b));
                let mut sum = 0.0;
                for &a in &left {
                    for &b in &right {
                        sum += noise_distance(errors[a].as_ref(), errors[b].as_ref())?;
                    }
                }
                Ok(sum / (left.len() * right.len()) as f64)
            })
            .collect()
    }
}

fn root_mean_square(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    // Divide first, so that huge values don't overflow when squared.
    values.fold(0.0, |sum: f64, value| sum.hypot(value / n.sqrt()))
}

fn check<P: AsRef<[f64]>>(profiles: &[P]) -> Result<(), StatsError> {
    let Some(first) = profiles.first() else {
        return Err(StatsError::Empty { name: "profiles" });
    };
    let expected = first.as_ref().len();
    if expected == 0 {
        return Err(StatsError::Empty { name: "profile" });
    }
    for profile in profiles {
        let profile = profile.as_ref();
        if profile.len() != expected {
            return Err(StatsError::WrongLength { name: "profile", found: profile.len(), expected });
        }
        for &value in profile {
            finite("profile", value)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::PyRandom;
    use proptest::prelude::*;

    fn profiles() -> impl Strategy<Value = Vec<Vec<f64>>> {
        (1_usize..5).prop_flat_map(|tasks| {
            prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, tasks..=tasks), 1..14)
        })
    }

    proptest! {
        #[test]
        fn merge_heights_ascend_and_leaf_order_is_a_permutation(profiles in profiles(), linkage in prop::sample::select(
            vec![Linkage::Average, Linkage::Complete, Linkage::Single, Linkage::Ward]
        )) {
            let tree = cluster(&profiles, linkage).unwrap();
            prop_assert!(tree.merges().windows(2).all(|pair| pair[0].height <= pair[1].height));
            let mut order = tree.leaf_order();
            order.sort_unstable();
            prop_assert_eq!(order, (0..profiles.len()).collect::<Vec<_>>());
            for (merge, group) in tree.merges().iter().zip(tree.groups()) {
                prop_assert_eq!(merge.size, group.len());
            }
            let top = tree.merges().last().map_or(0.0, |merge| merge.height);
            prop_assert!(tree.cut(top).unwrap().iter().all(|group| *group == 0));
        }

        #[test]
        fn clustering_is_equivariant_under_model_order(mut profiles in profiles()) {
            let rename = |groups: Vec<Vec<usize>>, leaves: usize| -> Vec<Vec<usize>> {
                groups.into_iter().map(|group| group.into_iter().rev().map(|leaf| leaves - 1 - leaf).collect()).collect()
            };
            let forward = cluster(&profiles, Linkage::Average).unwrap().groups();
            profiles.reverse();
            let backward = cluster(&profiles, Linkage::Average).unwrap().groups();
            prop_assert_eq!(rename(backward, profiles.len()), forward);
        }
    }

    #[test]
    fn single_profile_has_no_merges() {
        let tree = cluster(&[[0.5]], Linkage::Average).unwrap();
        assert_eq!((tree.merges().len(), tree.leaf_order(), tree.cut(0.0).unwrap()), (0, vec![0], vec![0]));
    }

    #[test]
    fn similar_models_are_stable_and_noise_merges_are_not() {
        let mut rng = PyRandom::new(7);
        let error = 0.02;
        // Two groups of three; within a group only noise differs.
        let truth = |model: usize| if model < 3 { [0.9, 0.4, 0.6, 0.2] } else { [0.5, 0.8, 0.3, 0.7] };
        let mut measure = |_| -> Vec<[f64; 4]> {
            (0..6).map(|model| truth(model).map(|value| value + error * rng.uniform(-1.7, 1.7))).collect()
        };
        let profiles = measure(0);
        let tree = cluster(&profiles, Linkage::Average).unwrap();
        assert_eq!(tree.cut(0.1).unwrap(), [0, 0, 0, 1, 1, 1]);
        let proportions = stability(&tree, Linkage::Average, 200, measure).unwrap();
        let noise = tree.noise_heights(&[[error; 4]; 6]).unwrap();
        for ((merge, proportion), (group, noise)) in
            tree.merges().iter().zip(proportions).zip(tree.groups().into_iter().zip(noise))
        {
            assert!((noise - error * 2.0_f64.sqrt()).abs() < 1e-12);
            match merge.size {
                6 => assert!(proportion == 1.0 && merge.height > 5.0 * noise),
                3 => assert!(proportion == 1.0, "{group:?}"),
                _ => assert!(proportion < 0.6 && merge.height < 2.0 * noise, "{group:?} {proportion}"),
            }
        }
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        let message = |profiles: &[Vec<f64>]| cluster(profiles, Linkage::Average).unwrap_err().to_string();
        assert_eq!(message(&[]), "`profiles` is empty, but needs at least one entry");
        assert_eq!(message(&[vec![]]), "`profile` is empty, but needs at least one entry");
        assert_eq!(message(&[vec![1.0], vec![]]), "`profile` has 0 entries, but 1 are needed");
        assert_eq!(message(&[vec![f64::NAN]]), "`profile` is NaN, but must be a finite number");
        let tree = cluster(&[[0.0], [1.0]], Linkage::Average).unwrap();
        assert!(tree.cut(f64::NAN).is_err() && tree.noise_heights(&[[0.1]]).is_err());
        assert!(stability(&tree, Linkage::Average, 0, |_| vec![[0.0], [1.0]]).is_err());
        assert!(stability(&tree, Linkage::Average, 1, |_| vec![[0.0]]).is_err());
    }
}
