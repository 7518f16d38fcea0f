use crate::test_env::{assert_rejected, reasonscape};

#[test]
fn shows_and_counts_builtin_suites() {
    let run = reasonscape(&["suite", "count", "quick", "--format", "json"]);
    let count: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((count["points"].as_u64(), count["tests"].as_u64()), (Some(36), Some(288)));
    assert_eq!(count["tasks"].as_object().unwrap().len(), 12);

    let run = reasonscape(&["suite", "show", "r12", "--format", "json"]);
    let suite: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let points: usize =
        suite["manifolds"].as_array().unwrap().iter().map(|m| m["points"].as_array().unwrap().len()).sum();
    assert!(points >= 1030, "{points}");
    let count = |name: &str| reasonscape(&["suite", "count", name, "--format", "json"]).stdout;
    assert_eq!(count("r12"), count("r12@2"));
    let first: serde_json::Value = serde_json::from_str(&count("r12@1")).unwrap();
    assert_eq!(first["points"], 1067);
    assert!(reasonscape(&["suite", "show", "quick"]).stdout.contains("length: 3 8 24"));
}

#[test]
fn validates_a_file_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let path = file.to_str().unwrap();
    std::fs::write(
        &file,
        "name = \"mine\"\ncount = 4\n[[manifold]]\nid = \"a\"\ntask = \"sort\"\nparams = { lenght = 4 }\n",
    )
    .unwrap();
    assert_rejected(
        &reasonscape(&["suite", "validate", path]),
        &["mine.toml`: line 6", "did you mean `length`?"],
    );

    std::fs::write(&file, "name = \"mine\"\ncount = 4\n[[manifold]]\nid = \"a\"\ntask = \"sort\"\nparams = { length = [4, 8] }\n").unwrap();
    let run = reasonscape(&["suite", "validate", path]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("is valid"), "{run:?}");
    assert!(run.stdout.contains("│ sort@2 ┆      2 ┆     8 │"), "{run:?}");
}

#[test]
fn rejects_files_that_are_no_suite() {
    assert_rejected(&reasonscape(&["suite", "count", "r13"]), &["unknown suite `r13`", "quick, r12"]);
    assert_rejected(&reasonscape(&["suite", "count", "none.toml"]), &["failed to read `none.toml`"]);
}
