use crate::test_env::{assert_rejected, reasonscape};

const EXAMPLE: [&str; 9] =
    ["estimate", "--n", "128", "--correct", "100", "--truncated", "5", "--guess", "12.3"];

fn example(more: &[&'static str]) -> Vec<&'static str> {
    [&EXAMPLE[..], more].concat()
}

#[test]
fn table_of_nine_modes_fits_80_columns() {
    let run = reasonscape(&example(&["--mode", "all"]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn json_is_keyed_by_mode_with_every_digit() {
    let run = reasonscape(&example(&["--mode", "all", "--format", "json"]));
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let modes = value.as_object().unwrap();
    assert_eq!(modes.len(), 9);
    for (mode, bounds) in modes {
        let number = |key: &str| bounds[key].as_f64().unwrap_or_else(|| panic!("{mode} has no {key}"));
        assert!((number("center") - f64::midpoint(number("low"), number("high"))).abs() < 1e-15);
        assert!((number("margin") - (number("high") - number("low")) / 2.0).abs() < 1e-15);
        assert!(number("low") <= number("point") && number("point") <= number("high"));
    }
    // Reckoned by hand from the formulas, in Python.
    assert!((value["C_P"]["center"].as_f64().unwrap() - 0.744_033_524_054_700_2).abs() < 1e-12);
}

#[test]
fn guessing_and_truncation_spell_out_the_mode() {
    let estimate = |more: &[&str]| {
        let run = reasonscape(&[&EXAMPLE[..], more].concat());
        assert_eq!(run.code, 0, "{more:?}: {run:?}");
        run.stdout
    };
    for (guessing, event) in [("raw", "E"), ("corrected", "C"), ("calibrated", "K")] {
        for (truncation, assumption) in [("ignore", "I"), ("fail", "P"), ("pass", "O")] {
            let mode = format!("{event}_{assumption}");
            let words = ["--guessing", guessing, "--truncation", truncation];
            assert_eq!(estimate(&words), estimate(&["--mode", &mode]), "{words:?}");
        }
    }
    // The other half stays that of the default, `C_P`.
    assert_eq!(estimate(&["--guessing", "raw"]), estimate(&["--mode", "E_P"]));
    assert_eq!(estimate(&["--truncation", "ignore"]), estimate(&["--mode", "C_I"]));
}

#[test]
fn rejects_mode_together_with_its_words() {
    for words in [["--guessing", "raw"], ["--truncation", "fail"]] {
        for arguments in
            [[&["--mode", "C_I"], &words[..]].concat(), [&words[..], &["--mode", "C_I"]].concat()]
        {
            let run = reasonscape(&[&EXAMPLE[..], &arguments].concat());
            let message = format!("`{}` cannot be combined with `--mode`", words[0]);
            assert_rejected(&run, &[&message, "--guessing corrected --truncation ignore"]);
        }
    }
    assert_rejected(&reasonscape(&example(&["--guessing", "lucky"])), &["raw, corrected, calibrated"]);
}

#[test]
fn has_no_estimate_without_trials() {
    let run = reasonscape(&["estimate", "--n", "0", "--correct", "0", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["C_P"]["point"], serde_json::Value::Null);
    assert_eq!((value["C_P"]["low"].as_f64(), value["C_P"]["high"].as_f64()), (Some(0.0), Some(1.0)));
}

#[test]
fn csv_and_markdown_have_the_same_rows() {
    let csv = reasonscape(&example(&["--mode", "all", "--format", "csv"])).stdout;
    assert_eq!(csv.lines().next(), Some("mode,low,high,center,margin,point,event,truncated"));
    assert_eq!(csv.lines().count(), 10);
    let markdown = reasonscape(&example(&["--mode", "all", "--format", "markdown"])).stdout;
    assert_eq!(markdown.lines().count(), 11);
    assert!(markdown.lines().all(|line| line.starts_with("| ") && line.ends_with(" |")));
}

#[test]
fn notes_calibration_near_chance() {
    let near = ["estimate", "--n", "100", "--correct", "55", "--guess", "50"];
    let run = reasonscape(&near);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.contains("the interval of K_P is 0.") && run.stderr.starts_with("note: "),
        "{}",
        run.stderr
    );
    assert_eq!(reasonscape(&[&near[..], &["--quiet"]].concat()).stderr, "");
    assert_eq!(reasonscape(&[&near[..], &["--mode", "K_P"]].concat()).stderr, "");
}

#[test]
fn rejects_impossible_counts_naming_the_flags() {
    let estimate = |arguments: &str| {
        reasonscape(&[&["estimate"][..], &arguments.split(' ').collect::<Vec<_>>()].concat())
    };
    assert_rejected(&estimate("--n 3 --correct 5"), &["--correct 5", "more than `--n 3`"]);
    assert_rejected(&estimate("--n 10 --correct 6 --truncated 5"), &["add up to 11 trials"]);
    assert_rejected(&estimate("--n 3 --correct -1"), &["--correct -1", "0 or more"]);
    assert_rejected(&estimate("--n -3 --correct 0"), &["--n -3"]);
    assert_rejected(&estimate("--n NaN --correct 1"), &["--n NaN", "finite"]);
    assert_rejected(&estimate("--n inf --correct 1"), &["--n inf"]);
    assert_rejected(&estimate("--n 9 --correct 1 --guess 10"), &["--guess 10", "9 completed"]);
    assert_rejected(&estimate("--n 9 --correct 1 --mode C_X"), &["unknown mode `C_X`", "K_O, or all"]);
    assert_rejected(&estimate("--n 9 --correct 1 --confidence 95"), &["--confidence 95", "0.95 is 95 %"]);
    assert_rejected(&estimate("--n nine --correct 1"), &["'nine'", "--n"]);
    assert_rejected(&estimate("--correct 1"), &["not provided: --n <N>"]);
    assert_rejected(&estimate("--n 9 --corect 1"), &["'--corect'", "'--correct'"]);
}
