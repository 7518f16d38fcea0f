//! Kin as a dendrogram, with the profiles beside it.

use reasonscape_figures::{Axis, Bounds, Cell, Figure, Heat, Layer, Merge, Palette, Panel, Tree};

use super::Kinship;

/// The tree at the left; the profiles in the same order at the right.
pub(crate) fn cluster_figure(kinship: &Kinship) -> Figure {
    let members = &kinship.members;
    let trials: u64 = members.iter().map(|member| member.n).sum();
    let noise = kinship.merges.iter().map(|merge| merge.by_chance).fold(0.0, f64::max);
    let tree = Tree {
        leaves: members.iter().map(|member| member.label.clone()).collect(),
        order: (0..members.len()).collect(),
        merges: kinship
            .merges
            .iter()
            .map(|merge| Merge { a: merge.nodes[0], b: merge.nodes[1], height: merge.height })
            .collect(),
        noise: (noise > 0.0).then_some(noise),
    };
    let cells = members.iter().flat_map(|member| {
        member.profile.iter().zip(&member.margins).map(|(value, margin)| Cell {
            value: Some(*value),
            interval: Some(Bounds::new(value - margin, value + margin)),
            text: String::new(),
        })
    });
    let heat = Heat {
        rows: members.iter().map(|member| member.label.clone()).collect(),
        columns: kinship.tasks.clone(),
        cells: cells.collect(),
        palette: if kinship.shape { Palette::Diverging } else { Palette::Sequential },
        range: (!kinship.shape).then_some(Bounds::new(0.0, 1.0)),
        label: if kinship.shape { "accuracy less its mean" } else { "accuracy" }.to_owned(),
        percent: true,
    };
    Figure::new("Kin among the evaluations")
        .subtitle(format!("{trials} trials, {} tasks, estimated by {}", kinship.tasks.len(), kinship.mode))
        .note("at distances below the line chance alone may have kept two apart")
        .columns(1)
        .panel(
            Panel::new("", Axis::linear("distance of profiles"), Axis::linear("")).layer(Layer::Tree(tree)),
        )
        .panel(Panel::new("profiles", Axis::linear("task"), Axis::linear("")).layer(Layer::Heat(heat)))
}
