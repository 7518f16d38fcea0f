//! A small study, made of counters that are known.

use std::path::Path;

use reasonscape_core::Outcome;
use reasonscape_points::{EvalInfo, PointTrials, Trial, UnitWriter};
use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::{self, Run, provenance, reasonscape_at};

/// How a simulated model answers: of a hundred tests of each task it gets about so many right, and so many are cut off.
pub(super) struct Skill {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) model: &'static str,
    pub(super) template: &'static str,
    pub(super) groups: &'static [&'static str],
    /// Task, share of right answers in percent, share of truncated ones in percent, tests answered at each point.
    pub(super) tasks: &'static [(&'static str, u32, u32, u32)],
    /// Which tests it stumbles over; the same for two models that stumble over the same.
    pub(super) salt: u32,
}

/// Tests that are planned at each of the two points of a task.
pub(super) const PLANNED: u32 = 100;

pub(super) const STRONG: Skill = Skill {
    id: "a00001",
    name: "strong",
    model: "org/strong",
    template: "zeroshot",
    groups: &["arch:moe", "size:large"],
    tasks: &[("arithmetic", 92, 0, 100), ("boolean", 95, 0, 100), ("sort", 88, 2, 100)],
    salt: 3,
};

pub(super) const TWIN: Skill = Skill {
    id: "b00002",
    name: "twin",
    model: "org/twin",
    template: "zeroshot",
    groups: &["arch:dense"],
    tasks: &[("arithmetic", 91, 0, 100), ("boolean", 95, 0, 100), ("sort", 88, 1, 100)],
    salt: 5,
};

pub(super) const WEAK: Skill = Skill {
    id: "c00003",
    name: "weak",
    model: "org/weak",
    template: "zeroshot",
    groups: &["arch:dense", "size:small"],
    tasks: &[("arithmetic", 40, 12, 100), ("boolean", 54, 5, 100), ("sort", 30, 20, 100)],
    salt: 7,
};

/// Lacks a task and the second half of another.
pub(super) const PARTIAL: Skill = Skill {
    id: "d00004",
    name: "partial",
    model: "org/strong",
    template: "cot",
    groups: &[],
    tasks: &[("arithmetic", 70, 0, 50), ("boolean", 90, 0, 100), ("sort", 0, 0, 0)],
    salt: 11,
};

pub(super) struct Small {
    folder: TempDir,
}

impl Small {
    /// The four of them.
    pub(super) fn new() -> Self {
        Self::of(&[STRONG, TWIN, WEAK, PARTIAL])
    }

    pub(super) fn of(skills: &[Skill]) -> Self {
        let folder = TempDir::new().unwrap();
        for skill in skills {
            for task in skill.tasks {
                write(folder.path(), skill, *task);
            }
        }
        Self { folder }
    }

    /// Writes the files of this model again.
    pub(super) fn rewrite(&self, skill: &Skill) {
        for task in skill.tasks {
            write(self.folder.path(), skill, *task);
        }
    }

    pub(super) fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// `analyze QUESTION STUDY …` on a terminal of this width.
    pub(super) fn at(&self, width: u16, question: &str, more: &[&str]) -> Run {
        let run = reasonscape_at(width, &[&["analyze", question, self.path()], more].concat());
        assert!(!run.stderr.contains("panicked"), "{run:?}");
        run
    }

    pub(super) fn ask(&self, question: &str, more: &[&str]) -> Run {
        self.at(100, question, more)
    }

    pub(super) fn json(&self, question: &str, more: &[&str]) -> Value {
        let run = self.ask(question, &[more, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }
}

fn write(folder: &Path, skill: &Skill, (task, right, truncated, answered): (&str, u32, u32, u32)) {
    let eval = EvalInfo {
        eval_id: skill.id.to_owned(),
        model: skill.model.to_owned(),
        template: skill.template.to_owned(),
        sampler: "greedy".to_owned(),
        name: skill.name.to_owned(),
        groups: skill.groups.iter().map(|&group| group.to_owned()).collect(),
    };
    let mut writer = UnitWriter::new(folder, eval, task).unwrap();
    for length in [4, 8] {
        let guess = if task == "boolean" { 0.5 } else { 0.0 };
        let trials = (0..answered).map(|index| trial(skill, index + length, right, truncated, guess));
        let point = PointTrials {
            params: format!("{{\"depth\": 1, \"length\": {length}}}"),
            manifolds: vec!["all".to_owned(), format!("{task}-length")],
            planned: u64::from(PLANNED),
            trials: trials.enumerate().map(|(index, trial)| Trial { index: index as u64, ..trial }).collect(),
            ..PointTrials::default()
        };
        writer.write_point(point).unwrap();
    }
    writer.finish(&provenance()).unwrap();
}

/// Tests are hard or easy for everybody, and a little more so for this one or that.
fn trial(skill: &Skill, test: u32, right: u32, truncated: u32, guess: f64) -> Trial {
    let hardness = (test * 37 + test * skill.salt % 13) % 100;
    let status = match hardness {
        hard if hard < right => Outcome::Correct,
        hard if hard >= 100 - truncated => Outcome::Truncated,
        _ => Outcome::Incorrect,
    };
    Trial {
        completion_tokens: Some(u64::from(100 + 10 * skill.salt)),
        ..test_env::trial(u64::from(test), status, guess)
    }
}
