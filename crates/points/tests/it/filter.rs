//! Filters, against a filter that a reader of the documentation would write.

use std::collections::BTreeSet;

use reasonscape_points::{Column, EvalInfo, Filter, PointEstimate, PointsDb};
use reasonscape_stats::Mode;
use tempfile::TempDir;

use super::test_env::{Draws, eval, open, point, trials, wait, write};

/// Coordinates in every notation.
const PARAMS: [&str; 9] = [
    r#"{"length": 1, "word": "up"}"#,
    r#"{"length": 8, "word": "down"}"#,
    r#"{"length": 16.0}"#,
    r#"{"length": 32, "rate": 0.5}"#,
    r#"{"length": 1.0, "rate": 1e-07}"#,
    r#"{"length": "8"}"#,
    r#"{"length": -4, "word": "8"}"#,
    r#"{"rate": 1, "word": "100%"}"#,
    "{}",
];

fn evals() -> Vec<EvalInfo> {
    vec![
        eval("qwen-7b", "zero-shot", "greedy-2k", &["arch:dense", "size:small", "family:qwen"]),
        eval("qwen_7b", "zero-shot", "greedy-4k", &["arch:moe", "size:small", "family:qwen"]),
        eval("qwen%7b", "few-shot", "greedy-2k", &["arch:moe", "size:large"]),
        eval("gpt\\4", "zero-shot", "greedy-2k", &["arch:dense", "size:large", "open"]),
        eval("o'model", "zero-shot", "sampled-2k", &[]),
    ]
}

fn study() -> (TempDir, PointsDb) {
    let study = TempDir::new().unwrap();
    for eval in evals() {
        for task in ["arithmetic", "cars"] {
            let points = PARAMS.iter().enumerate().map(|(place, params)| {
                let manifolds: &[&str] = match place % 4 {
                    0 => &["grid"],
                    1 => &["grid", "line"],
                    2 => &["line", "line_2", "deep"],
                    _ => &["deep"],
                };
                point(params, manifolds, trials(&"ccit"[..=place % 4], 0.25))
            });
            write(study.path(), &eval, task, points.collect());
        }
    }
    let db = open(study.path());
    (study, db)
}

/// Whether a text is like a pattern, by trying everything that a `*` could stand for.
fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('*', rest)) => (0..=text.len()).any(|skipped| like(&text[skipped..], rest)),
        Some((first, rest)) => text.first() == Some(first) && like(&text[1..], rest),
    }
}

fn matches(text: &str, pattern: &str) -> bool {
    like(&text.chars().collect::<Vec<_>>(), &pattern.chars().collect::<Vec<_>>())
}

/// One value of a coordinate against what is wanted, be it a range, a number, a word or a pattern.
fn coordinate(value: &serde_json::Value, wanted: &str) -> bool {
    let number = value.as_f64();
    if let Some((low, high)) = wanted.split_once("..") {
        let low = if low.is_empty() { f64::NEG_INFINITY } else { low.parse().unwrap() };
        let high = if high.is_empty() { f64::INFINITY } else { high.parse().unwrap() };
        return number.is_some_and(|number| (low..=high).contains(&number));
    }
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    wanted
        .split(',')
        .any(|wanted| matches(&text, wanted) || number.is_some() && number == wanted.parse::<f64>().ok())
}

/// Whether a point is meant by the items, by reading the rules: items of different columns must all hold, of one column
/// any, of an item of groups all labels.
fn is_meant(point: &PointEstimate, groups: &[String], items: &[&str]) -> bool {
    let columns: BTreeSet<&str> = items.iter().map(|item| item.split_once('=').unwrap().0).collect();
    let params: serde_json::Value = serde_json::from_str(&point.params).unwrap();
    columns.into_iter().all(|column| {
        items.iter().map(|item| item.split_once('=').unwrap()).filter(|(name, _)| *name == column).any(
            |(name, wanted)| {
                let any = |text: &str| wanted.split(',').any(|wanted| matches(text, wanted));
                match name {
                    "eval_id" => any(&point.eval_id),
                    "model" => any(&point.model),
                    "template" => any(&point.template),
                    "sampler" => any(&point.sampler),
                    "base_task" => any(&point.base_task),
                    "manifold" => point.manifolds.iter().any(|id| any(id)),
                    "groups" => {
                        wanted.split(',').all(|label| groups.iter().any(|group| matches(group, label)))
                    }
                    name => match name.split_once('.').unwrap() {
                        ("params", name) => params.get(name).is_some_and(|value| coordinate(value, wanted)),
                        (_, name) => groups
                            .iter()
                            .filter_map(|group| group.split_once(':'))
                            .any(|(facet, value)| facet == name && any(value)),
                    },
                }
            },
        )
    })
}

