//! Checks the problems of the built-in suites, and writes the tables of docs/tasks.md.
//!
//! ```text
//! cargo run --release -p reasonscape-core --example task_checks -- r12 2000 boolean    # failures and tables
//!     -- --markdown docs/tasks.md                                                      # writes the tables
//!     -- --compare docs/tasks.md                                                       # a part of them, computed again
//! ```

use std::error::Error;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use reasonscape_core::Suite;
use reasonscape_core::check::{PointCheck, Report, TaskCheck, TaskPoint};

/// Problems per point in the tables of the page.
const PROBLEMS: usize = 2000;

/// What `--compare` computes again: a suite, and the tasks of it.
const COMPARED: [(&str, Option<&str>); 2] = [("quick", None), ("r12", Some("letters"))];

/// The section of the page that this program writes. It ends the page.
const HEADING: &str = "\n## Checks\n";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--markdown", file] => {
            let page = fs::read_to_string(file)?;
            let text = page.find(HEADING).map_or(page.as_str(), |start| &page[..start]);
            fs::write(file, format!("{text}{}", section()?))?;
            Ok(())
        }
        ["--compare", file] => compare(&fs::read_to_string(file)?),
        [suite, problems] => print(suite, problems.parse()?, None),
        [suite, problems, task] => print(suite, problems.parse()?, Some(task)),
        _ => Err("usage: task_checks SUITE PROBLEMS [TASK] | --markdown FILE | --compare FILE".into()),
    }
}

fn print(suite: &str, problems: usize, task: Option<&str>) -> Result<(), Box<dyn Error>> {
    let report = check(suite, problems, task)?;
    for failure in report.failures() {
        println!("{failure}");
    }
    println!("\n{}", table(&report));
    for task in &report.tasks {
        let mut pooled: Vec<_> = task.pooled.iter().collect();
        pooled.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        for guesser in pooled.into_iter().take(3) {
            println!(
                "{} over all points: {} {:.3}, stated {:.3}",
                task.task, guesser.guesser, guesser.accuracy, guesser.stated
            );
        }
        for [one, other] in &task.no_difference {
            println!("{}: no difference found between {one} and {other}", task.task);
        }
    }
    Ok(())
}

/// The checks of a suite, or of one task of it, on two threads.
fn check(suite: &str, problems: usize, task: Option<&str>) -> Result<Report, Box<dyn Error>> {
    let suite = Suite::parse(Suite::built_in(suite).ok_or("no such suite")?)?;
    let points: Vec<_> = suite
        .points()
        .into_iter()
        .filter(|point| task.is_none_or(|task| point.task.family() == task))
        .collect();
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<PointCheck>>> = Mutex::new(vec![None; points.len()]);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(point) = points.get(index) else { break };
                    let source = TaskPoint { task: point.task, params: point.params };
                    let check = PointCheck::new(&source, problems, 0, None);
                    found.lock().expect("no thread panics with the lock")[index] = Some(check);
                }
            });
        }
    });
    Ok(Report::new(found.into_inner()?.into_iter().flatten().collect()))
}

fn section() -> Result<String, Box<dyn Error>> {
    let mut text = HEADING.to_owned();
    write!(
        text,
        "
What [`reasonscape tasks check`](cli.md#reasonscape-tasks-check) finds in the built-in suites with {PROBLEMS} problems at each
point. A *blind guesser* answers without reasoning: always the same, by position, by what is mentioned first, last or most, by a
logistic model of words and numbers, or by a trick of the task, such as counting corners. It learns from half of the problems of
a point and is tested on the other half. The table has the guesser with the largest excess over the stated guess probability at
any point, its accuracy with a 95 % confidence interval, and `leaks`, the number of points at which one exceeds it by more than 5
percentage points (exact binomial tests, corrected by Holm's method for all points and guessers of the suite). The largest of
so many accuracies is partly chance. `overlap` is the largest proportion of a point's prompts that another seed gives too,
`same` the number of points with the same problems as another. `cargo run --release -p reasonscape-core --example task_checks --
--markdown docs/tasks.md` writes this section, and CI computes a part of it again.
"
    )?;
    for suite in ["quick", "r12"] {
        write!(text, "\n### {suite}\n\n{}", table(&check(suite, PROBLEMS, None)?))?;
    }
    Ok(text)
}

fn table(report: &Report) -> String {
    let mut text = "| task | points | leaks | guesser | accuracy | stated | overlap | same |\n|---|---:|---:|---|---:|---:|---:|---:|\n"
        .to_owned();
    text.extend(report.tasks.iter().map(row));
    text
}

fn row(task: &TaskCheck) -> String {
    let guesser = task.worst.as_ref().map_or_else(
        || "- | - | -".to_owned(),
        |worst| {
            let [low, high] = worst.accuracy_interval;
            format!("{} | {:.3} [{low:.3}, {high:.3}] | {:.3}", worst.guesser, worst.accuracy, worst.stated)
        },
    );
    let same: usize = task.same_problems.iter().map(Vec::len).sum();
    let TaskCheck { task: name, version, points, leaking_points, max_overlap, .. } = task;
    format!("| {name}@{version} | {points} | {leaking_points} | {guesser} | {max_overlap:.3} | {same} |\n")
}

/// Computes rows again and looks for them on the page. `leaks` of one task alone differs only if it is near the limit, because
/// fewer tests are corrected for.
fn compare(page: &str) -> Result<(), Box<dyn Error>> {
    for (suite, task) in COMPARED {
        let start =
            page.find(&format!("\n### {suite}\n")).ok_or_else(|| format!("no table for `{suite}`"))?;
        for task in &check(suite, PROBLEMS, task)?.tasks {
            let row = row(task);
            if !page[start..].contains(&row) {
                return Err(
                    format!("`{suite}` has no row as computed now; write the page again:\n{row}").into()
                );
            }
        }
    }
    Ok(())
}
