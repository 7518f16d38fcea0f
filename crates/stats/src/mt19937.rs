//! The MT19937 generator, a block of numbers at a time.
//!
//! Source: Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), and their `mt19937ar.c` for the seeding
//! that CPython uses (the algorithms; the code is original).

/// Numbers in a block, and words of state.
const SIZE: usize = 624;
/// Offset of the word that a new one is mixed with.
const SHIFT: usize = 397;

/// `init_genrand(19650218)`, the start of every seeding by a key.
const INITIAL_STATE: [u32; SIZE] = {
    let mut state = [19_650_218; SIZE];
    let mut i = 1;
    while i < SIZE {
        state[i] = seed_mix(state[i - 1]).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        i += 1;
    }
    state
};

/// The generator. A whole block is twisted and tempered at once, which vectorizes; a draw only reads the next number.
#[derive(Debug, Clone)]
pub(crate) struct Mt19937 {
    state: [u32; SIZE],
    block: [u32; SIZE],
    /// Numbers of the block that have been drawn.
    used: usize,
}

impl Mt19937 {
    /// `init_by_array` of `mt19937ar.c`.
    pub(crate) fn new(key: &[u32]) -> Self {
        let mut state = INITIAL_STATE;
        let mut i = 1;
        for j in (0..key.len()).cycle().take(SIZE.max(key.len())) {
            let mixed = state[i] ^ seed_mix(state[i - 1]).wrapping_mul(1_664_525);
            state[i] = mixed.wrapping_add(key[j]).wrapping_add(j as u32);
            i = next_seed_index(i, &mut state);
        }
        for _ in 1..SIZE {
            let mixed = state[i] ^ seed_mix(state[i - 1]).wrapping_mul(1_566_083_941);
            state[i] = mixed.wrapping_sub(i as u32);
            i = next_seed_index(i, &mut state);
        }
        state[0] = 1 << 31;
        Self { state, block: [0; SIZE], used: SIZE }
    }

    /// The next 32 bits.
    #[inline]
    pub(crate) fn next_u32(&mut self) -> u32 {
        if self.used == SIZE {
            self.refill();
        }
        let number = self.block[self.used];
        self.used += 1;
        number
    }

    /// Generates the next block.
    #[inline(never)]
    fn refill(&mut self) {
        let old = self.state;
        let (head, tail) = self.state.split_at_mut(SIZE - SHIFT);
        twist(head, &old, &old[SHIFT..]);
        // The rest is mixed with words that are already new, in two parts.
        let (middle, end) = tail.split_at_mut(SIZE - SHIFT);
        twist(middle, &old[SIZE - SHIFT..], head);
        twist(end, &old[2 * (SIZE - SHIFT)..], middle);
        self.state[SIZE - 1] = self.state[SHIFT - 1] ^ twisted(old[SIZE - 1], self.state[0]);
        for (number, word) in self.block.iter_mut().zip(self.state) {
            *number = tempered(word);
        }
        self.used = 0;
    }
}

/// One step of the seeding hash, before the multiplication.
const fn seed_mix(word: u32) -> u32 {
    word ^ word >> 30
}

/// The index after `i` during seeding, wrapping around through index 0.
fn next_seed_index(i: usize, state: &mut [u32; SIZE]) -> usize {
    if i + 1 < SIZE {
        return i + 1;
    }
    state[0] = state[SIZE - 1];
    1
}

/// New words from pairs of neighboring old words and the words at the offset.
fn twist(new: &mut [u32], old: &[u32], shifted: &[u32]) {
    for ((word, pair), shifted) in new.iter_mut().zip(old.windows(2)).zip(shifted) {
        *word = shifted ^ twisted(pair[0], pair[1]);
    }
}

/// The highest bit of one word and the lower bits of the next, multiplied by the generator's matrix.
fn twisted(word: u32, next: u32) -> u32 {
    let joined = word & 1 << 31 | next & !(1 << 31);
    (joined >> 1) ^ ((joined & 1) * 0x9908_b0df)
}

fn tempered(word: u32) -> u32 {
    let word = word ^ word >> 11;
    let word = word ^ word << 7 & 0x9d2c_5680;
    let word = word ^ word << 15 & 0xefc6_0000;
    word ^ word >> 18
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `mt19937ar.out`, published by the authors; a thousand numbers reach beyond the first block.
    #[test]
    fn matches_reference_output_of_authors() {
        let mut generator = Mt19937::new(&[0x123, 0x234, 0x345, 0x456]);
        let numbers: Vec<u32> = (0..1000).map(|_| generator.next_u32()).collect();
        assert_eq!(numbers[..5], [1_067_595_299, 955_945_823, 477_289_528, 4_107_218_783, 4_228_976_476]);
        assert_eq!(numbers[999], 3_460_025_646);
    }
}