/// Asserts that the filter finds what the naive one finds, each point once, and gives how many.
fn check(db: &PointsDb, all: &[PointEstimate], items: &[&str]) -> usize {
    let evals = evals();
    let expected: Vec<&PointEstimate> = all
        .iter()
        .filter(|point| {
            let eval = evals.iter().find(|eval| eval.model == point.model).unwrap();
            is_meant(point, &eval.groups, items)
        })
        .collect();
    let filter = Filter::parse(items).unwrap();
    let found = wait(db.query_points(&filter, Mode::C_I.into())).unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{items:?}");
    let groups = wait(db.aggregate(&[], &filter, Mode::C_I.into())).unwrap();
    let n: u64 = groups.iter().map(|group| group.counts.n).sum();
    assert_eq!(n, expected.iter().map(|point| point.counts.n).sum::<u64>(), "{items:?}");
    assert_eq!(groups.len(), usize::from(!expected.is_empty()), "no points are no group: {items:?}");
    found.len()
}

#[test]
fn filters_work_as_documented() {
    let (_study, db) = study();
    let all = wait(db.query_points(&Filter::default(), Mode::C_I.into())).unwrap();
    assert_eq!(all.len(), 5 * 2 * 9);
    let id = &evals()[0].eval_id;
    for (items, expected) in [
        (&[][..], 90),
        (&["model=qwen-7b"], 18),
        (&["model=qwen-7b,o'model"], 36),
        (&["model=qwen-7b", "model=o'model"], 36),
        (&["model=qwen*"], 54),
        (&["model=*7b"], 54),
        (&["model=q*n*7*b"], 54),
        (&["model=*"], 90),
        (&["model=qwen_*"], 18),
        (&["model=qwen%*"], 18),
        (&["model=*%*"], 18),
        (&["model=*_*"], 18),
        (&["model=qwen_7b"], 18),
        (&["model=*\\*"], 18),
        (&["model=gpt\\4"], 18),
        (&["model=QWEN*"], 0),
        (&["model=nobody"], 0),
        (&["template=few-shot"], 18),
        (&["sampler=greedy-*", "base_task=cars"], 36),
        (&["model=qwen*", "sampler=greedy-2k", "base_task=arithmetic"], 18),
        (&["groups=arch:moe"], 36),
        (&["groups=arch:moe,size:small"], 18),
        (&["groups=arch:moe,size:small", "groups=open"], 36),
        (&["groups=arch:moe,arch:dense"], 0),
        (&["groups=arch:moe", "groups=arch:dense"], 72),
        (&["groups=family:*"], 36),
        (&["facets.arch=moe"], 36),
        (&["facets.arch=moe,dense"], 72),
        (&["facets.arch=*"], 72),
        (&["facets.family=qwen", "facets.size=small"], 36),
        (&["facets.open=*"], 0),
        (&["params.length=1"], 20),
        (&["params.length=1.0"], 20),
        (&["params.length=8"], 20),
        (&["params.length=16"], 10),
        (&["params.length=1,32"], 30),
        (&["params.length=8..32"], 30),
        (&["params.length=8.."], 30),
        (&["params.length=..8"], 40),
        (&["params.length=.."], 60),
        (&["params.length=-4..1"], 30),
        (&["params.length=1..1"], 20),
        (&["params.length=2..7"], 0),
        (&["params.length=..1", "params.length=32.."], 40),
        (&["params.rate=1e-7"], 10),
        (&["params.rate=0.0000001"], 10),
        (&["params.rate=1"], 10),
        (&["params.word=up"], 10),
        (&["params.word=*"], 40),
        (&["params.word=100%"], 10),
        (&["params.word=u*,d*"], 20),
        (&["params.nothing=1"], 0),
        (&["manifold=grid"], 50),
        (&["manifold=grid,line"], 70),
        (&["manifold=grid", "manifold=line"], 70),
        (&["manifold=line*"], 40),
        (&["manifold=line_*"], 20),
        (&["manifold=*"], 90),
        (&["manifold=deep", "params.length=1.."], 20),
        (&[&format!("eval_id={id}")[..], "model=qwen*"], 18),
    ] {
        let found = check(&db, &all, items);
        assert_eq!(found, expected, "{items:?}");
    }
}

