//! The brackets of a dendrogram, shared by SVG, HTML and alternative text.

use crate::model::{Dendrogram, Merge};
use crate::number::drawable;

/// One bracket of a dendrogram: two clusters and the distance at which they merge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bracket {
    /// The rows of both, counted from the top.
    pub(crate) rows: (f64, f64),
    /// The distances at which both start.
    pub(crate) from: (f64, f64),
    pub(crate) height: f64,
}

/// The brackets of all valid merges; a merge of a cluster that doesn't exist yet is skipped.
pub(crate) fn brackets(dendrogram: &Dendrogram) -> Vec<Bracket> {
    let mut ends: Vec<Option<(f64, f64)>> = vec![None; dendrogram.leaves.len()];
    for (row, leaf) in dendrogram.shown_order().into_iter().enumerate() {
        ends[leaf] = Some((row as f64, 0.0));
    }
    let mut brackets = Vec::new();
    for Merge { a, b, height } in &dendrogram.merges {
        let cluster = |index: usize| ends.get(index).copied().flatten();
        let merged = match (cluster(*a), cluster(*b), drawable(*height)) {
            (Some(a), Some(b), Some(height)) => {
                brackets.push(Bracket { rows: (a.0, b.0), from: (a.1, b.1), height });
                Some((f64::midpoint(a.0, b.0), height))
            }
            _ => None,
        };
        ends.push(merged);
    }
    brackets
}

#[cfg(test)]
mod tests {
    use super::{Bracket, brackets};
    use crate::model::{Dendrogram, Merge};

    #[test]
    fn cluster_row_is_midpoint_of_its_parts() {
        let leaves = ["a", "b", "c"].map(str::to_owned).to_vec();
        let merges = vec![Merge { a: 0, b: 2, height: 1.0 }, Merge { a: 1, b: 3, height: 4.0 }];
        let dendrogram = Dendrogram { leaves, order: vec![0, 2, 1], merges, noise: None };
        let expected = [
            Bracket { rows: (0.0, 1.0), from: (0.0, 0.0), height: 1.0 },
            Bracket { rows: (2.0, 0.5), from: (0.0, 1.0), height: 4.0 },
        ];
        assert_eq!(brackets(&dendrogram), expected);
    }

    #[test]
    fn skips_merges_of_unknown_clusters() {
        let merges = vec![Merge { a: 0, b: 9, height: 1.0 }, Merge { a: 0, b: 2, height: 2.0 }];
        let dendrogram = Dendrogram {
            leaves: vec!["a".to_owned(), "b".to_owned()],
            order: vec![5, 1],
            merges,
            noise: None,
        };
        assert!(brackets(&dendrogram).is_empty());
    }
}
