//! `reasonscape help`: the help of a command, or a page of the documentation.

use reasonscape_core::closest;

use crate::error::CliError;
use crate::output::print_text;

const STATISTICS: &str = include_str!("../docs/statistics.md");
const STUDIES: &str = include_str!("../docs/studies.md");
const ANALYSES: &str = include_str!("../docs/analyze.md");

/// A documentation page, or sections of pages.
#[derive(Clone, Copy)]
enum Text {
    Page(&'static str),
    /// Pages, each with the start of the heading of the section to print.
    Sections(&'static [(&'static str, &'static str)]),
}

/// Texts by the name that they are asked for, with what they are about. `docs/README.md` lists the pages.
const TOPICS: &[(&str, &str, Text)] = &[
    ("topics", "all pages of the documentation", Text::Page(include_str!("../docs/README.md"))),
    (
        "tutorial",
        "from a demo to a leaderboard with a real model",
        Text::Page(include_str!("../docs/tutorial.md")),
    ),
    ("how-to", "recipes by topic", Text::Page(include_str!("../docs/how-to.md"))),
    (
        "running",
        "run, resume, budgets, rate limits, cost, cache, shards, seeds",
        Text::Page(include_str!("../docs/running.md")),
    ),
    (
        "comparing",
        "paired tests, win rates, token limits, sharing results",
        Text::Page(include_str!("../docs/comparing.md")),
    ),
    (
        "inspect",
        "ReasonScape for Inspect and lm-eval users",
        Text::Page(include_str!("../docs/for-inspect-and-lm-eval-users.md")),
    ),
    (
        "why",
        "design decisions: truncation, guessing, geometric mean",
        Text::Page(include_str!("../docs/why.md")),
    ),
    ("statistics", "every estimator with its formula", Text::Page(STATISTICS)),
    (
        "reasonscore",
        "ReasonScore: formula, confidence interval, v2, bands, ties",
        Text::Sections(&[(STATISTICS, "ReasonScore"), (STATISTICS, "ReasonScore v2")]),
    ),
    (
        "pairwise",
        "win rates, expected wins and Bradley-Terry ratings",
        Text::Sections(&[(ANALYSES, "Pairwise win rates"), (STATISTICS, "Pairwise")]),
    ),
    (
        "coverage",
        "measured coverage of confidence intervals",
        Text::Page(include_str!("../docs/coverage.md")),
    ),
    (
        "reliability",
        "what survives crashes, full disks and outages",
        Text::Page(include_str!("../docs/reliability.md")),
    ),
    ("studies", "study.toml: models, templates, samplers, budgets", Text::Page(STUDIES)),
    ("config", "same as `studies`", Text::Page(STUDIES)),
    ("suites", "built-in suites and how to write one", Text::Page(include_str!("../docs/suites.md"))),
    (
        "manifold",
        "points: identity, planes, facets and manifolds",
        Text::Page(include_str!("../docs/manifold.md")),
    ),
    (
        "pointsdb",
        "PointsDB: query_points, aggregate and SQL",
        Text::Page(include_str!("../docs/pointsdb.md")),
    ),
    ("datasets", "evaluate your own dataset", Text::Page(include_str!("../docs/datasets.md"))),
    ("scoring", "how answers are compared with targets", Text::Page(include_str!("../docs/scoring.md"))),
    ("analyses", "leaderboards, comparisons, parameter plots, forensics", Text::Page(ANALYSES)),
    ("data", "files, columns and SQL", Text::Page(include_str!("../docs/data.md"))),
    ("logs", "import Inspect and lm-eval logs, export trials", Text::Page(include_str!("../docs/import.md"))),
    (
        "zeta",
        "metrics: accuracy, calibration, majority vote, reasoning, tokens",
        Text::Page(include_str!("../docs/metrics.md")),
    ),
    ("browser", "web pages, HTTP API and access control", Text::Page(include_str!("../docs/serve.md"))),
    ("simulator", "simulated models of known skill", Text::Page(include_str!("../docs/simulator.md"))),
    (
        "original",
        "what is different from the original ReasonScape",
        Text::Page(include_str!("../docs/original-reasonscape.md")),
    ),
    ("architecture", "crates, data flow and invariants", Text::Page(include_str!("../ARCHITECTURE"))),
    (
        "source-documents",
        "every statement of the source documents, with command and test",
        Text::Page(include_str!("../docs/source-documents.md")),
    ),
];

/// Pages that are printed below the help of the command with the same name.
const COMMAND_PAGES: &[(&str, &str)] =
    &[("metrics", include_str!("../docs/metrics.md")), ("tasks", include_str!("../docs/tasks.md"))];

/// Most sections that a search lists.
const MAX_SECTIONS: usize = 12;

/// Show the help of a command, or a guide
///
/// Words that are neither a command nor a topic are searched for in the headings of the documentation, then in its text.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape help analyze scores\n  reasonscape help why\n  \
    reasonscape help reasonscore\n  reasonscape help paired test")]
pub(super) struct Help {
    /// Command, topic or search words [default: list all commands and topics].
    #[arg(value_name = "COMMAND|TOPIC|WORDS")]
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
                Some(_) => found.find_subcommand_mut(word).expect("found above"),
                None if index == 0 => {
                    return self
                        .search()
                        .ok_or(unknown_topic_error(found, word, true))
                        .and_then(|text| print_text(&text));
                }
                None => return Err(unknown_topic_error(found, word, false)),
            };
        }
        let help = found.render_long_help().to_string();
        match COMMAND_PAGES.iter().find(|(name, _)| self.words == [*name]) {
            Some((_, page)) => print_text(&format!("{}\n\n{page}", help.trim_end())),
            None => print_text(&help),
        }
    }
}

