//! Dendrograms, sideways.

use super::Stage;
use crate::canvas::{Canvas, Paint, path};
use crate::model::{Merge, Tree};
use crate::number::{drawable, short};

/// One bracket of a dendrogram: where two clusters come from, and at what distance they meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bracket {
    /// The rows of both, counted from the top.
    pub(crate) rows: (f64, f64),
    /// The distances at which both began.
    pub(crate) from: (f64, f64),
    pub(crate) height: f64,
}

/// The brackets of all merges that make sense; one that names a cluster that is not there yet is left out.
pub(crate) fn brackets(tree: &Tree) -> Vec<Bracket> {
    let mut places: Vec<Option<(f64, f64)>> = vec![None; tree.leaves.len()];
    for (row, leaf) in tree.shown_order().into_iter().enumerate() {
        places[leaf] = Some((row as f64, 0.0));
    }
    let mut brackets = Vec::new();
    for Merge { a, b, height } in &tree.merges {
        let cluster = |index: usize| places.get(index).copied().flatten();
        let merged = match (cluster(*a), cluster(*b), drawable(*height)) {
            (Some(a), Some(b), Some(height)) => {
                brackets.push(Bracket { rows: (a.0, b.0), from: (a.1, b.1), height });
                Some((f64::midpoint(a.0, b.0), height))
            }
            _ => None,
        };
        places.push(merged);
    }
    brackets
}

pub(super) fn draw(canvas: &mut Canvas, stage: &Stage<'_, '_>, tree: &Tree) {
    for Bracket { rows, from, height } in brackets(tree) {
        // A merge below the noise cannot be told from none; it stands back.
        let is_noise = tree.noise.is_some_and(|noise| height <= noise);
        let paint =
            if is_noise { Paint::dashed("#777777", 1.2, "3 2") } else { Paint::stroke("#0072b2", 1.6) };
        let corners = [(from.0, rows.0), (height, rows.0), (height, rows.1), (from.1, rows.1)]
            .map(|(distance, row)| Some((stage.x(distance)?, stage.y_between(row))));
        if let [Some(first), Some(second), Some(third), Some(fourth)] = corners {
            canvas.titled(&format!("joined at {}", short(height)), |canvas| {
                canvas.path(&path(&[first, second, third, fourth]), &paint);
            });
        }
    }
}

impl Stage<'_, '_> {
    /// Where a row is that may lie between two names.
    fn y_between(&self, row: f64) -> f64 {
        let count = self.panel.y.names().map_or(1, <[String]>::len).max(1) as f64;
        self.down((row + 0.5) / count)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bracket, brackets};
    use crate::model::{Merge, Tree};

    #[test]
    fn a_cluster_stands_between_its_parts() {
        let leaves = ["a", "b", "c"].map(str::to_owned).to_vec();
        let merges = vec![Merge { a: 0, b: 2, height: 1.0 }, Merge { a: 1, b: 3, height: 4.0 }];
        let tree = Tree { leaves, order: vec![0, 2, 1], merges, noise: None };
        let expected = [
            Bracket { rows: (0.0, 1.0), from: (0.0, 0.0), height: 1.0 },
            Bracket { rows: (2.0, 0.5), from: (0.0, 1.0), height: 4.0 },
        ];
        assert_eq!(brackets(&tree), expected);
    }

    #[test]
    fn a_merge_of_what_is_not_there_is_left_out() {
        let merges = vec![Merge { a: 0, b: 9, height: 1.0 }, Merge { a: 0, b: 2, height: 2.0 }];
        let tree =
            Tree { leaves: vec!["a".to_owned(), "b".to_owned()], order: vec![5, 1], merges, noise: None };
        assert!(brackets(&tree).is_empty());
    }
}
