//! Suggestions for misspelled names.

/// The candidate within two edits of `text`, for "did you mean".
pub fn closest<'c>(text: &str, candidates: &[&'c str]) -> Option<&'c str> {
    closest_within(text, candidates, 2)
}

/// The candidate within `edits` edits of `text`.
pub fn closest_within<'c>(text: &str, candidates: &[&'c str], max_edits: usize) -> Option<&'c str> {
    candidates
        .iter()
        .map(|candidate| (strsim::osa_distance(text, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= max_edits.min(candidate.len().saturating_sub(1)))
        .min()
        .map(|(_, candidate)| candidate)
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