impl Help {
    /// The sections whose heading contains the words, and those whose text does, as a list of topics.
    fn search(&self) -> Option<String> {
        let phrase = self.words.join(" ").to_lowercase();
        let [mut by_heading, mut by_text]: [Vec<(&str, &str)>; 2] = Default::default();
        let topics = TOPICS.iter().filter_map(|(topic, _, text)| match text {
            Text::Page(page) if *topic != "topics" => Some((*topic, *page)),
            _ => None,
        });
        for (topic, page) in COMMAND_PAGES.iter().copied().chain(topics) {
            for (heading, body) in sections(page) {
                let found = if heading.to_lowercase().contains(&phrase) {
                    &mut by_heading
                } else if body.to_lowercase().contains(&phrase) {
                    &mut by_text
                } else {
                    continue;
                };
                if !found.iter().any(|(_, other)| *other == heading) {
                    found.push((topic, heading));
                }
            }
        }
        let found = if by_heading.is_empty() { by_text } else { by_heading };
        let shown = &found[..found.len().min(MAX_SECTIONS)];
        let width = shown.iter().map(|(topic, _)| topic.len()).max()?;
        let lines =
            shown.iter().map(|(topic, heading)| format!("  reasonscape help {topic:width$}  {heading}\n"));
        Some(format!("Sections about \"{phrase}\":\n{}", lines.collect::<String>()))
    }
}

/// The headings of a page, each with the text below it.
fn sections(page: &str) -> Vec<(&str, String)> {
    let (mut is_code, mut found) = (false, Vec::<(&str, String)>::new());
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        match (line.trim_start_matches('#').strip_prefix(' '), found.last_mut()) {
            (Some(heading), _) if !is_code && line.starts_with('#') => found.push((heading, String::new())),
            (_, Some((_, body))) => {
                body.push_str(line);
                body.push(' ');
            }
            _ => {}
        }
    }
    found
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

/// The section of a page whose heading starts with `heading`, promoted to a page; the whole page if there is none.
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
    format!("Topics (`reasonscape help <TOPIC>`):\n{}", TOPICS.iter().map(line).collect::<String>())
}

fn unknown_topic_error(command: &clap::Command, word: &str, with_topics: bool) -> CliError {
    let mut names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    names.retain(|name| *name != "help");
    if with_topics {
        names.extend(TOPICS.iter().map(|(name, ..)| *name));
    }
    let near = closest(word, &names).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    CliError::input(format_args!(
        "unknown command or topic `{word}`{near}; `reasonscape help` lists them all"
    ))
}
