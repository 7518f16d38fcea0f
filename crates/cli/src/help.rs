//! `reasonscape help`: what a command does, or a page of the documentation.

use reasonscape_core::closest;

use crate::error::CliError;
use crate::output::print_text;

const STATISTICS: &str = include_str!("../docs/statistics.md");
const STUDIES: &str = include_str!("../docs/studies.md");
const ANALYSES: &str = include_str!("../docs/analyze.md");

/// A page of the documentation, or parts of pages.
#[derive(Clone, Copy)]
enum Text {
    Page(&'static str),
    /// Pages, each with the beginning of the heading whose section is printed.
    Sections(&'static [(&'static str, &'static str)]),
}

/// Texts by the name that they are asked for, with what they are about. `docs/README.md` lists the pages.
const TOPICS: &[(&str, &str, Text)] = &[
    ("topics", "what there is to read", Text::Page(include_str!("../docs/README.md"))),
    (
        "tutorial",
        "from nothing to a leaderboard, with a real model",
        Text::Page(include_str!("../docs/tutorial.md")),
    ),
    ("how-to", "recipes for what people want to do", Text::Page(include_str!("../docs/how-to.md"))),
    ("why", "why it counts as it does", Text::Page(include_str!("../docs/why.md"))),
    ("statistics", "every estimator, with formula and table", Text::Page(STATISTICS)),
    (
        "reasonscore",
        "the ReasonScore: formula, bootstrap, bands, ties",
        Text::Sections(&[(STATISTICS, "ReasonScore")]),
    ),
    (
        "pairwise",
        "win rates, expected wins and Bradley-Terry ratings",
        Text::Sections(&[(ANALYSES, "Head to head"), (STATISTICS, "Pairwise")]),
    ),
    ("coverage", "which 95 % intervals hold 95 %", Text::Page(include_str!("../docs/coverage.md"))),
    ("studies", "study.toml: models, templates, samplers, budgets", Text::Page(STUDIES)),
    ("config", "the same page: every key of study.toml", Text::Page(STUDIES)),
    ("suites", "what is asked, and how to ask something else", Text::Page(include_str!("../docs/suites.md"))),
    (
        "manifold",
        "points: their two planes, identity, facets and manifolds",
        Text::Page(include_str!("../docs/manifold.md")),
    ),
    (
        "pointsdb",
        "PointsDB: query_points, aggregate and SQL",
        Text::Page(include_str!("../docs/pointsdb.md")),
    ),
    ("datasets", "questions of your own", Text::Page(include_str!("../docs/datasets.md"))),
    ("analyses", "leaderboards, comparisons, landscapes, forensics", Text::Page(ANALYSES)),
    ("data", "files, columns and SQL", Text::Page(include_str!("../docs/data.md"))),
    ("logs", "logs of lm-eval and Inspect", Text::Page(include_str!("../docs/import.md"))),
    ("zeta", "metrics of answers you already have", Text::Page(include_str!("../docs/metrics.md"))),
    ("browser", "pages, their API, and who gets in", Text::Page(include_str!("../docs/serve.md"))),
    ("simulator", "models of known skill", Text::Page(include_str!("../docs/simulator.md"))),
    ("architecture", "crates, data flow and invariants", Text::Page(include_str!("../ARCHITECTURE"))),
    (
        "source-documents",
        "every statement of the source documents, with command and test",
        Text::Page(include_str!("../docs/source-documents.md")),
    ),
];

/// Pages that are printed below the help of the command of the same name.
const COMMAND_PAGES: &[(&str, &str)] = &[("tasks", include_str!("../docs/tasks.md"))];

/// Explain a command or a topic
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape help analyze scores\n  reasonscape help why\n  \
    reasonscape help reasonscore")]
pub(super) struct Help {
    /// A command, or a topic; without either, the commands and the topics.
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

impl Help {
    pub(super) fn run(self) -> Result<(), CliError> {
        let mut command = super::clap_command();
        command.build();
        if self.words.is_empty() {
            return print_text(&format!("{}\n{}", command.render_long_help(), topic_list()));
        }
        let mut found = &mut command;
        for (index, word) in self.words.iter().enumerate() {
            if index == 0
                && let Some((.., text)) = TOPICS.iter().find(|(name, ..)| name == word)
            {
                return print_text(&text.to_markdown());
            }
            found = match found.find_subcommand(word) {
                Some(_) => found.find_subcommand_mut(word).expect("it was there just now"),
                None => return Err(unknown_topic_error(found, word, index == 0)),
            };
        }
        let help = found.render_long_help().to_string();
        match COMMAND_PAGES.iter().find(|(name, _)| self.words == [*name]) {
            Some((_, page)) => print_text(&format!("{}\n\n{page}", help.trim_end())),
            None => print_text(&help),
        }
    }
}

impl Text {
    fn to_markdown(self) -> String {
        match self {
            Self::Page(page) => page.to_owned(),
            Self::Sections(sections) => {
                let texts: Vec<String> =
                    sections.iter().map(|(page, heading)| section(page, heading)).collect();
                texts.join("\n")
            }
        }
    }
}

/// The section of a page whose heading begins with this, as a page of its own; the whole page without such a heading.
fn section(page: &str, heading: &str) -> String {
    let (mut found, mut is_code, mut text) = (None, false, String::new());
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        let is_heading = !is_code && level > 0 && title.starts_with(' ');
        match found {
            None if is_heading && title.trim_start().starts_with(heading) => found = Some(level),
            None => continue,
            Some(top) if is_heading && level <= top => break,
            Some(_) => {}
        }
        let promoted = if is_heading { found.unwrap_or(1) - 1 } else { 0 };
        text.push_str(&line[promoted..]);
        text.push('\n');
    }
    if found.is_some() { text } else { page.to_owned() }
}

fn topic_list() -> String {
    let width = TOPICS.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let line = |(name, about, _): &(&str, &str, Text)| format!("  {name:width$}  {about}\n");
    format!("Topics, as in `reasonscape help why`:\n{}", TOPICS.iter().map(line).collect::<String>())
}

fn unknown_topic_error(command: &clap::Command, word: &str, with_topics: bool) -> CliError {
    let mut names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    names.retain(|name| *name != "help");
    if with_topics {
        names.extend(TOPICS.iter().map(|(name, ..)| *name));
    }
    let near = closest(word, &names).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    CliError::input(format_args!(
        "there is no help on `{word}`{near}; `reasonscape help` lists commands and topics"
    ))
}
