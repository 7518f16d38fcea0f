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

/// Texts by topic, with a description. `docs/README.md` lists the pages. A topic that is also a command is printed below
/// the help of that command.
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
    ("tasks", "the tasks and their parameters", Text::Page(include_str!("../docs/tasks.md"))),
    ("data", "files, columns and SQL", Text::Page(include_str!("../docs/data.md"))),
    ("logs", "import Inspect and lm-eval logs, export trials", Text::Page(include_str!("../docs/import.md"))),
    (
        "metrics",
        "accuracy, calibration, majority vote, reasoning, tokens",
        Text::Page(include_str!("../docs/metrics.md")),
    ),
    (
        "metrics-steps",
        "how arithmetic in the reasoning is checked",
        Text::Page(include_str!("../docs/metrics-steps.md")),
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

/// Former names of topics.
const FORMER_TOPICS: &[(&str, &str)] = &[("zeta", "metrics")]; // wording: allow

/// Most sections that a search lists.
const MAX_SECTIONS: usize = 12;

/// Show the help of a command, or a guide
///
/// Words that name neither a command nor a topic are searched for in the headings of the documentation, then in its text.
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
        let topic = self.topic();
        let mut found = &mut command;
        for (index, word) in self.words.iter().enumerate() {
            if found.find_subcommand(word).is_some() {
                found = found.find_subcommand_mut(word).expect("found above");
                continue;
            }
            if let Some(topic) = topic {
                return print_text(&topic.to_markdown());
            }
            let error = unknown_topic_error(found, word, index == 0);
            // `analyze score` is more likely a typo than a search.
            if index > 0 && closest_subcommand(found, word).is_some() {
                return Err(error);
            }
            return self.search().ok_or(error).and_then(|text| print_text(&text));
        }
        let help = found.render_long_help().to_string();
        match topic {
            Some(topic) => print_text(&format!("{}\n\n{}", help.trim_end(), topic.to_markdown())),
            None => print_text(&help),
        }
    }

    /// The topic that the words name.
    fn topic(&self) -> Option<Text> {
        let [word] = self.words.as_slice() else { return None };
        let current =
            FORMER_TOPICS.iter().find(|(former, _)| former == word).map_or(word.as_str(), |(_, name)| name);
        TOPICS.iter().find(|(name, ..)| *name == current).map(|(.., text)| *text)
    }
}

impl Help {
    /// The sections with these words, as a list of topics: those with the phrase in their heading, else with all words in
    /// it, else with the phrase in their text, else with all words in topic, heading or text.
    fn search(&self) -> Option<String> {
        let words: Vec<String> = self.words.iter().map(|word| word.to_lowercase()).collect();
        let phrase = words.join(" ");
        let has_words = |text: &str| words.iter().all(|word| text.contains(word.as_str()));
        let mut by_match: [Vec<(&str, &str)>; 4] = Default::default();
        let topics = TOPICS.iter().filter_map(|(topic, _, text)| match text {
            Text::Page(page) if *topic != "topics" => Some((*topic, *page)),
            _ => None,
        });
        for (topic, page) in topics {
            for (heading, body) in sections(page) {
                let (title, text) = (heading.to_lowercase(), body.to_lowercase());
                let rank = if title.contains(&phrase) {
                    0
                } else if has_words(&title) {
                    1
                } else if text.contains(&phrase) {
                    2
                } else if has_words(&format!("{topic} {title} {text}")) {
                    3
                } else {
                    continue;
                };
                if !by_match[rank].iter().any(|(_, other)| *other == heading) {
                    by_match[rank].push((topic, heading));
                }
            }
        }
        let found = by_match.into_iter().find(|found| !found.is_empty())?;
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

fn subcommand_names(command: &clap::Command) -> Vec<&str> {
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    visible.map(clap::Command::get_name).filter(|name| *name != "help").collect()
}

fn closest_subcommand<'c>(command: &'c clap::Command, word: &str) -> Option<&'c str> {
    closest(word, &subcommand_names(command))
}

fn unknown_topic_error(command: &clap::Command, word: &str, with_topics: bool) -> CliError {
    let mut names = subcommand_names(command);
    if with_topics {
        names.extend(TOPICS.iter().map(|(name, ..)| *name));
    }
    let near = closest(word, &names).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    CliError::input(format_args!(
        "unknown command or topic `{word}`{near}; `reasonscape help` lists them all"
    ))
}
