//! `reasonscape analyze spectrum`: whether two sets of prompts are statistically alike.

use std::path::PathBuf;

use reasonscape_analysis::tables::spectrum::{display_table, export_table};
use reasonscape_analysis::{
    PointQuery, PopulationSummary, PromptSource, Sampling, Series, Spectra, spectra, spectrum_figure,
};
use reasonscape_points::PointsDb;
use reasonscape_study::Study;

use super::plot::Plot;
use super::pluralize;
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;
use crate::study::study_folder;

/// Compare the power spectra of two sets of prompts
///
/// Set A has the problems of the points that `--filter` selects, set B those that `--against` selects: two points, two
/// manifolds, two tasks. Without `--against`, B has the same points with another seed, which tests whether a generator
/// keeps producing the same kind of problem. Prompts are generated from their parameters; no responses are read.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape analyze spectrum my-study --filter base_task=arithmetic\n  \
    reasonscape analyze spectrum my-study --filter manifold=short --against manifold=long --plot spectrum.svg"
)]
pub(super) struct Spectrum {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Points of A, e.g. `base_task=sort` or `params.length=8..32` (repeatable).
    #[arg(long = "filter", value_name = "COLUMN=VALUE")]
    filters: Vec<String>,
    /// Points of B (repeatable) [default: those of A].
    #[arg(long, value_name = "COLUMN=VALUE")]
    against: Vec<String>,
    /// Global seed of A [default: that of the study].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<i64>,
    /// Global seed of B [default: that of A, or the next one if B has the same points].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    against_seed: Option<i64>,
    /// How to turn a prompt into a series of numbers.
    #[arg(long, value_enum, default_value_t)]
    series: SeriesArg,
    /// Problems per point.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Frequency bins of the spectrum.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    bins: u32,
    /// Permutations of the significance test.
    #[arg(long, value_name = "N", default_value_t = 999, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    permutations: u32,
    #[command(flatten)]
    plot: Plot,
}

/// The series of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum SeriesArg {
    /// Word lengths, in characters.
    #[default]
    Words,
    /// Character classes: white space, lower case, upper case, digit, other.
    Classes,
}

impl From<SeriesArg> for Series {
    fn from(series: SeriesArg) -> Self {
        match series {
            SeriesArg::Words => Self::Words,
            SeriesArg::Classes => Self::Classes,
        }
    }
}

impl Spectrum {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        self.plot.check()?;
        let db = PointsDb::open(&study_folder(&self.study)?).await?;
        for remark in db.remarks() {
            global.note(remark);
        }
        let query = PointQuery::parse(&self.filters)?;
        let against = if self.against.is_empty() { query.clone() } else { PointQuery::parse(&self.against)? };
        let of_study = Study::load(db.study()).ok().map(|study| study.seed);
        let seed = self.seed.or(of_study).unwrap_or(0);
        let other = self
            .against_seed
            .unwrap_or_else(|| if self.against.is_empty() { seed.wrapping_add(1) } else { seed });
        let sampling = Sampling {
            series: self.series.into(),
            count: self.count as usize,
            bins: self.bins as usize,
            permutations: self.permutations as usize,
        };
        let (a, b) = (PromptSource { query: &query, seed }, PromptSource { query: &against, seed: other });
        let found = spectra(&db, a, b, sampling).await?;
        print_table(global, || display_table(&found), || export_table(&found), &found)?;
        print_notes(&found, global);
        if self.seed.or(of_study).is_none() {
            global.note("no readable study.toml in the study, so seed 0 is used; set another with `--seed`");
        }
        self.plot.draw(global, || spectrum_figure(&found))
    }
}

/// Prints the findings.
fn print_notes(found: &Spectra, global: Global) {
    let population = |name: &str, one: &PopulationSummary| {
        format!(
            "{name}: {} from {} of {}, seed {}",
            pluralize(one.prompts as u64, "prompt"),
            pluralize(one.points as u64, "point"),
            one.tasks.join(", "),
            one.seed
        )
    };
    global.caption(format_args!("{}; {}", population("A", &found.a), population("B", &found.b)));
    let numbers = format!(
        "distance {:.2} dB; by chance it exceeds {:.2} dB in 5 % of cases (p = {:.3})",
        found.distance_db, found.chance_db, found.p
    );
    global.caption(match found.verdict {
        "different" => format!("the spectra differ significantly: {numbers}"),
        "cannot tell" => format!("too few prompts to tell: {numbers}; raise `--count`"),
        _ => format!("no significant difference: {numbers}"),
    });
    for (name, one) in [("A", &found.a), ("B", &found.b)] {
        if one.too_short > 0 {
            global.note(format_args!(
                "{} of {name} excluded: too short for a spectrum",
                pluralize(one.too_short as u64, "prompt")
            ));
        }
    }
}
