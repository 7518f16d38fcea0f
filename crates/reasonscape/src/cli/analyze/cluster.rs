//! `reasonscape analyze cluster`: which models are kin.

use reasonscape_stats::Mode;
use reasonscape_stats::cluster::Linkage;

use super::plot::Plot;
use super::{Selected, Sure, cells, count, eval_cells, named, several, some};
use crate::analysis::{Kinship, Member, cluster_figure, kinship};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

/// Group the evaluations by what they get right on each task, so that kin are seen
///
/// Two are as far apart as their accuracies differ on a typical task. The nearest are merged first; beside each distance
/// stands what chance alone would give. Those of one group cannot be told apart.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze cluster my-study --plot kin.svg\n  \
    reasonscape analyze cluster my-study --shape --linkage ward")]
pub(super) struct Cluster {
    #[command(flatten)]
    selected: Selected,
    #[command(flatten)]
    sure: Sure,
    /// Compare the shape of profiles only: what each is good at, not how good it is.
    #[arg(long)]
    shape: bool,
    /// How the distance of two groups follows from those of their members.
    #[arg(long, value_enum, default_value_t)]
    linkage: Joining,
    #[command(flatten)]
    plot: Plot,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Joining {
    #[default]
    Average,
    Complete,
    Single,
    Ward,
}

impl From<Joining> for Linkage {
    fn from(joining: Joining) -> Self {
        match joining {
            Joining::Average => Self::Average,
            Joining::Complete => Self::Complete,
            Joining::Single => Self::Single,
            Joining::Ward => Self::Ward,
        }
    }
}

impl Cluster {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        self.plot.check()?;
        let estimator = self.sure.estimator(self.selected.mode.unwrap_or(Mode::C_P))?;
        let (db, asked) = self.selected.open(global).await?;
        let found = kinship(&db, &asked, estimator, self.linkage.into(), self.shape).await?;
        let table = if global.format == Format::Csv { for_programs(&found) } else { for_people(&found) };
        print(global.format, &table, &found)?;
        say_beside(&found, global);
        self.plot.draw(global, || cluster_figure(&found))
    }
}

/// What was found, in words.
fn say_beside(found: &Kinship, global: Global) {
    global.caption(format_args!(
        "`distance` is the root mean square difference over {} by {}; twins stay below `by chance` in {} % of cases",
        several(found.tasks.len() as u64, "task"),
        found.mode,
        (found.confidence * 1e6).round() / 1e4
    ));
    for kin in found.members.chunk_by(|a, b| a.group == b.group).filter(|kin| kin.len() > 1) {
        let labels: Vec<String> = kin.iter().map(|member| member.label.clone()).collect();
        global.caption(format_args!("cannot tell apart: {}", some(&labels)));
    }
    if let Some(last) = found.merges.last() {
        let groups = found.members.iter().map(|member| member.group).max().unwrap_or(0);
        if groups > 1 {
            let label = |id: &String| {
                let known = found.members.iter().find(|member| member.eval.eval_id == *id);
                known.map_or_else(|| id.clone(), |member| member.label.clone())
            };
            let side = |ids: &[String]| some(&ids.iter().map(label).collect::<Vec<_>>());
            global.caption(format_args!(
                "the widest gap, {:.3}, is between {} and {}",
                last.height,
                side(&last.a),
                side(&last.b)
            ));
        }
    }
    for out in &found.left_out {
        global.note(format_args!("{} lacks {} and is left out", out.label, some(&out.lacks)));
    }
}

fn for_people(found: &Kinship) -> Table {
    let fixed = ["group", "eval", "nearest", "distance", "by chance", "n"];
    let columns: Vec<&str> = fixed.into_iter().chain(found.tasks.iter().map(String::as_str)).collect();
    let mut table = Table::new(&columns);
    for member in &found.members {
        let nearest = member.nearest.as_ref();
        let mut row = vec![
            count(member.group as u64),
            Cell::text(&member.label),
            nearest.map_or(Cell::Missing, |nearest| Cell::text(&nearest.label)),
            Cell::optional(nearest.map(|nearest| nearest.distance), 3),
            Cell::optional(nearest.map(|nearest| nearest.by_chance), 3),
            count(member.n),
        ];
        row.extend(
            member
                .profile
                .iter()
                .zip(&member.margins)
                .map(|(value, margin)| Cell::Shown(format!("{value:.2} ± {margin:.2}"))),
        );
        table.push(row);
    }
    table
}

fn for_programs(found: &Kinship) -> Table {
    let row = |member: &Member| {
        let nearest = member.nearest.as_ref();
        let mut all = eval_cells(&member.eval);
        all.extend(cells([
            ("group", count(member.group as u64)),
            ("nearest", nearest.map_or(Cell::Missing, |nearest| Cell::text(&nearest.eval_id))),
            ("distance", Cell::optional(nearest.map(|nearest| nearest.distance), 4)),
            ("by_chance", Cell::optional(nearest.map(|nearest| nearest.by_chance), 4)),
            ("n", count(member.n)),
            ("mode", Cell::text(found.mode)),
        ]));
        for (task, (value, error)) in found.tasks.iter().zip(member.profile.iter().zip(&member.errors)) {
            all.push((task.clone(), Cell::Number(*value, 4)));
            all.push((format!("{task}_error"), Cell::Number(*error, 4)));
        }
        all
    };
    named(found.members.iter().map(row).collect())
}
