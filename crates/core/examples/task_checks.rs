//! Checks the problems of a built-in suite, with threads: what `reasonscape tasks check` does, for the table of docs/tasks.md.
//!
//! ```text
//! cargo run --release -p reasonscape-core --example task_checks -- r12 2000
//! ```

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use reasonscape_core::Suite;
use reasonscape_core::check::{PointCheck, Report, TaskPoint};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let suite = Suite::parse(Suite::built_in(&arguments[0]).ok_or("no such suite")?)?;
    let count: usize = arguments[1].parse()?;
    let only = arguments.get(2);
    let points: Vec<_> =
        suite.points().into_iter().filter(|p| only.is_none_or(|only| p.task.family() == only)).collect();
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<PointCheck>>> = Mutex::new(vec![None; points.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((index, point)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    points.get(index).map(|point| (index, point))
                } {
                    let check = PointCheck::new(
                        &TaskPoint { task: point.task, params: point.params },
                        count,
                        0,
                        None,
                    );
                    found.lock().expect("no panic")[index] = Some(check);
                }
            });
        }
    });
    let checks = found.into_inner()?.into_iter().flatten().collect();
    let report = Report::new(checks);
    for failure in report.failures() {
        println!("{failure}");
    }
    for task in &report.tasks {
        println!(
            "{} points {} leaking {} distinct {} overlap {} common {:.2}",
            task.task,
            task.points,
            task.leaking_points,
            task.min_distinct,
            task.max_overlap,
            task.most_common_proportion
        );
        let mut pooled = task.pooled.clone();
        pooled.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        for g in pooled.iter().take(6) {
            println!(
                "   pooled {} {} {:.3} stated {:.3}",
                g.guesser,
                if g.with_options { "choice" } else { "free" },
                g.accuracy,
                g.stated
            );
        }
        for pair in &task.no_difference {
            println!("   no difference: {} {}", pair[0], pair[1]);
        }
    }
    Ok(())
}
