//! Studies: what is read, what is refused, and where the error points.

use std::path::Path;
use std::time::Duration;

use reasonscape_providers::Provider;
use reasonscape_study::{EvalId, HeaderSource, Limits, Precision, Prices, Selection, Study, StudyError};
use tempfile::TempDir;

const MINIMAL: &str = "suite = \"quick\"\n\n[[eval]]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";

fn parse(text: &str) -> Result<Study, StudyError> {
    Study::parse(text, Path::new("somewhere"))
}

/// A study with these lines in its eval.
fn parse_with(lines: &str) -> Result<Study, StudyError> {
    parse(&format!("{MINIMAL}{lines}"))
}

/// Asserts a refusal of this line in these words.
fn assert_rejected(text: &str, line: usize, says: &[&str]) {
    let error = parse(text).expect_err(text);
    assert_eq!(error.line(), Some(line), "{error}\n{text}");
    let error = error.to_string();
    assert!(error.starts_with(&format!("`somewhere/study.toml`: line {line}: ")), "{error}");
    assert!(!error.contains('\n'), "{error}");
    for words in says {
        assert!(error.contains(words), "`{words}` is not in: {error}");
    }
}

/// Asserts a refusal of the line that is added to an eval.
fn assert_rejected_in_eval(line: &str, says: &[&str]) {
    assert_rejected(&format!("{MINIMAL}{line}"), 6, says);
}

#[test]
fn minimal_study_uses_all_defaults() {
    let study = parse(MINIMAL).unwrap();
    assert_eq!((study.suite.name.as_str(), study.count, study.precision), ("quick", None, None));
    assert_eq!((study.seed, study.repeats, study.dir.as_path()), (0, 1, Path::new("somewhere")));
    assert_eq!(study.count_at(&study.suite.points()[0], &Selection::default()), 8);
    let eval = &study.evals[0];
    assert_eq!((eval.name.as_str(), eval.provider), ("m", Provider::OpenAiChat));
    assert_eq!((eval.template.name.as_str(), eval.sampler.name.as_str()), ("zero-shot-cot", "greedy-2k"));
    assert_eq!((eval.limits, eval.prices), (Limits::default(), None));
    assert_eq!(eval.cache_namespace, "");
    assert_eq!(eval.id, EvalId::new("m", "zero-shot-cot", "greedy-2k"));
    assert_eq!(eval.endpoints().collect::<Vec<_>>(), ["http://127.0.0.1:1/v1/chat/completions"]);
}

#[test]
fn parses_a_study_with_every_key() {
    let study = parse(
        r#"
        suite = "r12"
        count = 16
        precision = 0.05
        max_count = 128
        seed = -3
        repeats = 4

        [budget]
        tokens = 1_000_000
        requests = 500
        money = 2
        minutes = 1.5
        seconds = 10

        [[eval]]
        name = "Claude"
        model = "claude"
        base_url = ["https://a.example/v1/", "https://b.example/v1"]
        provider = "anthropic"
        api_key_env = "CARGO_PKG_NAME"
        template = "few-shot"
        sampler = "sampled-8k"
        groups = ["arch:moe", "size: big"]
        concurrency = 3
        timeout_seconds = 30
        idle_timeout_seconds = 2.5
        connect_timeout_seconds = 1
        max_retries = 0
        price_prompt = 3
        price_completion = 15.0
        cache_namespace = "q4"
        headers = { X-Title = "mine", x-team = { env = "CARGO_PKG_VERSION" } }

        [[eval]]
        model = "gpt"
        base_url = "https://c.example/v1"
        max_tokens_field = "max_completion_tokens"
        price_prompt = 0
        price_completion = 0
        "#,
    )
    .unwrap();
    assert_eq!((study.count, study.seed, study.repeats), (Some(16), -3, 4));
    assert_eq!(study.count_at(&study.suite.points()[0], &Selection::default()), 16);
    assert_eq!(study.precision, Some(Precision { margin: 0.05, max_count: 128 }));
    assert_eq!((study.budget.tokens, study.budget.requests), (Some(1_000_000), Some(500)));
    assert_eq!((study.budget.money, study.budget.time), (Some(2.0), Some(Duration::from_secs(100))));

    let claude = &study.evals[0];
    assert_eq!((claude.name.as_str(), claude.model.as_str()), ("Claude", "claude"));
    assert_eq!(claude.base_urls, ["https://a.example/v1", "https://b.example/v1"]);
    assert_eq!((claude.provider, claude.template.shots), (Provider::Anthropic, 3));
    assert_eq!((claude.facets["arch"].as_str(), claude.facets["size"].as_str()), ("moe", "big"));
    assert_eq!(claude.limits.idle_timeout, Duration::from_millis(2500));
    assert_eq!((claude.limits.concurrency, claude.limits.max_retries), (3, 0));
    assert_eq!(claude.prices, Some(Prices { prompt: 3.0, completion: 15.0 }));
    assert_eq!(claude.cache_namespace, "q4");
    assert_eq!(claude.headers["x-team"], HeaderSource::Env("CARGO_PKG_VERSION".into()));
    let headers: Vec<(String, String)> = claude
        .request_headers()
        .unwrap()
        .into_iter()
        .map(|header| (header.name, header.value.expose().to_owned()))
        .collect();
    let value = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    assert_eq!(value("x-api-key"), Some("reasonscape-study"));
    assert_eq!(value("anthropic-version"), Some("2023-06-01"));
    assert_eq!((value("x-title"), value("x-team")), (Some("mine"), Some(env!("CARGO_PKG_VERSION"))));

    let params = &study.evals[1].params;
    assert_eq!((&params["max_completion_tokens"], params.get("max_tokens")), (&2048.into(), None));
}

