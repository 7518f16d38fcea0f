//! How varied answers are.

/// The entropy of how often each of several answers was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entropy {
    /// `- sum p ln p` over the shares `p` of the answers, in nats: 0 when all are the same.
    pub nats: f64,
    /// How many different answers there are.
    pub distinct: u64,
    /// Answers in all.
    pub n: u64,
}

impl Entropy {
    /// The entropy of these counts; zeros are no answers, and no answer at all is `None`.
    ///
    /// Equal counts are taken together and added in ascending order, so that the order in which a hash table yields
    /// them changes no bit.
    ///
    /// ```
    /// use reasonscape_stats::entropy::Entropy;
    ///
    /// let answers = Entropy::from_counts([2, 2]).expect("there are answers");
    /// assert_eq!(answers.nats, 2.0_f64.ln());
    /// assert_eq!(answers.normalised(), Some(1.0));
    /// assert_eq!(Entropy::from_counts([7]).and_then(|same| same.normalised()), None);
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
        // Rounding may leave a term's last bit below zero or above the most there can be; adding zero makes a minus zero
        // a plain one.
        let nats = terms.sum::<f64>().clamp(0.0, (distinct.max(1) as f64).ln()) + 0.0;
        (n > 0).then_some(Self { nats, distinct, n })
    }

    /// The entropy as a share of the most that so many different answers can have, `nats / ln(distinct)`; `None` when
    /// there is only one, which has neither variety nor a lack of it.
    pub fn normalised(&self) -> Option<f64> {
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
                prop_assert!(entropy.normalised().is_none_or(|proportion| (0.0..=1.0).contains(&proportion)));
            }
        }
    }

    #[test]
    fn normalized_entropy_is_one_for_distinct_and_zero_for_equal() {
        for n in [2, 3, 7, 1000] {
            assert_eq!(Entropy::from_counts(vec![1; n]).unwrap().normalised().unwrap(), 1.0, "{n}");
        }
        let same = Entropy::from_counts([0, 9, 0]).unwrap();
        assert_eq!((same.nats, same.distinct, same.n, same.normalised()), (0.0, 1, 9, None));
        assert!(same.nats.is_sign_positive());
    }
}
