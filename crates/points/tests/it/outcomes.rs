//! Trials column by column are those that SQL counts.

use std::collections::BTreeMap;

use reasonscape_core::Outcome;
use reasonscape_points::{Filter, Measure, PointsDb, Trial, TrialColumns, TrialMatch};
use tempfile::TempDir;

use super::test_env::{Draws, eval, file, open, point, rows, trial, wait, write};

/// Two models on two tasks of two points; the second model has no token counts on the second task.
fn study() -> TempDir {
    let study = TempDir::new().unwrap();
    let mut draws = Draws(5);
    for model in ["a", "b"] {
        for task in ["sort", "dates"] {
            let points = [4, 8].map(|length| {
                let trials = (0..40).map(|index| {
                    let status =
                        [Outcome::Incorrect, Outcome::Correct, Outcome::Truncated][draws.below(3) as usize];
                    Trial {
                        completion_tokens: (model == "a" || task == "sort").then(|| 10 + draws.below(90)),
                        reasoning_tokens: draws.below(2).checked_sub(1),
                        reasoning_chars: draws.below(50),
                        compressed_size: 100 + draws.below(200),
                        ..trial(index, status, 0.25)
                    }
                });
                point(&format!("{{\"length\": {length}}}"), &["all"], trials.collect())
            });
            write(study.path(), &eval(model, "zero", "greedy", &["arch:moe"]), task, points.into());
        }
    }
    study
}

fn trial_columns(db: &PointsDb, filters: &[&str]) -> Vec<TrialColumns> {
    let filters: Vec<String> = filters.iter().map(|&filter| filter.to_owned()).collect();
    let all = [
        Measure::CompletionTokens,
        Measure::ReasoningTokens,
        Measure::ReasoningChars,
        Measure::AnswerChars,
        Measure::CompressedSize,
    ];
    wait(db.trial_columns(&Filter::parse(&filters).unwrap(), &all)).unwrap()
}

/// The rows of a unit in an order of their own.
fn sorted(unit: &TrialColumns) -> Vec<Vec<i64>> {
    let number = |value: Option<u64>| value.map_or(-1, |value| value as i64);
    let mut rows: Vec<Vec<i64>> = (0..unit.len())
        .map(|row| {
            let measure = |measure| number(unit.measure(measure).nth(row).unwrap());
            vec![
                unit.status[row] as i64,
                measure(Measure::CompletionTokens),
                measure(Measure::ReasoningTokens),
                measure(Measure::ReasoningChars),
                measure(Measure::AnswerChars),
                measure(Measure::CompressedSize),
            ]
        })
        .collect();
    rows.sort();
    rows
}

fn columns_by_sql(db: &PointsDb, condition: &str) -> BTreeMap<(String, String), Vec<Vec<i64>>> {
    let sql = format!(
        "SELECT eval_id, base_task, status, coalesce(completion_tokens, -1), coalesce(reasoning_tokens, -1), \
         reasoning_chars, answer_chars, compressed_size FROM trials WHERE {condition}"
    );
    let mut found: BTreeMap<_, Vec<Vec<i64>>> = BTreeMap::new();
    for row in rows(db, &sql).unwrap() {
        let text = |place: usize| row[place].as_str().unwrap().to_owned();
        // The outcomes of `stats` have numbers of their own.
        let status =
            [Outcome::Incorrect, Outcome::Correct, Outcome::Truncated][row[2].as_u64().unwrap() as usize];
        let mut numbers = vec![status as i64];
        numbers.extend(row[3..].iter().map(|number| number.as_i64().unwrap()));
        found.entry((text(0), text(1))).or_default().push(numbers);
    }
    for rows in found.values_mut() {
        rows.sort();
    }
    found
}

#[test]
fn trial_columns_match_sql_for_every_filter() {
    let study = study();
    let db = open(study.path());
    for (filters, condition, units, trials) in [
        (&[][..], "true", 4, 320),
        (&["model=a"], "model = 'a'", 2, 160),
        (&["base_task=sort"], "base_task = 'sort'", 2, 160),
        (&["params.length=5..", "model=b"], "params LIKE '%8%' AND model = 'b'", 2, 80),
        (&["manifold=all", "groups=arch:moe"], "true", 4, 320),
    ] {
        let found = trial_columns(&db, filters);
        assert_eq!(found.len(), units, "{filters:?}");
        assert_eq!(found.iter().map(TrialColumns::len).sum::<usize>(), trials, "{filters:?}");
        let keyed: BTreeMap<_, _> =
            found.iter().map(|unit| ((unit.eval_id.clone(), unit.base_task.clone()), sorted(unit))).collect();
        assert_eq!(keyed, columns_by_sql(&db, condition), "{filters:?}");
        assert!(found.iter().all(|unit| unit.guess == vec![0.25; unit.len()]));
    }
    assert_eq!(trial_columns(&db, &["model=nobody"]), []);
}

#[test]
fn counts_duplicate_trials_once() {
    let study = study();
    let sort = file(study.path(), "trials", &eval("a", "zero", "greedy", &[]), "sort");
    std::fs::copy(&sort, sort.with_file_name("copy.parquet")).unwrap();
    let db = open(study.path());
    assert!(!db.remarks().is_empty());
    assert_eq!(trial_columns(&db, &[]).iter().map(TrialColumns::len).sum::<usize>(), 320);
}

#[test]
fn locates_trials_within_the_filter() {
    let study = study();
    let db = open(study.path());
    let sql = "SELECT eval_id, completion_tokens, compressed_size, params, \"index\", cache_key FROM trials \
               WHERE model = 'a' AND base_task = 'sort' AND params LIKE '%8%' ORDER BY \"index\" LIMIT 1";
    let row = rows(&db, sql).unwrap().remove(0);
    let wanted = TrialMatch {
        eval_id: row[0].as_str().unwrap(),
        base_task: "sort",
        completion_tokens: row[1].as_u64().unwrap(),
        compressed_size: row[2].as_u64().unwrap(),
    };
    let nobody = TrialMatch { base_task: "cars", ..wanted.clone() };
    let filter = Filter::parse(&["params.length=8".to_owned()]).unwrap();
    let found = wait(db.locate_trials(&filter, &[nobody, wanted.clone()])).unwrap();
    assert_eq!(found[0], None);
    let place = found[1].as_ref().unwrap();
    assert_eq!((place.params.as_str(), place.repeat), (row[3].as_str().unwrap(), 0));
    assert_eq!(place.index, row[4].as_u64().unwrap());
    assert_eq!(place.cache_key, row[5].as_str().unwrap());
    let elsewhere = Filter::parse(&["params.length=4".to_owned()]).unwrap();
    let there = wait(db.locate_trials(&elsewhere, &[wanted])).unwrap();
    assert!(there[0].as_ref().is_none_or(|place| place.params.contains('4')));
}
