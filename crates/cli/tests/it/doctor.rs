//! `reasonscape doctor` on studies that are well and studies that are not.

use std::fs;

use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::{assert_rejected, reasonscape};

struct Patient {
    folder: TempDir,
    server: SimulatedServer,
}

impl Patient {
    fn new(api_key: Option<&str>) -> Self {
        let options =
            SimulateOptions { api_key: api_key.map(ToOwned::to_owned), ..SimulateOptions::default() };
        Self { folder: TempDir::new().unwrap(), server: SimulatedServer::start(options).unwrap() }
    }

    /// What is found with this model and these lines beside it: exit code, and what is said of each thing.
    fn found(&self, model: &str, more: &str, arguments: &[&str]) -> (i32, String) {
        let base_url = self.server.base_url();
        let study =
            format!("suite = \"quick\"\n[[eval]]\nmodel = \"{model}\"\nbase_url = \"{base_url}\"\n{more}");
        fs::write(self.folder.path().join("study.toml"), study).unwrap();
        let folder = self.folder.path().to_str().unwrap();
        let run = reasonscape(&[&["doctor", folder, "--format", "json"], arguments].concat());
        let checks: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
        let one = |check: &Value| format!("{} {}: {}\n", check["state"], check["what"], check["said"]);
        (run.code, checks.as_array().unwrap().iter().map(one).collect())
    }
}

#[test]
fn reports_a_sound_study() {
    let patient = Patient::new(None);
    let (code, said) = patient.found("sim-strong", "", &["--request"]);
    assert_eq!(code, 0, "{said}");
    for part in ["the model is available", "replied `I do not know this question.`", "none yet", "GB free"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(patient.server.stats().answered, 1);
    // Without the option nothing is sent.
    patient.found("sim-strong", "", &[]);
    assert_eq!(patient.server.stats().answered, 1);
}

#[test]
fn accepts_the_former_name_of_the_test_request_with_a_note() {
    let patient = Patient::new(None);
    let (code, said) = patient.found("sim-strong", "", &["--ask"]);
    assert_eq!((code, patient.server.stats().answered), (0, 1), "{said}");
    let folder = patient.folder.path().to_str().unwrap();
    let note =
        |option| reasonscape(&["doctor", folder, option]).stderr.contains("note: `--ask` is now `--request`");
    assert!(note("--ask") && !note("--request"));
}

#[test]
fn reports_problems_with_a_remedy() {
    let patient = Patient::new(None);
    let (code, said) = patient.found("sim-stron", "", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("no model `sim-stron` (did you mean `sim-strong`?)"), "{said}");
    let (code, said) = patient.found("sim-strong", "api_key_env = \"REASONSCAPE_NO_SUCH_KEY\"", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("`REASONSCAPE_NO_SUCH_KEY`"), "{said}");
    let (code, said) = patient.found("sim-strong", "nonsense = 1", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("unknown key `nonsense`"), "{said}");
    fs::write(patient.folder.path().join("cache.sqlite"), "no database").unwrap();
    let (code, said) = patient.found("sim-strong", "", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("\"wrong\" \"cache\""), "{said}");
    drop(patient);
    assert_rejected(&reasonscape(&["doctor", "no-such-study"]), &["no study at `no-such-study`"]);
}

#[test]
fn reports_unreachable_server_and_missing_key() {
    let patient = Patient::new(Some("secret-key"));
    let (code, said) = patient.found("sim-strong", "", &["--request"]);
    assert_eq!(code, 1);
    assert!(said.contains("HTTP 401"), "{said}");
    assert!(!said.contains("secret-key"));
    let Patient { folder, server } = patient;
    let base_url = server.base_url();
    drop(server);
    let study = format!("suite = \"quick\"\n[[eval]]\nmodel = \"m\"\nbase_url = \"{base_url}\"\n");
    fs::write(folder.path().join("study.toml"), study).unwrap();
    let run = reasonscape(&["doctor", folder.path().to_str().unwrap()]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("connection refused by"), "{}", run.stdout);
    assert!(run.stderr.contains("1 check failed; see the table for the fix"), "{}", run.stderr);
}

#[test]
fn names_the_address_of_the_api_if_v1_is_missing() {
    let patient = Patient::new(None);
    let base_url = patient.server.base_url();
    let without = base_url.strip_suffix("/v1").unwrap();
    let study = format!("suite = \"quick\"\n[[eval]]\nmodel = \"sim-strong\"\nbase_url = \"{without}\"\n");
    fs::write(patient.folder.path().join("study.toml"), study).unwrap();
    let run = reasonscape(&["doctor", patient.folder.path().to_str().unwrap(), "--format", "json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let checks: Value = serde_json::from_str(&run.stdout).unwrap();
    let hint = format!("set `base_url = \"{base_url}\"`");
    let named = |check: &Value| check["said"].as_str().is_some_and(|said| said.contains(&hint));
    assert!(checks.as_array().unwrap().iter().any(named), "{run:?}");
}