#[test]
fn eval_id_is_derived_from_model_template_and_sampler() {
    // python3 -c 'import hashlib, json; print(hashlib.sha256(json.dumps({"model": "m", "template": "zero-shot-cot",
    //   "sampler": "greedy-2k"}, sort_keys=True).encode()).hexdigest()[:6])'
    assert_eq!(EvalId::new("m", "zero-shot-cot", "greedy-2k").as_str(), "32e083");
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    assert_rejected(
        "suite = \"quick\"\nbugdet = 1",
        2,
        &["unknown key `bugdet` (did you mean `budget`?)", "a study has suite"],
    );
    assert_rejected(&format!("{MINIMAL}\n[budget]\ntoken = 1"), 8, &["`token` (did you mean `tokens`?)"]);
    assert_rejected_in_eval(
        "concurency = 8",
        &["`concurency` (did you mean `concurrency`?)", "an [[eval]] has name"],
    );
    assert_rejected_in_eval("colour = 8", &["unknown key `colour`;"]);
    assert_rejected_in_eval("api_key = \"tea4two\"", &["unknown key `api_key`", "`api_key_env`"]);
    // The first in the file, not in the alphabet.
    assert_rejected("zebra = 1\napple = 2", 1, &["`zebra`"]);
}

#[test]
fn missing_fields_are_named() {
    assert_rejected("", 1, &["a study has no `suite`", "`suite = \"quick\"`"]);
    assert_rejected(
        "suite = \"quick\"\n\n[[eval]]\nbase_url = \"http://a/v1\"",
        3,
        &["an [[eval]] has no `model`"],
    );
    assert_rejected(
        "suite = \"quick\"\n[[eval]]\nmodel = \"m\"",
        2,
        &["has no `base_url`", "`base_url = \"http"],
    );
    assert_rejected("suite = \"quick\"\n[[eval]]\nmodel = \"m\"\nbase_url = []", 2, &["has no `base_url`"]);
    let error = parse("suite = \"quick\"").unwrap_err().to_string();
    assert!(error.contains("no [[eval]]"), "{error}");
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    assert_rejected("suite = 3", 1, &["`suite` is an integer; expected a string in quotes"]);
    assert_rejected("suite = \" \"", 1, &["`suite` is empty"]);
    assert_rejected("suite = \"quick\"\ncount = \"8\"", 2, &["`count` is a string; expected an integer"]);
    assert_rejected("suite = \"quick\"\ncount = 8.0", 2, &["`count` is a number; expected an integer"]);
    assert_rejected("suite = \"quick\"\nbudget = 8", 2, &["`budget` is an integer; expected a table"]);
    assert_rejected(
        "suite = \"quick\"\neval = 8",
        2,
        &["`eval` is an integer; expected tables, each under [[eval]]"],
    );
    assert_rejected("suite = \"quick\"\neval = [8]", 2, &["expected tables"]);
    assert_rejected(
        "suite = \"quick\"\n\n[eval]\nmodel = \"m\"",
        3,
        &["`eval` is a table; expected tables, each under [[eval]]"],
    );
    assert_rejected_in_eval("groups = \"a:b\"", &["`groups` is a string; expected a list of strings"]);
    assert_rejected_in_eval("groups = [1]", &["`groups` is an integer"]);
    assert_rejected_in_eval("timeout_seconds = true", &["`timeout_seconds` is a boolean; expected a number"]);
    assert_rejected_in_eval("timeout_seconds = 2020-01-01", &["`timeout_seconds` is a date or time"]);
    assert_rejected_in_eval("headers = [\"a\"]", &["`headers` is a list; expected a table"]);
    assert_rejected_in_eval(
        "headers = { a = 1 }",
        &["`a` is an integer; expected a string, or { env = \"NAME\" }"],
    );
    assert_rejected_in_eval(
        "headers = { a = { evn = \"A\" } }",
        &["unknown key `evn` (did you mean `env`?)"],
    );
    assert_rejected_in_eval("model = \"again\"", &["invalid TOML", "duplicate key"]);
    assert_rejected("suite = quick", 1, &["invalid TOML"]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (line, says) in [
        ("count = 0", "`count` is 0; expected an integer from 1 to 100000"),
        ("count = -3", "`count` is -3"),
        ("count = 99999999999999999999", "`count` is 99999999999999999999"),
        ("precision = 0", "`precision` is 0; expected a number from 0.001 to 0.5"),
        ("precision = nan", "`precision` is NaN"),
        ("repeats = 0", "`repeats` is 0"),
        ("max_count = 64", "`max_count` has no effect without `precision`"),
        ("count = 600\nprecision = 0.1", "`count` is 600, more than the `max_count` of 512"),
    ] {
        assert_rejected(
            &format!("suite = \"quick\"\n{line}\n[[eval]]\nmodel = \"m\"\nbase_url = \"http://a\""),
            2,
            &[says],
        );
    }
    for (line, says) in [
        ("concurrency = 0", "`concurrency` is 0"),
        ("timeout_seconds = 0", "`timeout_seconds` is 0"),
        ("timeout_seconds = -1.5", "`timeout_seconds` is -1.5"),
        ("idle_timeout_seconds = inf", "`idle_timeout_seconds` is inf"),
        ("max_retries = -1", "`max_retries` is -1"),
        ("price_prompt = -1", "`price_prompt` is -1"),
    ] {
        assert_rejected_in_eval(line, &[says]);
    }
    for line in ["tokens = 0", "requests = -1", "money = 0", "seconds = 0", "minutes = -2"] {
        assert_rejected(&format!("{MINIMAL}[budget]\n{line}"), 7, &["; expected a"]);
    }
}

#[test]
fn names_have_at_most_512_characters() {
    // Characters, not bytes.
    for key in ["model", "name"] {
        let with = |length: usize| {
            let name = "模".repeat(length);
            if key == "model" {
                MINIMAL.replace("model = \"m\"", &format!("model = \"{name}\""))
            } else {
                format!("{MINIMAL}name = \"{name}\"\n")
            }
        };
        assert!(parse(&with(512)).is_ok(), "{key}");
        for length in [513, 40_000] {
            let says = format!("`{key}` has {length} characters; expected at most 512");
            assert_rejected(&with(length), 3, &[&says]);
        }
    }
}

#[test]
fn rejects_contradictory_settings() {
    assert_rejected(
        &format!("{MINIMAL}{}", &MINIMAL[MINIMAL.find("[[eval]]").unwrap()..]),
        6,
        &["duplicate of eval 1"],
    );
    assert_rejected(&format!("{MINIMAL}[budget]\nmoney = 5"), 7, &["`money` needs prices, and `m` has none"]);
    assert_rejected(
        &format!("{MINIMAL}price_prompt = 1"),
        3,
        &["`price_prompt` and `price_completion` go together"],
    );
    assert_rejected_in_eval("groups = [\"smollm\"]", &["group `smollm` is not of the form `facet:value`"]);
    assert_rejected_in_eval("groups = [\":x\"]", &["group `:x`"]);
    assert_rejected_in_eval("groups = [\"a:b\", \"a:c\"]", &["`a` is both `b` and `c`"]);
    assert_rejected_in_eval("headers = { \"a b\" = \"x\" }", &["`a b` is not a valid header name"]);
    assert_rejected_in_eval("headers = { a = \"x\", A = \"y\" }", &["`a` is given twice"]);
    assert_rejected_in_eval(
        "headers = { Content-Length = \"1\" }",
        &["`content-length` is set by the program"],
    );
    assert_rejected_in_eval("headers = { a = \"x\\ny\" }", &["a value that can't be sent"]);
    let both = "headers = { authorization = \"x\" }\napi_key_env = \"KEY\"";
    assert_rejected_in_eval(both, &["would both send a key"]);
    let urls = MINIMAL.replace("\"http://127.0.0.1:1/v1\"", "[\"http://a/v1\", \"http://a/v1/\"]");
    assert_rejected(&urls, 5, &["`http://a/v1` is listed twice"]);
    assert_rejected(
        &MINIMAL.replace("http://127.0.0.1:1/v1", "example.com"),
        5,
        &["`base_url` is not a valid URL"],
    );
}

#[test]
fn evals_differing_in_one_identity_field_are_distinct() {
    let eval = &MINIMAL[MINIMAL.find("[[eval]]").unwrap()..];
    for line in ["template = \"zero-shot\"", "sampler = \"greedy-4k\"", "cache_namespace = \"b\""] {
        assert_eq!(parse(&format!("{MINIMAL}{eval}{line}")).unwrap().evals.len(), 2, "{line}");
    }
}

#[test]
fn unknown_names_list_the_known_ones() {
    assert_rejected(
        "suite = \"quikc\"\n",
        1,
        &["unknown suite `quikc` (did you mean `quick`?)", "quick and r12"],
    );
    assert_rejected("suite = \"mine.toml\"\n", 1, &["suite not found: `somewhere/mine.toml`"]);
    assert_rejected_in_eval(
        "template = \"zero-shto\"",
        &["unknown template `zero-shto` (did you mean `zero-shot`?)", "few-shot"],
    );
    assert_rejected_in_eval(
        "sampler = \"greedy-32k\"",
        &["unknown sampler `greedy-32k` (did you mean", "sampled-16k"],
    );
    assert_rejected_in_eval("template = \"../x\"", &["`../x`, which is not a valid name"]);
    assert_rejected_in_eval(
        "provider = \"openai-chta\"",
        &["unknown provider `openai-chta` (did you mean `openai-chat`?)"],
    );
}

#[test]
fn errors_do_not_show_misplaced_secrets() {
    for line in [
        "api_key_env = \"sk-tea4two\"",
        "api_key_env = \"gsk_Tea4two\"",
        "api_key = \"sk-tea4two\"",
        "headers = { a = { env = \"sk-tea4two\" } }",
        "headers = { \"a b\" = \"tea4two\" }",
        "headers = { a = [\"tea4two\"] }",
        "base_url = \"http://me:tea4two@a/v1\"",
        "api_key_env = sk-tea4two",
        "api_key_env = \"tea4two",
    ] {
        let text = if line.starts_with("base_url") {
            format!("suite = \"quick\"\n[[eval]]\nmodel = \"m\"\n{line}")
        } else {
            format!("{MINIMAL}{line}")
        };
        let error = parse(&text).expect_err(line);
        let shown = format!("{error} {error:?}").to_lowercase();
        assert!(!shown.contains("tea4two"), "{shown}");
    }
    let study = parse_with("headers = { a = \"Bearer tea4two\" }").unwrap();
    assert!(!format!("{study:?} {:?}", study.evals[0].request_headers()).contains("tea4two"));
}

#[test]
fn unset_variable_fails_only_when_needed() {
    let study = parse_with("api_key_env = \"REASONSCAPE_NO_SUCH_KEY\"").unwrap();
    let error = study.evals[0].request_headers().unwrap_err().to_string();
    assert!(error.contains("`REASONSCAPE_NO_SUCH_KEY` is not set"), "{error}");
}

#[test]
fn study_files_override_builtins() {
    let dir = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let suite = "name = \"NAME\"\ncount = 2\n[[manifold]]\nid = \"a\"\ntask = \"sort\"\n";
    write("suites/quick.toml", &suite.replace("NAME", "own quick"));
    write("other.toml", &suite.replace("NAME", "other"));
    write("templates/zero-shot-cot.toml", "[[message]]\nrole = \"user\"\ncontent = \"{{ prompt }}!\"\n");
    write("samplers/greedy-2k.toml", "[params]\nmax_tokens = 7\n");
    write("study.toml", MINIMAL);

    for path in [dir.path().to_owned(), dir.path().join("study.toml")] {
        let study = Study::load(&path).unwrap();
        assert_eq!(study.suite.name, "own quick");
        assert_eq!(study.evals[0].params["max_tokens"], 7);
        assert_eq!(study.evals[0].template.description, "");
    }
    write("study.toml", &MINIMAL.replace("quick", "other.toml"));
    assert_eq!(Study::load(dir.path()).unwrap().suite.name, "other");

    // An error names the file that is wrong, not the study that names it.
    write("samplers/greedy-2k.toml", "[params]\nwhen = 2020-01-01\n");
    let error = Study::load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("greedy-2k.toml`: line 2: `when` is a date or time"), "{error}");
    write("other.toml", "name = \"x\"\ncount = 0");
    let error = Study::load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("other.toml`: line 2: "), "{error}");
    write("study.toml", &format!("{MINIMAL}template = \"zzz\""));
    write("suites/quick.toml", suite);
    let error = Study::load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("; in `templates/`: zero-shot-cot"), "{error}");
}

