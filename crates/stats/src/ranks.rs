//! Ranks and groups of models from pairwise verdicts.

use std::ops::Range;

/// The ranks that a model may have, given which models are better and worse. 1 is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankRange {
    /// `1 +` the number of models that are better.
    pub best: usize,
    /// The number of models minus those that are worse.
    pub worst: usize,
}

/// The rank range of each of `models` models. Each verdict is a pair of indices, the better model first, as established
/// after a correction for multiple tests. Pairs with an index out of range are ignored, and so are repeated ones.
///
/// ```
/// use reasonscape_stats::ranks::{RankRange, rank_ranges};
///
/// let ranges = rank_ranges(3, &[(0, 1), (0, 2)]);
/// assert_eq!(ranges[0], RankRange { best: 1, worst: 1 });
/// assert_eq!(ranges[1], RankRange { best: 2, worst: 3 });
/// ```
pub fn rank_ranges(models: usize, verdicts: &[(usize, usize)]) -> Vec<RankRange> {
    let mut ranges = vec![RankRange { best: 1, worst: models }; models];
    let mut verdicts: Vec<_> =
        verdicts.iter().filter(|(better, worse)| *better < models && *worse < models).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    for &&(better, worse) in &verdicts {
        ranges[worse].best += 1;
        ranges[better].worst -= 1;
    }
    ranges
}

/// The maximal runs of models in which no pair differs, as ranges into `order`, the models sorted by estimate. Runs may
/// overlap; every model is in at least one.
///
/// ```
/// use reasonscape_stats::ranks::indistinguishable_sets;
///
/// // 0 and 2 differ; 1 differs from neither.
/// let sets = indistinguishable_sets(&[0, 1, 2], |a, b| a.abs_diff(b) == 2);
/// assert_eq!(sets, [0..2, 1..3]);
/// ```
pub fn indistinguishable_sets(order: &[usize], differs: impl Fn(usize, usize) -> bool) -> Vec<Range<usize>> {
    let mut sets: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for end in 0..order.len() {
        let conflict = (start..end).rev().find(|&other| differs(order[other], order[end]));
        if let Some(conflict) = conflict {
            sets.push(start..end);
            start = conflict + 1;
        }
    }
    if start < order.len() {
        sets.push(start..order.len());
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_are_exactly_the_maximal_runs_without_a_difference(
            models in 0_usize..9,
            differing in prop::collection::vec((0_usize..9, 0_usize..9), 0..12),
        ) {
            let order: Vec<usize> = (0..models).rev().collect();
            let differs = |a: usize, b: usize| differing.contains(&(a, b)) || differing.contains(&(b, a));
            let is_run = |start: usize, end: usize| {
                (start..end).all(|i| (i + 1..end).all(|j| !differs(order[i], order[j])))
            };
            let mut expected = Vec::new();
            for start in 0..models {
                for end in start + 1..=models {
                    let grows_left = start > 0 && is_run(start - 1, end);
                    let grows_right = end < models && is_run(start, end + 1);
                    if is_run(start, end) && !grows_left && !grows_right {
                        expected.push(start..end);
                    }
                }
            }
            prop_assert_eq!(indistinguishable_sets(&order, differs), expected);
        }
    }

    #[test]
    fn repeated_and_unknown_verdicts_change_nothing() {
        let expected = rank_ranges(3, &[(2, 0)]);
        assert_eq!(rank_ranges(3, &[(2, 0), (2, 0), (7, 1)]), expected);
        assert_eq!(expected[2], RankRange { best: 1, worst: 2 });
        assert_eq!(expected[1], RankRange { best: 1, worst: 3 });
        assert_eq!(rank_ranges(0, &[]), []);
    }
}
