//! CPython's `random.Random`, value for value.
//!
//! Generated problems and scores can be reproduced with a Python interpreter, because every random number is the one that
//! `random.Random(seed)` gives. This module is in the lowest crate because ReasonScore is defined on it;
//! `reasonscape-core` re-exports it for the generators.
//!
//! Source: CPython 3.11, `Lib/random.py` and `Modules/_randommodule.c` (the algorithms; the code is original).

use crate::mt19937::Mt19937;

/// A random number generator with CPython's output.
///
/// ```
/// use reasonscape_stats::random::PyRandom;
///
/// // python3 -c "import random; r = random.Random(42); print(r.random(), r.randint(1, 6), r.choice('abc'))"
/// let mut rng = PyRandom::new(42);
/// assert_eq!(rng.random(), 0.6394267984578837);
/// assert_eq!(rng.randint(1, 6), 1);
/// assert_eq!(*rng.choice(&['a', 'b', 'c']), 'c');
/// ```
#[derive(Debug, Clone)]
pub struct PyRandom {
    generator: Mt19937,
}

impl PyRandom {
    /// `random.Random(seed)` for an integer; like CPython it ignores the sign.
    pub fn new(seed: impl Into<i128>) -> Self {
        let magnitude = seed.into().unsigned_abs();
        let words = [0, 32, 64, 96].map(|place| (magnitude >> place) as u32);
        let used = magnitude.checked_ilog2().map_or(1, |bits| bits as usize / 32 + 1);
        Self { generator: Mt19937::new(&words[..used]) }
    }

    /// `random()`: uniform in `[0, 1)` with 53 bits.
    #[inline]
    pub fn random(&mut self) -> f64 {
        let high = f64::from(self.generator.next_u32() >> 5);
        let low = f64::from(self.generator.next_u32() >> 6);
        (high * 67_108_864.0 + low) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random()
    }

    /// `getrandbits(bits)` for up to 64 bits; 0 bits return 0 and draw nothing.
    ///
    /// # Panics
    /// If `bits` exceeds 64.
    #[inline]
    pub fn getrandbits(&mut self, bits: u32) -> u64 {
        assert!(bits <= 64, "getrandbits supports at most 64 bits, not {bits}");
        match bits {
            0 => 0,
            1..=32 => u64::from(self.generator.next_u32() >> (32 - bits)),
            _ => {
                let low = u64::from(self.generator.next_u32());
                let high = u64::from(self.generator.next_u32() >> (64 - bits));
                high << 32 | low
            }
        }
    }

    /// A number below `n`, by rejection sampling with as many bits as `n` has.
    #[inline]
    fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "cannot choose from an empty range");
        let bits = u64::BITS - n.leading_zeros();
        loop {
            let value = self.getrandbits(bits);
            if value < n {
                return value;
            }
        }
    }

    /// `randrange(start, stop)`: `start <= x < stop`.
    ///
    /// # Panics
    /// When the range is empty.
    #[inline]
    pub fn randrange(&mut self, start: i64, stop: i64) -> i64 {
        assert!(start < stop, "empty range {start}..{stop}");
        start.wrapping_add_unsigned(self.below(stop.wrapping_sub(start) as u64))
    }

    /// `randint(low, high)`: `low <= x <= high`.
    ///
    /// # Panics
    /// When the range is empty, or `high` is `i64::MAX`.
    #[inline]
    pub fn randint(&mut self, low: i64, high: i64) -> i64 {
        self.randrange(low, high.checked_add(1).expect("an upper end below i64::MAX"))
    }

    /// A random index of a list of `len` items, drawn as by `choice`.
    ///
    /// # Panics
    /// When `len` is 0.
    #[inline]
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// `choice(items)`.
    ///
    /// # Panics
    /// When `items` is empty.
    pub fn choice<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// `shuffle(items)`, in place.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.index(i + 1));
        }
    }

    /// `sample(items, k)`: `k` distinct positions, in the order drawn.
    ///
    /// # Panics
    /// When `k` exceeds the number of items.
    pub fn sample<T: Clone>(&mut self, items: &[T], k: usize) -> Vec<T> {
        let n = items.len();
        assert!(k <= n, "cannot sample {k} of {n} items");
        // CPython uses a pool or a set, whichever it estimates to be smaller; the two draw different numbers.
        let mut set_size = 21;
        if k > 5 {
            let mut table = 1;
            while table < 3 * k {
                table *= 4;
            }
            set_size += table;
        }
        if n <= set_size {
            let mut pool = items.to_vec();
            (0..k)
                .map(|i| {
                    let j = self.index(n - i);
                    pool.swap(j, n - i - 1);
                    pool[n - i - 1].clone()
                })
                .collect()
        } else {
            let mut free = vec![true; n];
            (0..k)
                .map(|_| {
                    let mut j = self.index(n);
                    while !std::mem::replace(&mut free[j], false) {
                        j = self.index(n);
                    }
                    items[j].clone()
                })
                .collect()
        }
    }

    /// `betavariate(alpha, beta)`, for shapes above 0.
    pub fn betavariate(&mut self, alpha: f64, beta: f64) -> f64 {
        let y = self.gammavariate(alpha);
        if y == 0.0 { 0.0 } else { y / (y + self.gammavariate(beta)) }
    }

    /// `gammavariate(alpha, 1.0)`: Cheng's GB for shapes above 1, the exponential at 1, Ahrens and Dieter's GS below.
    fn gammavariate(&mut self, alpha: f64) -> f64 {
        if alpha > 1.0 {
            let ainv = (2.0 * alpha - 1.0).sqrt();
            let bbb = alpha - 4.0_f64.ln();
            let ccc = alpha + ainv;
            loop {
                let u1 = self.random();
                if !(1e-7 < u1 && u1 < 0.999_999_9) {
                    continue;
                }
                let u2 = 1.0 - self.random();
                let v = (u1 / (1.0 - u1)).ln() / ainv;
                let x = alpha * v.exp();
                let z = u1 * u1 * u2;
                let r = bbb + ccc * v - x;
                if r + (1.0 + 4.5_f64.ln()) - 4.5 * z >= 0.0 || r >= z.ln() {
                    return x;
                }
            }
        }
        if alpha == 1.0 {
            return -(1.0 - self.random()).ln();
        }
        loop {
            let b = (std::f64::consts::E + alpha) / std::f64::consts::E;
            let p = b * self.random();
            let x = if p <= 1.0 { p.powf(1.0 / alpha) } else { -((b - p) / alpha).ln() };
            let u = self.random();
            if (p > 1.0 && u <= x.powf(alpha - 1.0)) || (p <= 1.0 && u <= (-x).exp()) {
                return x;
            }
        }
    }
}

/// Lets distributions of the `rand` crates draw from CPython's stream.
impl rand_core::TryRng for PyRandom {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.generator.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(self.getrandbits(64))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(4) {
            chunk.copy_from_slice(&self.generator.next_u32().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}
