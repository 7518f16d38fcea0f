//! `reasonscape completions`, `reasonscape man`, and the help of every command.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::test_env::{assert_rejected, reasonscape, reasonscape_at};

#[test]
fn completions_cover_all_commands_and_bash_parses_them() {
    for (shell, sign) in
        [("bash", "complete -F"), ("zsh", "#compdef reasonscape"), ("fish", "complete -c reasonscape")]
    {
        let run = reasonscape(&["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        assert!(run.stdout.contains(sign) && run.stdout.contains("simulate"), "{shell}");
    }
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, reasonscape(&["completions", "bash"]).stdout).unwrap();
    // The words that bash offers after `reasonscape de`.
    let asked = "source \"$1\"; COMP_WORDS=(reasonscape de); COMP_CWORD=1; _reasonscape reasonscape de reasonscape; \
                 echo \"${COMPREPLY[@]}\"";
    let Ok(offered) = Command::new("bash").args(["-c", asked, "bash", script.to_str().unwrap()]).output()
    else {
        return;
    };
    assert_eq!(String::from_utf8_lossy(&offered.stdout).trim(), "demo", "{offered:?}");
}

#[test]
fn writes_a_manual_page_for_every_command() {
    let folder = TempDir::new().unwrap();
    let pages = folder.path().join("man1");
    let run = reasonscape(&["man", "--dir", pages.to_str().unwrap()]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    for name in ["reasonscape", "reasonscape-run", "reasonscape-analyze-scores", "reasonscape-cache-verify"] {
        let page =
            fs::read_to_string(pages.join(format!("{name}.1"))).unwrap_or_else(|_| panic!("no {name}"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH DESCRIPTION"), "{name}: {page}");
    }
    let first = reasonscape(&["man"]).stdout;
    assert_eq!(first, fs::read_to_string(pages.join("reasonscape.1")).unwrap());
}

/// The paths of all commands, as their own help lists them.
fn commands(path: &[String]) -> Vec<Vec<String>> {
    let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
    arguments.push("-h");
    let help = reasonscape_at(100, &arguments).stdout;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Names stand two blanks in; what is folded stands farther.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let below = names.flat_map(|name| commands(&[path, &[name.to_owned()]].concat()));
    std::iter::once(path.to_vec()).chain(below).collect()
}

/// Help without the options that every command has; the page lists them once.
fn without_common(help: &str) -> String {
    let (mut kept, mut skips, mut in_global) = (String::new(), false, false);
    for line in help.lines() {
        if !line.is_empty() && !line.starts_with(' ') {
            in_global = line == "Global options:";
        }
        let begins = line.starts_with("  -") || line.starts_with("      --");
        if in_global {
            skips = true;
        } else if begins {
            skips = line.contains("--help");
        } else if !line.is_empty() && !line.starts_with(' ') {
            skips = false;
        }
        if !skips {
            kept.push_str(line.trim_end());
            kept.push('\n');
        }
    }
    // A command may have no options of its own.
    let kept = kept.replace("Options:\nExample", "Example");
    kept.trim_end().trim_end_matches("Options:").trim_end().to_owned()
}

#[test]
fn cli_reference_matches_help_texts() {
    let all = commands(&[]);
    assert!(all.len() > 35, "{all:?}");
    let (mut page, mut odd) = (INTRODUCTION.to_owned(), Vec::new());
    for path in all {
        let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
        arguments.push("--help");
        let run = reasonscape_at(100, &arguments);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
        let name = [&["reasonscape".to_owned()], path.as_slice()].concat().join(" ");
        // A command says what it does, as an order, and without a full stop.
        let first = run.stdout.lines().next().unwrap_or_default();
        if !first.starts_with(|c: char| c.is_ascii_uppercase()) || first.ends_with('.') {
            odd.push(format!("{name}: {first}"));
        }
        let is_long = |line: &&str| line.chars().count() > 100 && !line.contains("reasonscape ");
        odd.extend(run.stdout.lines().filter(is_long).map(|line| format!("{name}: {line}")));
        if !run.stdout.contains("\nExample:\n  ") && !run.stdout.contains("\nExamples:\n  ") {
            odd.push(format!("{name}: no example"));
        }
        if !path.is_empty() && !run.stdout.contains("\nGlobal options:\n") {
            odd.push(format!("{name}: global options are not set apart"));
        }
        let help = if path.is_empty() { run.stdout.clone() } else { without_common(&run.stdout) };
        write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end()).unwrap();
    }
    assert_eq!(odd, [""; 0]);
    let page: String = page.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md");
    if std::env::var_os("REASONSCAPE_UPDATE_DOCS").is_some() {
        fs::write(file, &page).unwrap();
    }
    let written = fs::read_to_string(file).unwrap_or_default();
    assert!(
        written == page,
        "docs/cli.md is out of date; REASONSCAPE_UPDATE_DOCS=1 with this test writes it anew"
    );
}

const INTRODUCTION: &str = "# Commands

The output of `--help` for each command; a test keeps this page up to date. The global options and `--help` apply to every
command and are listed once, below.
";

#[test]
fn help_shows_commands_and_topics() {
    let list = reasonscape(&["help"]).stdout;
    assert!(
        list.contains("\nCommands:\n") && list.contains("\nTopics (`reasonscape help <TOPIC>`):"),
        "{list}"
    );
    let scores = reasonscape_at(100, &["help", "analyze", "scores"]).stdout;
    assert!(
        scores.starts_with("Show the leaderboard") && scores.contains("Usage: reasonscape analyze scores"),
        "{scores}"
    );
    let topics = list.lines().skip_while(|line| !line.starts_with("Topics")).skip(1);
    let topics: Vec<&str> = topics.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(topics.len() > 10, "{topics:?}");
    for topic in topics {
        let run = reasonscape(&["help", topic]);
        // The help of a command with the same name comes first.
        let page = if ["metrics", "tasks"].contains(&topic) { "\n# " } else { "# " };
        let starts = run.stdout.starts_with("# ");
        assert!(run.code == 0 && run.stdout.contains(page) && starts == (page == "# "), "{topic}: {run:?}");
    }
    assert_rejected(
        &reasonscape(&["help", "tutoral"]),
        &["unknown command or topic `tutoral` (did you mean `tutorial`?)"],
    );
    assert_rejected(&reasonscape(&["help", "analyze", "score"]), &["did you mean `scores`?"]);
}

#[test]
fn help_finds_sections_by_words() {
    for (words, line) in [
        (&["confidence", "interval"][..], "reasonscape help statistics"),
        (&["resume"], "reasonscape help running  Resume an interrupted run"),
        (&["rate", "limit"], "reasonscape help running  Stay within rate limits"),
        (&["pass@k"], "pass@k"),
        (&["paired", "test"], "reasonscape help comparing   Paired test of two models"),
        // Words in another order, and a first word that is a command or a topic.
        (&["limits", "rate"], "reasonscape help running  Stay within rate limits"),
        (&["run", "budget"], "reasonscape help running  Run, resume, budgets and rate limits"),
        (&["score", "interval"], "reasonscape help coverage    ReasonScore"),
        (&["metrics", "ece"], "reasonscape help metrics"),
        (&["equations", "in", "reasoning"], "reasonscape help metrics-steps  Equations in reasoning"),
    ] {
        let run = reasonscape(&[&["help"], words].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed(&run.stdout).contains(&squeezed(line)), "{}", run.stdout);
    }
}

#[test]
fn help_explains_the_words_of_the_source_documents() {
    for (topic, heading, words) in [
        ("reasonscore", "# ReasonScore", &["geometric mean", "random.Random(42)", "near-perfect"][..]),
        ("pointsdb", "# PointsDB", &["query_points", "aggregate", "`C_P`"]),
        ("pairwise", "# Pairwise win rates", &["Bradley-Terry", "\n# Pairwise", "Expected wins"]),
        ("manifold", "# Points, planes and manifolds", &["base_task", "facets", "Identity"]),
        ("config", "# Studies", &["api_key_env", "sampler"]),
        ("architecture", "# Architecture", &["Data flow", "Invariants"]),
        ("source-documents", "# Source documents", &["0.743", "0.650"]),
    ] {
        let run = reasonscape(&["help", topic]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.starts_with(heading), "{topic}: {}", run.stdout.lines().next().unwrap());
        for words in words {
            assert!(run.stdout.contains(words), "{topic} lacks {words}");
        }
    }
    // A section ends where the next one begins, and a comment in code is no heading.
    let score = reasonscape(&["help", "reasonscore"]).stdout;
    assert!(score.contains("\n# reasonscore.py\n") && !score.contains("McNemar's test"), "{score}");
    // The name of a command shows its help, and then the page.
    let metrics = reasonscape_at(100, &["help", "metrics"]).stdout;
    assert!(
        metrics.starts_with("Compute metrics") && metrics.contains("Usage: reasonscape metrics"),
        "{metrics}"
    );
    let page = reasonscape(&["help", "zeta"]).stdout;
    assert!(
        page.starts_with("# Metrics\n") && metrics.ends_with(&page),
        "the former name has the page: {metrics}"
    );
    let tasks = reasonscape_at(100, &["help", "tasks"]).stdout;
    assert!(tasks.starts_with("List the tasks") && tasks.contains("Usage: reasonscape tasks"), "{tasks}");
    assert!(tasks.contains("\n# Tasks\n") && tasks.contains("`prob_dewhitespace`"), "{tasks}");
}

#[test]
fn words_of_the_source_documents_point_to_their_analysis() {
    for (word, analysis) in [
        ("pairwise", "pairwise"),
        ("compression", "compression"),
        ("hazard", "hazard"),
        ("leaderboard", "scores"),
        ("aggregate", "aggregate"),
        ("points", "points"),
        ("frontier", "threshold"),
        ("cluster", "cluster"),
    ] {
        let run = reasonscape(&[word, "my-study"]);
        assert_rejected(&run, &[&format!("unrecognized subcommand `{word}`")]);
        let hint = format!("did you mean `reasonscape analyze {analysis}`?\n");
        assert!(run.stderr.ends_with(&hint), "{run:?}");
    }
    assert_rejected(
        &reasonscape(&["analyze", "leaderboard"]),
        &["did you mean `reasonscape analyze scores`?"],
    );
    // Elsewhere the words are other mistakes.
    for arguments in [&["suite", "points"][..], &["cache", "aggregate"], &["nothing"]] {
        let run = reasonscape(arguments);
        assert_rejected(&run, &["unrecognized subcommand"]);
        assert!(!run.stderr.contains("reasonscape analyze"), "{run:?}");
    }
}