#[test]
fn missing_study_error_suggests_init() {
    let dir = TempDir::new().unwrap();
    let error = Study::load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("` not found; ") && error.contains("reasonscape init"), "{error}");
    let error = Study::load(&dir.path().join("none")).unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
    std::fs::write(dir.path().join("study.toml"), b"suite = \"quick\"\n\xff").unwrap();
    let error = Study::load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("line 2: not UTF-8"), "{error}");
}

/// Keys that stand alone only with others.
fn required_with(key: &str) -> &'static [&'static str] {
    match key {
        "max_count" => &["precision"],
        "price_prompt" => &["price_completion"],
        "price_completion" => &["price_prompt"],
        "money" => &["[budget]", "price_prompt", "price_completion"],
        "tokens" | "requests" | "minutes" | "seconds" => &["[budget]"],
        _ => &[],
    }
}

/// The key that a commented line would set.
fn commented_key(line: &str) -> Option<&str> {
    let line = line.strip_prefix("# ")?;
    let key = line.split_once(" = ").map_or(line, |(key, _)| key);
    let is_key = key.chars().all(|c| c.is_ascii_lowercase() || c == '_') && line.contains(" = ");
    (is_key || line == "[budget]").then_some(key)
}

fn uncommented(is_chosen: impl Fn(&str) -> bool) -> String {
    let chosen: Vec<&str> =
        Study::COMMENTED.lines().filter_map(commented_key).filter(|key| is_chosen(key)).collect();
    Study::COMMENTED
        .lines()
        // A key that is uncommented takes the place of the one that is set.
        .filter(|line| !line.split_once(" = ").is_some_and(|(key, _)| chosen.contains(&key)))
        .map(|line| match commented_key(line) {
            Some(key) if is_chosen(key) => format!("{}\n", &line[2..]),
            _ => format!("{line}\n"),
        })
        .collect()
}

