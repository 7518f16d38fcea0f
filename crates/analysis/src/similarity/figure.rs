//! Similar models as a dendrogram, and their profiles as a heat map.

use reasonscape_charts::{Axis, Bounds, Cell, Dendrogram, Figure, Heatmap, Layer, Merge, Palette, Panel};

use super::ModelClusters;

/// A dendrogram, and the profiles in the same order.
pub fn similarity_figure(clusters: &ModelClusters) -> Figure {
    let members = &clusters.members;
    let trials: u64 = members.iter().map(|member| member.n).sum();
    let noise = noise(clusters);
    let tree = Dendrogram {
        leaves: members.iter().map(|member| member.label.clone()).collect(),
        order: (0..members.len()).collect(),
        merges: clusters
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
    let heatmap = Heatmap {
        rows: members.iter().map(|member| member.label.clone()).collect(),
        columns: clusters.tasks.clone(),
        cells: cells.collect(),
        palette: if clusters.shape { Palette::Diverging } else { Palette::Sequential },
        range: (!clusters.shape).then_some(Bounds::new(0.0, 1.0)),
        label: if clusters.shape { "accuracy minus its mean" } else { "accuracy" }.to_owned(),
        percent: true,
    };
    Figure::new("Similar models")
        .subtitle(format!("{trials} trials, {} tasks, estimated by {}", clusters.tasks.len(), clusters.mode))
        .note("distances below the line are within noise")
        .columns(1)
        .panel(
            Panel::new("", Axis::linear("distance between profiles"), Axis::linear(""))
                .layer(Layer::Dendrogram(tree)),
        )
        .panel(Panel::new("profiles", Axis::linear("task"), Axis::linear("")).layer(Layer::Heatmap(heatmap)))
}

/// The position of one line between merges within noise and the others. Each merge has its own limit, since errors differ;
/// the line is at the mean limit, moved so that it separates the groups.
fn noise(clusters: &ModelClusters) -> f64 {
    let merges = &clusters.merges;
    let group = |id: &String| {
        clusters.members.iter().find(|member| member.eval.eval_id == *id).map_or(0, |member| member.group)
    };
    let (mut within, mut beyond) = (0.0_f64, f64::INFINITY);
    for merge in merges {
        let first = group(&merge.a[0]);
        if merge.a.iter().chain(&merge.b).all(|id| group(id) == first) {
            within = within.max(merge.height);
        } else {
            beyond = beyond.min(merge.height);
        }
    }
    let mean = merges.iter().map(|merge| merge.by_chance).sum::<f64>() / merges.len().max(1) as f64;
    mean.min(0.999 * beyond).max(within)
}
