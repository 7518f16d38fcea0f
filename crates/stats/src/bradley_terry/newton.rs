//! Newton's step, for cases in which sweeps converge slowly.
//!
//! Where most pairs are nearly decided, as on a ladder in which each model almost always beats the next, information
//! propagates slowly and hundreds of sweeps are needed. Second derivatives account for all pairs at once.

use super::win_counts::WinCounts;

/// The maximum step in log ratings: the quadratic approximation is poor farther out.
const MAX_STEP: f64 = 3.0;

/// The change of the log ratings; `None` if the system can't be solved.
///
/// The Hessian is a Laplacian, which is singular along a common shift of all ratings. A constant added to all its entries
/// removes that direction and makes it positive definite if no group is unbeaten.
pub(super) fn newton(ratings: &[f64], win_counts: &WinCounts) -> Option<Vec<f64>> {
    let models = win_counts.models;
    let mut matrix = vec![0.0; models * models];
    let mut step = vec![0.0; models];
    for a in 0..models {
        for b in (0..models).filter(|&b| b != a) {
            let (won, lost) = (win_counts.wins[a * models + b], win_counts.losses[a * models + b]);
            let sum = ratings[a] + ratings[b];
            let (for_a, for_b) = (ratings[a] / sum, ratings[b] / sum);
            step[a] += won * for_b - lost * for_a;
            let weight = (won + lost) * for_a * for_b;
            matrix[a * models + b] -= weight;
            matrix[a * models + a] += weight;
        }
    }
    let together = (0..models).map(|a| matrix[a * models + a]).sum::<f64>() / (models as f64 * models as f64);
    for entry in &mut matrix {
        *entry += together;
    }
    solve(&mut matrix, &mut step)?;
    let farthest = step.iter().fold(0.0_f64, |farthest, step| farthest.max(step.abs()));
    let scale = if farthest > MAX_STEP { MAX_STEP / farthest } else { 1.0 };
    for step in &mut step {
        *step *= scale;
    }
    farthest.is_finite().then_some(step)
}

/// Solves a positive definite system by Cholesky decomposition, in place of its right side; `None` if it isn't one.
fn solve(matrix: &mut [f64], right: &mut [f64]) -> Option<()> {
    let n = right.len();
    for i in 0..n {
        let (above, rest) = matrix.split_at_mut(i * n);
        let row = &mut rest[..n];
        for j in 0..i {
            let other = &above[j * n..(j + 1) * n];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if pivot <= 0.0 || pivot.is_nan() {
            return None;
        }
        row[i] = pivot.sqrt();
        right[i] = (right[i] - dot(&row[..i], &right[..i])) / row[i];
    }
    for i in (0..n).rev() {
        right[i] /= matrix[i * n + i];
        let known = right[i];
        for (left, entry) in right[..i].iter_mut().zip(&matrix[i * n..]) {
            *left -= entry * known;
        }
    }
    Some(())
}

/// The dot product, in four running sums so that it vectorizes.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_groups, a_rest) = a.as_chunks::<4>();
    let (b_groups, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a_groups.iter().zip(b_groups) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn solves_regular_and_rejects_singular_systems() {
        // numpy.linalg.solve([[4, 2, 1], [2, 5, 3], [1, 3, 6]], [1, 2, 3])
        let mut matrix = [4.0, 2.0, 1.0, 2.0, 5.0, 3.0, 1.0, 3.0, 6.0];
        let mut right = [1.0, 2.0, 3.0];
        solve(&mut matrix, &mut right).unwrap();
        for (found, expected) in
            right.iter().zip([0.089_552_238_805_970_16, 0.104_477_611_940_298_53, 0.432_835_820_895_522_36])
        {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        assert_eq!(solve(&mut [1.0, 2.0, 2.0, 1.0], &mut [1.0, 1.0]), None);
        assert_eq!(solve(&mut [f64::NAN], &mut [1.0]), None);
    }
}