#[test]
fn commented_study_matches_the_defaults() {
    parse(Study::COMMENTED).unwrap();
    // A dataset needs its file, and no suite beside it; it has a test of its own. A scorer needs a dataset.
    let is_not_dataset = |key: &&str| !["dataset", "scorer"].contains(key);
    let keys: Vec<&str> = Study::COMMENTED.lines().filter_map(commented_key).filter(is_not_dataset).collect();
    assert!(keys.len() > 20, "{keys:?}");
    for key in &keys {
        let text = uncommented(|line| line == *key || required_with(key).contains(&line));
        assert_ne!(text, Study::COMMENTED, "{key}");
        parse(&text).unwrap_or_else(|error| panic!("{key}: {error}\n{text}"));
    }
    let all = parse(&uncommented(|key| is_not_dataset(&key))).unwrap();
    assert_eq!(all.evals[0].base_urls.len(), 2);
    assert_eq!(all.evals[0].limits, Limits::default(), "the commented limits are the defaults");
    assert_eq!(all.precision.unwrap().max_count, Precision::MAX_COUNT);
}

const EVAL: &str = "[[eval]]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";

#[test]
fn outage_timeout_has_a_deprecated_name() {
    let parse = |keys: &str| Study::parse(&format!("suite = \"quick\"\n{EVAL}{keys}\n"), Path::new("."));
    let new = parse("outage_timeout_seconds = 7").unwrap();
    assert_eq!(new.evals[0].limits.outage_timeout.as_secs(), 7);
    assert!(new.notices.is_empty(), "{:?}", new.notices);
    let old = parse("patience_seconds = 7").unwrap();
    assert_eq!(old.evals[0].limits.outage_timeout.as_secs(), 7);
    let [notice] = &old.notices[..] else { panic!("{:?}", old.notices) };
    assert!(notice.contains("line ") && notice.contains("rename it to `outage_timeout_seconds`"), "{notice}");
    let both = parse("outage_timeout_seconds = 7\npatience_seconds = 7").unwrap_err().to_string();
    assert!(
        both.contains("its deprecated name `patience_seconds` are set; remove `patience_seconds`"),
        "{both}"
    );
    let unknown = parse("outage_timeout = 7").unwrap_err().to_string();
    assert!(!unknown.contains("patience_seconds"), "{unknown}");
}