#[test]
fn random_filters_match_the_reference_implementation() {
    let (_study, db) = study();
    let all = wait(db.query_points(&Filter::default(), Mode::C_I.into())).unwrap();
    let items = [
        "model=qwen*",
        "model=*7b,o'model",
        "model=gpt\\4",
        "template=zero*",
        "sampler=greedy-2k,sampled-2k",
        "base_task=cars",
        "base_task=*",
        "groups=arch:moe",
        "groups=arch:dense,size:small",
        "groups=open",
        "facets.size=small",
        "facets.size=l*",
        "params.length=1..8",
        "params.length=8,16",
        "params.word=*",
        "params.rate=..0.5",
        "manifold=grid,deep",
        "manifold=line*",
    ];
    let mut draws = Draws(3);
    let mut empty = 0;
    for _ in 0..120 {
        let chosen: Vec<&str> =
            (0..=draws.below(4)).map(|_| items[draws.below(items.len() as u64) as usize]).collect();
        empty += usize::from(check(&db, &all, &chosen) == 0);
    }
    assert!(empty < 60, "most filters leave something to compare: {empty} did not");
}

#[test]
fn groups_only_by_the_filtered_manifolds() {
    let (_study, db) = study();
    let by_manifold = |items: &[&str]| {
        let filter = Filter::parse(items).unwrap();
        let groups = wait(db.aggregate(&[Column::Manifold], &filter, Mode::C_P.into())).unwrap();
        groups.iter().map(|group| (group.key[0].to_string(), group.points)).collect::<Vec<_>>()
    };
    let named = |groups: &[(&str, u64)]| -> Vec<(String, u64)> {
        groups.iter().map(|(id, points)| ((*id).to_owned(), *points)).collect()
    };
    assert_eq!(by_manifold(&[]), named(&[("deep", 40), ("grid", 50), ("line", 40), ("line_2", 20)]));
    assert_eq!(by_manifold(&["manifold=line*"]), named(&[("line", 40), ("line_2", 20)]));
    assert_eq!(by_manifold(&["manifold=line_*"]), named(&[("line_2", 20)]));
    assert_eq!(by_manifold(&["manifold=grid,deep", "base_task=cars"]), named(&[("deep", 20), ("grid", 25)]));
}

#[test]
fn comparison_uses_the_same_filter() {
    let (_study, db) = study();
    let (a, b) = (&evals()[0].eval_id, &evals()[1].eval_id);
    let pairs = |items: &[&str]| {
        let tasks = wait(db.paired(a, b, &Filter::parse(items).unwrap())).unwrap();
        tasks.iter().map(|task| (task.base_task.clone(), task.pairs())).collect::<Vec<_>>()
    };
    let at = |n: u64| [("arithmetic".to_owned(), n), ("cars".to_owned(), n)];
    // Points have 1, 2, 3, 4, 1, 2, 3, 4 and 1 trials.
    assert_eq!(pairs(&[]), at(21));
    assert_eq!(pairs(&["params.length=8.."]), at(2 + 3 + 4));
    assert_eq!(pairs(&["manifold=grid,line"]), at(21 - 8));
    assert_eq!(pairs(&["manifold=grid", "base_task=cars"]), at(1 + 2 + 1 + 2 + 1)[1..]);
    assert_eq!(pairs(&["base_task=nothing"]), []);
    let same = wait(db.paired(a, a, &Filter::default())).unwrap();
    assert!(same.iter().all(|task| task.discordant() == (0, 0) && task.pairs() == 21));
    assert!(wait(db.paired(a, "ffffff", &Filter::default())).unwrap().is_empty());
}

#[test]
fn explains_invalid_filters() {
    for (item, words) in [
        ("model", "expected `COLUMN=VALUE`"),
        ("", "expected `COLUMN=VALUE`"),
        ("model=", "the value after `=` is empty"),
        ("model=  ", "the value after `=` is empty"),
        ("modle=x", "did you mean `model`?"),
        ("manifolds=x", "did you mean `manifold`?"),
        (
            "task=x",
            "expected one of eval_id, model, template, sampler, base_task, params, manifold, facets.NAME, params.NAME",
        ),
        ("length=8", "unknown column `length`"),
        ("params.=8", "unknown column `params.`"),
        ("facets.=8", "unknown column `facets.`"),
        ("params.length=8..low", "`low` is not a number"),
        ("params.length=9..8", "the range from 9 to 8 is empty"),
        ("params.length=nan..8", "the range from NaN to 8 is empty"),
    ] {
        let error = Filter::parse([item]).unwrap_err();
        assert!(error.to_string().contains(words), "`{words}` is not in: {error}");
        assert!(error.is_input());
    }
    assert!(Filter::default().matches_all());
    assert!(!Filter::parse(["groups=a"]).unwrap().matches_all());
}

