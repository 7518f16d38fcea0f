//! Entropy of answers.

/// The Shannon entropy of a distribution of answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entropy {
    /// `- sum p ln p` over the proportions `p` of the answers, in nats: 0 when all are equal.
    pub nats: f64,
    /// Number of distinct answers.
    pub distinct: u64,
    /// Number of answers.
    pub n: u64,
}

impl Entropy {
    /// The entropy of these counts; zeros are ignored, and `None` if nothing remains.
    ///
    /// Equal counts are grouped and summed in ascending order, so the iteration order of a hash table doesn't affect the
    /// result.
    ///
    /// ```
    /// use reasonscape_stats::entropy::Entropy;
    ///
    /// let answers = Entropy::from_counts([2, 2]).expect("there are answers");
    /// assert_eq!(answers.nats, 2.0_f64.ln());
    /// assert_eq!(answers.normalized(), Some(1.0));
    /// assert_eq!(Entropy::from_counts([7]).and_then(|same| same.normalized()), None);
    /// assert_eq!(Entropy::from_counts([]), None);
    /// ```
    pub fn from_counts(counts: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut counts: Vec<u64> = counts.into_iter().filter(|&count| count > 0).collect();
        counts.sort_unstable();
        let n: u64 = counts.iter().sum();
        let distinct = counts.len() as u64;
        let terms = counts.chunk_by(|a, b| a == b).map(|same| {
            let proportion = same[0] as f64 / n as f64;
            same.len() as f64 * proportion * -proportion.ln()
        });
        // Rounding may put the sum slightly out of range; adding zero turns -0 into +0.
        let nats = terms.sum::<f64>().clamp(0.0, (distinct.max(1) as f64).ln()) + 0.0;
        (n > 0).then_some(Self { nats, distinct, n })
    }

    /// The entropy relative to its maximum for this many distinct answers, `nats / ln(distinct)`; `None` with a single
    /// distinct answer.
    pub fn normalized(&self) -> Option<f64> {
        (self.distinct > 1).then(|| self.nats / (self.distinct as f64).ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entropy_is_in_range_and_order_independent(mut counts in prop::collection::vec(0_u64..1000, 0..50)) {
            let forward = Entropy::from_counts(counts.iter().copied());
            counts.reverse();
            prop_assert_eq!(Entropy::from_counts(counts), forward);
            if let Some(entropy) = forward {
                prop_assert!(0.0 <= entropy.nats && entropy.nats <= (entropy.distinct as f64).ln());
                prop_assert!(entropy.normalized().is_none_or(|proportion| (0.0..=1.0).contains(&proportion)));
            }
        }
    }

    #[test]
    fn normalized_entropy_is_one_for_distinct_and_zero_for_equal() {
        for n in [2, 3, 7, 1000] {
            assert_eq!(Entropy::from_counts(vec![1; n]).unwrap().normalized().unwrap(), 1.0, "{n}");
        }
        let same = Entropy::from_counts([0, 9, 0]).unwrap();
        assert_eq!((same.nats, same.distinct, same.n, same.normalized()), (0.0, 1, 9, None));
        assert!(same.nats.is_sign_positive());
    }
}
