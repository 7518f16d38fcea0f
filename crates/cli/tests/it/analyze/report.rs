//! `reasonscape report`: a page that needs nothing else, and claims only what is significant.

use std::fs;
use std::path::Path;

use reasonscape_core::Outcome;

use super::browser::draws_alone;
use super::outcomes::{Draws, Planted, ended};
use super::small::{STRONG, Skill, Small, TWIN, WEAK};
use crate::test_env::{assert_rejected, reasonscape};

/// Writes a report of a study and gives its text.
fn written(small: &Small, name: &str, arguments: &[&str]) -> String {
    written_of(small.path(), name, arguments)
}

fn written_of(study: &str, name: &str, arguments: &[&str]) -> String {
    let path = Path::new(study).join(name);
    let run = reasonscape(&[&["report", study, "-o", path.to_str().unwrap()], arguments].concat());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.is_empty() && run.stderr.contains("wrote the report to"), "{run:?}");
    fs::read_to_string(path).unwrap()
}

/// The part of a text under a heading.
fn part<'a>(text: &'a str, heading: &str) -> &'a str {
    text.split("\n## ").find(|part| part.starts_with(heading)).unwrap_or_else(|| panic!("no {heading}"))
}

#[test]
fn markdown_matches_snapshot() {
    let small = Small::new();
    let text = written(&small, "report.md", &["--title", "Small"]);
    insta::assert_snapshot!(text);
    // Every linked figure exists.
    let pictures: Vec<&str> = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert_eq!(pictures.len(), 9);
    for picture in pictures {
        assert!(
            fs::read_to_string(Path::new(small.path()).join(picture)).unwrap().starts_with("<svg"),
            "{picture}"
        );
    }
}

#[test]
fn claims_only_significant_results() {
    let small = Small::of(&[STRONG, TWIN, WEAK]);
    let text = written(&small, "report.md", &[]);
    let findings = part(&text, "Findings");
    assert!(findings.contains("strong and twin are tied for first place"), "{findings}");
    assert!(!findings.contains("strong is better than twin"), "{findings}");
    assert!(!findings.contains("twin is better than strong"), "{findings}");
    assert!(findings.contains(" is better than weak by "), "{findings}");
    assert!(findings.contains("Of 2 adjacent pairs, 1 shows no significant difference"), "{findings}");
    // 66 of 600 trials: 8.7 to 13.8 % by Wilson.
    assert!(
        findings.contains("weak: 11 % of responses are truncated by the token limit (95 % CI 9 to 14 %; "),
        "{findings}"
    );
}

#[test]
fn page_is_self_contained_and_escapes_names() {
    let hostile = Skill { name: "</script><b>&\"'", ..STRONG };
    let small = Small::of(&[hostile, WEAK]);
    let page = written(&small, "report.html", &[]);
    assert!(page.len() < 10_000_000, "{} bytes", page.len());
    assert!(page.contains("default-src 'none'"));
    // Apart from plotly's own text, the page refers to nothing.
    let (_, body) = page.split_once("</head>").unwrap();
    for reference in ["src=", "<link", "@import", "href=\"http"] {
        assert!(!body.contains(reference), "{reference}");
    }
    assert!(!body.contains("<b>"), "a name became an element");
    assert!(body.contains("&lt;/script&gt;&lt;b&gt;&amp;&quot;&#39;"));
    for heading in ["Findings", "Leaderboard", "Accuracy by task", "Pairwise win rates", "Methods"] {
        assert!(body.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
}

#[test]
fn accepts_one_evaluation_and_rejects_other_file_endings() {
    let small = Small::of(&[WEAK]);
    let text = written(&small, "one.md", &[]);
    assert!(part(&text, "Findings").contains("weak has a ReasonScore of "), "{text}");
    assert!(!text.contains("## Pairwise win rates"));
    let run = reasonscape(&["report", small.path(), "-o", "report.pdf"]);
    assert_rejected(&run, &["`report.pdf`", ".html or .md"]);
}

#[test]
fn page_of_sixty_models_says_what_it_omits() {
    let mut draws = Draws(60);
    let mut study = Planted::new();
    for model in 0..60 {
        for task in 0..12 {
            let mut trials = |wrong: u64| {
                let mut trial = || {
                    let status = match draws.below(100) {
                        0..5 => Outcome::Truncated,
                        luck if luck < wrong + model => Outcome::Incorrect,
                        _ => Outcome::Correct,
                    };
                    ended(status, 20 + draws.below(2000))
                };
                (0..4).map(|_| trial()).collect::<Vec<_>>()
            };
            let points = vec![
                (r#"{"length": 4}"#, trials(5)),
                (r#"{"length": 8}"#, trials(20)),
                (r#"{"length": 12}"#, trials(35)),
            ];
            study = study.with_points(&format!("maker/model-{model:02}"), &format!("task{task:02}"), points);
        }
    }
    let page = written_of(study.path(), "report.html", &[]);
    draws_alone(&Path::new(study.path()).join("report.html"), 9);
    assert!(page.len() < 8_000_000, "{} bytes", page.len());
    let sections: Vec<&str> = page.split("<section id=").skip(1).collect();
    let section = |id: &str| {
        let found = sections.iter().find(|section| section.starts_with(&format!("\"{id}\"")));
        *found.unwrap_or_else(|| panic!("no {id}"))
    };
    let names = |id: &str| {
        let section = section(id);
        (0..60).filter(|model| section.contains(&format!("maker/model-{model:02}"))).count()
    };
    for id in ["leaderboard", "tasks", "pairwise", "similarity", "provenance"] {
        assert_eq!(names(id), 60, "{id}");
        assert!(!section(id).contains("Of 60 evaluations"), "{id}");
    }
    for (id, analysis) in [
        ("landscapes", "projection"),
        ("thresholds", "threshold"),
        ("hazard", "hazard"),
        ("tokens", "tokens"),
        ("compression", "compression"),
    ] {
        assert_eq!(names(id), 8, "{id}");
        let said = section(id);
        assert!(said.contains("Of 60 evaluations, these are the 8 with the highest ReasonScore."), "{id}");
        assert!(said.contains(&format!("`reasonscape analyze {analysis} STUDY`")), "{id}");
    }
}