#[test]
fn long_lists_of_values_work_as_short_ones() {
    let (_study, db) = study();
    let all = wait(db.query_points(&Filter::default(), Mode::C_I.into())).unwrap();
    let repeated = format!("model={}", vec!["qwen-7b"; 5_000].join(","));
    assert_eq!(check(&db, &all, &[&repeated]), 18);
    let again = vec!["params.length=1..8"; 5_000];
    assert_eq!(check(&db, &all, &again), 30);
    let many = |column: &str, value: fn(usize) -> String| {
        let values: Vec<String> = (0..990).map(value).collect();
        format!("{column}={}", values.join(","))
    };
    let name = |n: usize| format!("m{n}");
    for (last, expected) in [
        (many("model", name) + ",qwen-7b,o'model", 36),
        (many("model", |n| format!("m{n}*")) + ",*7b", 54),
        (many("manifold", |n| format!("m{n}*")) + ",grid", 50),
        (many("params.length", |n| (n + 100).to_string()) + ",1,32", 30),
        (many("params.word", name) + ",u*,d*", 20),
        (many("facets.arch", name) + ",moe", 36),
    ] {
        assert_eq!(check(&db, &all, &[&last]), expected, "{}", &last[..20]);
    }
    let ranges: Vec<String> = (0..990).map(|n| format!("params.length={n}..{n}.5")).collect();
    let ranges: Vec<&str> = ranges.iter().map(String::as_str).collect();
    assert_eq!(check(&db, &all, &ranges), 50);
    let labels: Vec<String> = (0..490).map(|n| format!("groups=x{n}:a,x{n}:b")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).chain(["groups=arch:moe"]).collect();
    assert_eq!(check(&db, &all, &labels), 36);
    let absent: Vec<String> = (0..99).map(|n| format!("params.p{n}=1")).collect();
    let absent: Vec<&str> = absent.iter().map(String::as_str).collect();
    assert_eq!(check(&db, &all, &absent), 0);
    let ids: Vec<String> =
        (0..20_000).map(|n| format!("{n:x}")).chain([evals()[0].eval_id.clone()]).collect();
    let found = wait(db.query_points(&Filter::default().for_evals(&ids), Mode::C_I.into())).unwrap();
    assert_eq!(found.len(), 18);
}

#[test]
fn refuses_filters_that_take_too_long_to_plan() {
    let numbered = |count: usize, item: fn(usize) -> String| (0..count).map(item).collect::<Vec<String>>();
    let models = numbered(1_001, |n| format!("m{n}")).join(",");
    for items in [
        vec![format!("model={models}")],
        numbered(1_001, |n| format!("model=m{n}*")),
        numbered(1_001, |n| format!("params.length={n}..")),
        numbered(501, |n| format!("groups=a{n},b{n}")),
    ] {
        let error = Filter::parse(&items).unwrap_err();
        assert!(error.to_string().contains("too many filter values; expected at most 1000"), "{error}");
        assert!(error.is_input());
    }
    let error = Filter::parse(numbered(101, |n| format!("params.p{n}=1"))).unwrap_err();
    assert!(error.to_string().contains("too many columns; expected at most 100"), "{error}");
    let (_study, db) = study();
    let columns: Vec<Column> = (0..101).map(|n| Column::Param(format!("p{n}"))).collect();
    let error = wait(db.aggregate(&columns, &Filter::default(), Mode::C_P.into())).unwrap_err();
    assert!(error.to_string().contains("too many columns to group by: 101"), "{error}");
    assert_eq!(wait(db.aggregate(&columns[1..], &Filter::default(), Mode::C_P.into())).unwrap().len(), 1);
}

#[test]
fn column_names_round_trip() {
    for name in [
        "eval_id",
        "model",
        "template",
        "sampler",
        "base_task",
        "params",
        "manifold",
        "facets.a.b",
        "params.x",
    ] {
        let column: Column = name.parse().unwrap();
        assert_eq!(column.to_string(), name);
    }
}
