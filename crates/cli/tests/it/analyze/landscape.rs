//! `analyze projection`, `surface` and `threshold` where the landscape was planted.

use reasonscape_stats::{Confidence, Counters, Mode};
use serde_json::{Value, json};

use super::number;
use super::planted::{Planted, Plot, point};
use crate::test_env::assert_rejected;

/// Two models on a full grid of three lengths by two depths, and one on a task that has neither.
fn grid() -> Plot {
    let plot = Plot::new();
    let right = |length: u64, depth: u64| 100 - 2 * length - 10 * depth;
    let points = |loss: u64| -> Vec<Planted> {
        [4, 8, 16]
            .into_iter()
            .flat_map(|length| [0, 2].map(|depth| (length, depth)))
            .map(|(length, depth)| {
                let params = json!({"length": length, "max_depth": depth, "max_number": 9});
                Planted { truncated: loss, ..point(params, 100, right(length, depth) - loss) }
            })
            .collect()
    };
    plot.sow("strong", "arithmetic", &points(0));
    plot.sow("weak", "arithmetic", &points(10));
    plot.sow("strong", "sort", &[point(json!({"key": "natural"}), 50, 45)]);
    plot
}

#[test]
fn projection_pools_other_parameters_and_matches_counts() {
    let plot = grid();
    let views = plot.json("projection", &[]);
    assert_eq!(views.as_array().unwrap().len(), 1, "sort has nothing that varies");
    let view = &views[0];
    assert_eq!((&view["task"], &view["axes"][0]["parameter"]), (&json!("arithmetic"), &json!("length")));
    assert_eq!((&view["pooled"], &view["mixed"]), (&json!(["max_depth"]), &json!([])));
    let cells = view["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 6);
    for cell in cells {
        let length = number(&cell["at"]["length"]);
        let lost = if cell["name"] == "weak" { 20.0 } else { 0.0 };
        let right = 200.0 - 4.0 * length - 20.0 - lost;
        assert_eq!((number(&cell["n"]), number(&cell["n_e"]), number(&cell["n_t"])), (200.0, right, lost));
        let counters = Counters::new(200.0, right, lost, 0.0).unwrap();
        let expected = Mode::C_P.estimate(&counters, Confidence::P95);
        assert_eq!(number(&cell["estimate"]["low"]), expected.low);
        assert_eq!(number(&cell["estimate"]["high"]), expected.high);
        assert_eq!(cell["estimate"]["point"].as_f64(), expected.point);
    }
    let depth = plot.json("projection", &["--x", "max_depth", "--filter", "params.length=4"]);
    assert_eq!(number(&depth[0]["cells"][0]["n_e"]), 92.0);
    let run = plot.ask("projection", &[]);
    insta::assert_snapshot!("projection", format!("{}{}", run.stdout, run.stderr));
}

#[test]
fn surface_has_a_cell_for_every_pair_of_values() {
    let plot = grid();
    let view = &plot.json("surface", &[])[0];
    let axes: Vec<&Value> = view["axes"].as_array().unwrap().iter().map(|axis| &axis["parameter"]).collect();
    assert_eq!(axes, ["length", "max_depth"]);
    let cells = view["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12);
    for cell in cells.iter().filter(|cell| cell["name"] == "strong") {
        let [length, depth] = ["length", "max_depth"].map(|name| number(&cell["at"][name]));
        assert_eq!(number(&cell["n_e"]), 100.0 - 2.0 * length - 10.0 * depth);
    }
    let run = plot.ask("surface", &[]);
    insta::assert_snapshot!("surface", format!("{}{}", run.stdout, run.stderr));
    for question in ["projection", "surface"] {
        let csv = plot.ask(question, &["--format", "csv"]).stdout;
        let columns = csv.lines().next().unwrap().split(',').count();
        assert!(
            csv.lines().count() > 6 && csv.lines().all(|line| line.split(',').count() == columns),
            "{csv}"
        );
        assert!(plot.ask(question, &["--format", "markdown"]).stdout.starts_with("| eval |"));
    }
}

#[test]
fn accepts_former_command_names_or_points_to_the_new_one() {
    let plot = grid();
    let former = plot.ask("frontier", &["--format", "json"]);
    assert!(former.stderr.starts_with("note: `analyze frontier` is now `analyze threshold`\n"), "{former:?}");
    assert_eq!(serde_json::from_str::<Value>(&former.stdout).unwrap(), plot.json("threshold", &[]));
    assert!(!plot.ask("threshold", &[]).stderr.contains("is now"));
    // The name has another meaning now.
    assert_rejected(&plot.ask("cluster", &["--shape"]), &["--shape"]);
}

#[test]
fn names_confounded_parameters() {
    let plot = Plot::new();
    let rows = [(4, 0, 90), (8, 2, 60), (16, 4, 20)];
    let points: Vec<Planted> = rows
        .iter()
        .map(|(length, depth, right)| point(json!({"length": length, "max_depth": depth}), 100, *right))
        .collect();
    plot.sow("only", "arithmetic", &points);
    for question in ["projection", "threshold"] {
        let run = plot.ask(question, &[]);
        let said = "confounded with other parameters, which may cause the effect: arithmetic (max_depth with length)";
        assert!(run.stderr.contains(said), "{run:?}");
        let held = plot.ask(question, &["--filter", "params.max_depth=0,2", "--x", "length"]);
        assert!(held.stderr.contains("confounded"), "{held:?}");
    }
    assert_eq!(plot.json("projection", &[])[0]["mixed"], json!(["max_depth"]));
    assert_eq!(plot.json("threshold", &[])[0]["mixed"], json!(["max_depth"]));
}

#[test]
fn rejects_unknown_parameters_with_a_hint() {
    let plot = grid();
    for question in ["projection", "surface", "threshold"] {
        assert_rejected(
            &plot.ask(question, &["--x", "lenght"]),
            &["no point has the parameter `lenght`", "expected one of key, length, max_depth, max_number"],
        );
        assert_rejected(
            &plot.ask(question, &["--filter", "base_task=sort"]),
            &["sort has no", "widen the filter"],
        );
        assert_rejected(
            &plot.ask(question, &["--filter", "model=gpt"]),
            &["nothing in the study matches `model=gpt`"],
        );
        assert_rejected(&plot.ask(question, &["--confidence", "2"]), &["`--confidence 2` is out of range"]);
        let run = plot.ask(question, &["--x", "length"]);
        assert!(run.stderr.contains("sort has no parameter `length` and is not shown"), "{run:?}");
    }
    assert_rejected(
        &plot.ask("surface", &["--x", "length", "--y", "length"]),
        &["both parameters are `length`"],
    );
    assert_rejected(&plot.ask("threshold", &["--x", "key"]), &["has text values for `key`", "needs numbers"]);
}

#[test]
fn draws_figures() {
    let plot = grid();
    plot.draws("projection", &[], &["Accuracy by one parameter", "strong", "weak", "length"]);
    plot.draws("surface", &[], &["Accuracy by two parameters", "strong", "max_depth"]);
    plot.draws("threshold", &[], &["Thresholds: parameter value at 50 % accuracy", "weak", "length"]);
}

#[test]
fn reports_when_there_is_nothing_to_show() {
    let plot = Plot::new();
    let cut =
        |length, n| Planted { truncated: n, ..point(json!({"length": length, "max_depth": length}), n, 0) };
    plot.sow("cut", "arithmetic", &[cut(4, 30), cut(8, 30)]);
    plot.sow("none", "arithmetic", &[cut(4, 0), cut(8, 0)]);
    plot.sow("one", "arithmetic", &[point(json!({"length": 4, "max_depth": 4}), 1, 1)]);
    for question in ["projection", "surface", "threshold"] {
        for mode in ["E_I", "C_I", "C_P", "K_P", "C_O"] {
            let run = plot.ask(question, &["--mode", mode]);
            assert_eq!(run.code, 0, "{run:?}");
        }
        plot.draws_svg(question, &[], &["arithmetic"]);
    }
    let run = plot.ask("projection", &[]);
    assert!(
        run.stderr.contains("2 of these have no trials yet; `reasonscape run` sends the missing requests"),
        "{run:?}"
    );
    let frontier = plot.json("threshold", &[]);
    let finding = |name: &str| {
        let rows = frontier.as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap()["finding"].as_str().unwrap().to_owned()
    };
    assert!(finding("cut").starts_with("threshold not reached (below 4): accuracy below 50 % everywhere"));
    assert_eq!(finding("none"), "cannot tell: no trials");
    assert_eq!(finding("one"), "cannot tell: trials only at length=4");
}

/// A curve that crosses one half of what is known at `x50`, on top of guesses.
fn curve(x50: f64, slope: f64, guess: f64) -> Vec<Planted> {
    [2, 4, 8, 12, 16, 24, 32]
        .into_iter()
        .map(|length| {
            let known = 1.0 / (1.0 + (slope * (f64::from(length) - x50)).exp());
            let right = (400.0 * (guess + (1.0 - guess) * known)).round() as u64;
            Planted { guess, ..point(json!({"length": length, "max_depth": 1}), 400, right) }
        })
        .collect()
}

#[test]
fn finds_planted_threshold_with_interval() {
    let plot = Plot::new();
    plot.sow("a", "arithmetic", &curve(12.0, 0.4, 0.0));
    plot.sow("b", "arithmetic", &curve(20.0, 0.3, 0.0));
    plot.sow("a", "boolean", &curve(10.0, 0.4, 0.5));
    plot.sow("above", "arithmetic", &[2, 4, 8].map(|x| point(json!({"length": x}), 60, 60)));
    plot.sow("below", "arithmetic", &[2, 4, 8].map(|x| point(json!({"length": x}), 60, 0)));
    plot.sow("coin", "arithmetic", &[2, 4, 8].map(|x| point(json!({"length": x}), 20, 10)));
    plot.sow(
        "jagged",
        "arithmetic",
        &[(2, 190), (4, 60), (8, 150), (16, 10)].map(|(x, right)| point(json!({"length": x}), 200, right)),
    );
    let found = plot.json("threshold", &[]);
    let row = |name: &str, task: &str| {
        let rows = found.as_array().unwrap();
        rows.iter().find(|row| row["name"] == name && row["task"] == task).unwrap()
    };
    for (name, task, truth) in [("a", "arithmetic", 12.0), ("b", "arithmetic", 20.0), ("a", "boolean", 10.0)]
    {
        let curve = &row(name, task)["curve"];
        let [x50, low, high] = ["x50", "low", "high"].map(|key| number(&curve[key]));
        assert!((x50 - truth).abs() < 0.1 && low < truth && truth < high && high - low < 3.0, "{curve}");
        assert_eq!((&curve["crossing"], &curve["trend"]), (&json!("crosses"), &json!("falling")));
        assert!(number(&curve["lack_of_fit"]["p"]) > 0.9, "{curve}");
        assert_eq!(number(&curve["lack_of_fit"]["degrees"]), 5.0);
    }
    let at_80 = plot.json("threshold", &["--confidence", "0.8"]);
    let width = |found: &Value| number(&found[0]["curve"]["high"]) - number(&found[0]["curve"]["low"]);
    assert!(width(&at_80) < 0.8 * width(&found), "{at_80}");
    let words = |name: &str| row(name, "arithmetic")["finding"].as_str().unwrap().to_owned();
    assert!(words("a").starts_with("threshold at length=12.0 (11."), "{}", words("a"));
    for (name, side, edge) in [("above", "above", 8), ("below", "below", 2)] {
        let curve = &row(name, "arithmetic")["curve"];
        assert_eq!((&curve["x50"], &curve["not_reached"]), (&Value::Null, &json!(side)), "{curve}");
        for bound in ["low", "high"].map(|key| &curve[key]).into_iter().filter(|bound| !bound.is_null()) {
            assert!((2.0..=8.0).contains(&number(bound)), "{curve}");
        }
        let text = format!("not reached ({side} {edge})");
        assert_eq!(
            words(name),
            format!("threshold {text}: accuracy {side} 50 % everywhere, length from 2 to 8")
        );
        assert!(plot.ask("threshold", &["--format", "markdown"]).stdout.contains(&format!("| {text} |")));
        assert!(plot.ask("threshold", &["--format", "csv"]).stdout.contains(&format!(",{side},")));
    }
    assert_eq!(
        words("coin"),
        "cannot tell: neither a slope nor a difference from 50 % is significant, length from 2 to 8"
    );
    assert!(words("jagged").ends_with("the curve fits poorly, so the confidence interval is too narrow"));
    let run = plot.ask("threshold", &[]);
    insta::assert_snapshot!("frontier", format!("{}{}", run.stdout, run.stderr));
    plot.draws("threshold", &[], &["jagged*", "tested from"]);
}

#[test]
fn mode_of_truncated_trials_moves_the_threshold() {
    let plot = Plot::new();
    // Half of what is asked at 8 is cut off; of what is answered, the same share is right.
    let rows = [(2, 0, 95), (4, 0, 80), (8, 50, 30), (16, 80, 4)];
    let points = rows.map(|(length, truncated, right)| Planted {
        truncated,
        ..point(json!({"length": length}), 100, right)
    });
    plot.sow("cut", "arithmetic", &points);
    let x50 = |mode: &str| number(&plot.json("threshold", &["--mode", mode])[0]["curve"]["x50"]);
    assert!(x50("C_P") < x50("C_I") && x50("C_I") < 16.0);
    let wider = plot.json("threshold", &["--confidence", "0.99"]);
    let width = |rows: &Value| number(&rows[0]["curve"]["high"]) - number(&rows[0]["curve"]["low"]);
    assert!(width(&wider) > width(&plot.json("threshold", &[])));
}
