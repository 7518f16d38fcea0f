//! Suggestions for misspelled names.

/// The candidate within two edits of `text`, for "did you mean".
pub fn closest<'c>(text: &str, candidates: &[&'c str]) -> Option<&'c str> {
    candidates
        .iter()
        .map(|candidate| (edit_distance(text, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 2.min(candidate.len().saturating_sub(1)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, counting a swap of neighbours as one edit.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_near_names() {
        let known = ["length", "depth", "x"];
        assert_eq!(closest("lenght", &known), Some("length"));
        assert_eq!(closest("dept", &known), Some("depth"));
        assert_eq!(closest("colour", &known), None);
        assert_eq!(closest("y", &known), None);
    }
}
