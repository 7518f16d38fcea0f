//! `reasonscape analyze spectrum`: whether two populations of tests are of one kind.

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

/// Compare two populations of prompts by their power spectra
///
/// Population A are the tests of the points that `--filter` means, B those that `--against` means: two points, two
/// manifolds, two tasks. Without `--against` B are the same points under another seed, which shows whether a generator
/// makes the same kind of test again. Prompts are made anew from their coordinates; no response is read.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape analyze spectrum my-study --filter base_task=arithmetic\n  \
    reasonscape analyze spectrum my-study --filter manifold=short --against manifold=long --plot spectrum.svg"
)]
pub(super) struct Spectrum {
    /// Folder of the study, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Points of A, as `base_task=sort` or `params.length=8..32`; may be repeated.
    #[arg(long = "filter", value_name = "COLUMN=VALUE")]
    filters: Vec<String>,
    /// Points of B; those of A unless given. May be repeated.
    #[arg(long, value_name = "COLUMN=VALUE")]
    against: Vec<String>,
    /// Global seed of A; that of the study unless given.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<i64>,
    /// Global seed of B; that of A, or the next one where B are the points of A.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    against_seed: Option<i64>,
    /// What a prompt is a series of.
    #[arg(long, value_enum, default_value_t)]
    series: SeriesArg,
    /// Tests of each point.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Cells of the spectrum, from the slowest rhythm to the fastest.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    bins: u32,
    /// How often the prompts are dealt out anew to tell a distance from chance.
    #[arg(long, value_name = "N", default_value_t = 999, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    permutations: u32,
    #[command(flatten)]
    plot: Plot,
}

/// What a prompt is a series of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum SeriesArg {
    /// The lengths of its words, in characters.
    #[default]
    Words,
    /// The classes of its characters: white space, small letter, capital, digit, other.
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
        print_table(global.format, || display_table(&found), || export_table(&found), &found)?;
        print_notes(&found, global);
        if self.seed.or(of_study).is_none() {
            global.note(
                "the study has no study.toml that can be read, so seed 0 was taken; `--seed` gives another",
            );
        }
        self.plot.draw(global, || spectrum_figure(&found))
    }
}

/// What was found, in words.
fn print_notes(found: &Spectra, global: Global) {
    let population = |name: &str, one: &PopulationSummary| {
        format!(
            "{name}: {} of {} of {}, seed {}",
            pluralize(one.prompts as u64, "prompt"),
            pluralize(one.points as u64, "point"),
            one.tasks.join(", "),
            one.seed
        )
    };
    global.caption(format_args!("{}; {}", population("A", &found.a), population("B", &found.b)));
    let numbers = format!(
        "{:.2} dB apart, and chance alone exceeds {:.2} dB in 5 % of cases (p = {:.3})",
        found.distance_db, found.chance_db, found.p
    );
    global.caption(match found.verdict {
        "different" => format!("the two are of different kinds: {numbers}"),
        "cannot tell" => format!("cannot tell, there are too few prompts: {numbers}; `--count` takes more"),
        _ => format!("no difference is seen: {numbers}"),
    });
    for (name, one) in [("A", &found.a), ("B", &found.b)] {
        if one.too_short > 0 {
            global.note(format_args!(
                "{} of {name} too short to have a rhythm and left out",
                pluralize(one.too_short as u64, "prompt")
            ));
        }
    }
}
