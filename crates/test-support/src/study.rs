//! The study.toml of tests.

/// A study.toml with a suite file and models of one server, each with the same additional settings.
///
/// ```
/// let text = reasonscape_test_support::study_toml("small.toml", "http://127.0.0.1:8089/v1", &["m"], "concurrency = 2");
/// assert_eq!(
///     text,
///     "suite = \"small.toml\"\n[[eval]]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:8089/v1\"\nconcurrency = 2\n"
/// );
/// ```
pub fn study_toml(suite: &str, base_url: &str, models: &[&str], settings: &str) -> String {
    let eval =
        |model: &&str| format!("[[eval]]\nmodel = \"{model}\"\nbase_url = \"{base_url}\"\n{settings}\n");
    format!("suite = \"{suite}\"\n{}", models.iter().map(eval).collect::<String>())
}