#[test]
fn dataset_replaces_suite() {
    let dir = TempDir::new().unwrap();
    let lines = "{\"id\": \"a\", \"input\": \"6 * 7?\", \"target\": \"42\", \"category\": \"x\"}\n\
                 {\"id\": \"b\", \"input\": \"6 + 7?\", \"target\": \"13\", \"category\": \"y\"}\n\
                 {\"id\": \"c\", \"input\": \"7 - 6?\", \"target\": \"1\", \"category\": \"x\"}\n";
    std::fs::write(dir.path().join("mine.jsonl"), lines).unwrap();
    let study = Study::parse(&format!("dataset = \"mine.jsonl\"\n{EVAL}"), dir.path()).unwrap();
    assert_eq!(study.suite.name, "mine");
    let points = study.suite.points();
    let counted = |count| {
        let selection = Selection { count, ..Selection::default() };
        points.iter().map(|point| (point.task.name(), study.count_at(point, &selection))).collect::<Vec<_>>()
    };
    assert_eq!(counted(None), [("x", 2), ("y", 1)]);
    // There are no more questions than there are.
    assert_eq!(counted(Some(100)), [("x", 2), ("y", 1)]);
    assert_eq!(study.dataset.unwrap().item("x", 1).unwrap().id, "c");
}

#[test]
fn dataset_errors_have_a_line() {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("wrong.jsonl"), "{\"input\": \"?\", \"target\": 1}\n{}\n{}\n").unwrap();
    std::fs::write(dir.path().join("right.jsonl"), "{\"input\": \"?\", \"target\": 1}\n").unwrap();
    for (head, says) in [
        ("dataset = \"none.jsonl\"", "line 1: dataset not found"),
        ("dataset = \"wrong.jsonl\"", "wrong.jsonl`: line 2: missing field `input` (found nothing)"),
        ("dataset = \"wrong.jsonl\"", "(and 1 more invalid line)"),
        (
            "suite = \"quick\"\ndataset = \"right.jsonl\"",
            "line 2: a study has a `suite` or a `dataset`, not both",
        ),
        ("dataset = \"right.jsonl\"\nprecision = 0.1", "line 2: a dataset has a fixed number of questions"),
    ] {
        let error = Study::parse(&format!("{head}\n{EVAL}"), dir.path()).unwrap_err().to_string();
        assert!(error.contains(says), "`{says}` is not in: {error}");
    }
}
