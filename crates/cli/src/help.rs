//! `reasonscape help`: what a command does, or a page of the documentation.

use reasonscape_core::closest;

use crate::error::CliError;
use crate::output::print_text;

/// Pages by the name that they are asked for, with what they are about. The list of them is `docs/README.md`.
const TOPICS: &[(&str, &str, &str)] = &[
    ("topics", "what there is to read", include_str!("../docs/README.md")),
    ("tutorial", "from nothing to a leaderboard, with a real model", include_str!("../docs/tutorial.md")),
    ("how-to", "recipes for what people want to do", include_str!("../docs/how-to.md")),
    ("why", "why it counts as it does", include_str!("../docs/why.md")),
    ("statistics", "every estimator, with formula and table", include_str!("../docs/statistics.md")),
    ("coverage", "which 95 % intervals hold 95 %", include_str!("../docs/coverage.md")),
    ("studies", "study.toml: models, templates, samplers, budgets", include_str!("../docs/studies.md")),
    ("suites", "what is asked, and how to ask something else", include_str!("../docs/suites.md")),
    ("datasets", "questions of your own", include_str!("../docs/datasets.md")),
    ("analyses", "leaderboards, comparisons, landscapes, forensics", include_str!("../docs/analyze.md")),
    ("data", "files, columns and SQL", include_str!("../docs/data.md")),
    ("logs", "logs of lm-eval and Inspect", include_str!("../docs/import.md")),
    ("zeta", "metrics of answers you already have", include_str!("../docs/metrics.md")),
    ("browser", "pages, their API, and who gets in", include_str!("../docs/serve.md")),
    ("simulator", "models of known skill", include_str!("../docs/simulator.md")),
];

/// Explain a command or a topic
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape help analyze scores\n  reasonscape help why")]
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
                return print_text(text);
            }
            found = match found.find_subcommand(word) {
                Some(_) => found.find_subcommand_mut(word).expect("it was there just now"),
                None => return Err(unknown_topic_error(found, word, index == 0)),
            };
        }
        print_text(&found.render_long_help().to_string())
    }
}

fn topic_list() -> String {
    let width = TOPICS.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let line = |(name, about, _): &(&str, &str, &str)| format!("  {name:width$}  {about}\n");
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
