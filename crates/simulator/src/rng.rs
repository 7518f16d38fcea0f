//! Reproducible random numbers: every draw is a function of the seed and a label.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A random stream derived from a seed and a label (`SplitMix64`, seeded with XXH3, a published format).
///
/// CPython's generator takes longer to seed than a whole reply takes to generate.
#[derive(Debug, Clone)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    /// The stream of `seed` for the label `what`.
    pub(crate) fn new(seed: u64, what: &[u8]) -> Self {
        Self { state: hash(what, seed) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform over the integers below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The bias of the product is below 1e-15 for every `end` used here.
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// True with this probability.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

/// The hash that identifies prompts and requests.
pub(crate) fn hash(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rng_depends_on_seed_and_words() {
        let first = |seed, what: &[u8]| Rng::new(seed, what).next();
        assert_eq!(first(1, b"a"), first(1, b"a"));
        assert_ne!(first(1, b"a"), first(2, b"a"));
        assert_ne!(first(1, b"a"), first(1, b"b"));
    }

    #[test]
    fn unit_draws_are_uniform() {
        let mut rng = Rng::new(7, b"even");
        let mut bins = [0_u32; 10];
        for _ in 0..100_000 {
            bins[(rng.unit() * 10.0) as usize] += 1;
        }
        // Five standard deviations of a binomial with n = 100,000 and p = 0.1.
        assert!(bins.iter().all(|count| count.abs_diff(10_000) < 475), "{bins:?}");
        assert!((0..1000).all(|_| rng.below(3) < 3));
    }
}
