//! CPython is the oracle of canonical JSON, keys, seeds and random numbers.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use reasonscape_core::{Json, PyRandom, base_seed, cache_key, canonical_json, seeded};
use reasonscape_test_support::python;

/// JSON documents as text, with everything that Python's reader takes and UTF-8 can hold.
fn document() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|integer| integer.to_string()),
        "-?[1-9][0-9]{0,80}",
        // Every float that there is: all bit patterns that are numbers.
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("finite", |f| f.is_finite())
            .prop_map(|f| format!("{f:e}")),
        (-400_i32..400, 0_u64..1_000_000)
            .prop_map(|(exponent, digits)| format!("{digits}.{digits}E{exponent:+}")),
        // The edges of Python's notation: 1e-05 against 0.0001, 1e+16 against 1000000000000000.0.
        (-8_i32..20, 1_u32..100_000).prop_map(|(exponent, digits)| format!("{digits}e{exponent}")),
        Just("-0".to_owned()),
        Just("-0.0".to_owned()),
        Just("NaN".to_owned()),
        Just("Infinity".to_owned()),
        Just("-Infinity".to_owned()),
    ];
    let string =
        prop_oneof![any::<String>(), "[ -~]{0,12}", "[\u{1f300}-\u{1f6ff}\u{7f}-\u{a0}\u{2028}]{0,4}"]
            .prop_map(|text| serde_json::to_string(&text).expect("a string is JSON"));
    let leaf = prop_oneof![
        3 => number,
        3 => string.clone(),
        1 => prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned),
        1 => Just(r#""\ud83d\ude00\/\b\f\u0000""#.to_owned()),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let key = prop_oneof![4 => string.clone(), 1 => Just("\"same\"".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key, inner), 0..6).prop_map(|members| {
                let members: Vec<String> = members.iter().map(|(k, v)| format!("{k} :\t{v}")).collect();
                format!("{{{}}}", members.join(" ,\n"))
            }),
        ]
    })
}

/// What Python makes of documents, one a line: their canonical text and their SHA-256.
const CANONICAL: &str = r"
import hashlib, json, sys
for line in sys.stdin:
    text = json.dumps(json.loads(json.loads(line)), sort_keys=True)
    print(hashlib.sha256(text.encode()).hexdigest(), text)
";

fn ask(documents: &[String]) -> Option<Vec<String>> {
    let input: String = documents.iter().map(|text| serde_json::to_string(text).unwrap() + "\n").collect();
    python(CANONICAL, &input).map(|output| output.lines().map(str::to_owned).collect())
}

#[test]
fn canonical_json_and_key_match_python() {
    let mut runner = TestRunner::deterministic();
    let documents: Vec<_> = (0..4000).map(|_| document().new_tree(&mut runner).unwrap()).collect();
    let texts: Vec<String> = documents.iter().map(ValueTree::current).collect();
    let Some(expected) = ask(&texts) else { return };
    assert_eq!(expected.len(), texts.len());
    let found = |text: &str| {
        let value = Json::parse(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        format!("{} {}", cache_key(&value), canonical_json(&value))
    };
    for (mut document, expected) in documents.into_iter().zip(&expected) {
        if found(&document.current()) == *expected {
            continue;
        }
        // Shrinks by asking Python again, so that the failure is small enough to read.
        let mut smallest = document.current();
        while document.simplify() {
            let text = document.current();
            if ask(std::slice::from_ref(&text)).is_some_and(|lines| lines[0] != found(&text)) {
                smallest = text;
            } else if !document.complicate() {
                break;
            }
        }
        let expected = ask(std::slice::from_ref(&smallest)).expect("python3 was there before");
        assert_eq!(found(&smallest), expected[0], "for {smallest}");
    }
}

/// Every way of drawing, interleaved, as a program of `(method, a, b)` steps under a seed.
#[derive(Debug, Clone)]
enum Step {
    Random,
    Bits(u32),
    Randint(i64, i64),
    Choice(usize),
    Shuffle(usize),
    Sample(usize, usize),
    Uniform(f64, f64),
    Beta(f64, f64),
}

impl Step {
    fn strategy() -> impl Strategy<Value = Step> {
        prop_oneof![
            Just(Step::Random),
            (0_u32..=64).prop_map(Step::Bits),
            (any::<i64>(), any::<i64>())
                .prop_map(|(a, b)| Step::Randint(a.min(b), a.max(b).min(i64::MAX - 1)))
                .prop_filter("not empty", |s| matches!(s, Step::Randint(a, b) if a <= b)),
            (-20_i64..20, 0_i64..40).prop_map(|(low, width)| Step::Randint(low, low + width)),
            (1_usize..2000).prop_map(Step::Choice),
            (0_usize..60).prop_map(Step::Shuffle),
            (0_usize..300).prop_flat_map(|n| (Just(n), 0..=n)).prop_map(|(n, k)| Step::Sample(n, k)),
            (-1e6..1e6, -1e6..1e6).prop_map(|(low, high)| Step::Uniform(low, high)),
            (0.1..50.0, 0.1..50.0).prop_map(|(a, b)| Step::Beta(a, b)),
            (1_u32..9).prop_map(|a| Step::Beta(f64::from(a), 1.0)),
        ]
    }

    fn as_python(&self) -> String {
        match self {
            Step::Random => "repr(r.random())".to_owned(),
            Step::Bits(bits) => format!("r.getrandbits({bits})"),
            Step::Randint(low, high) => format!("r.randint({low}, {high})"),
            Step::Choice(n) => format!("r.choice(range({n}))"),
            Step::Shuffle(n) => format!("shuffled({n})"),
            Step::Sample(n, k) => format!("r.sample(range({n}), {k})"),
            Step::Uniform(low, high) => format!("repr(r.uniform({low:?}, {high:?}))"),
            Step::Beta(a, b) => format!("'%.12e' % r.betavariate({a:?}, {b:?})"),
        }
    }

    fn run(&self, rng: &mut PyRandom) -> String {
        match *self {
            Step::Random => format!("{:?}", Repr(rng.random())),
            Step::Bits(bits) => rng.getrandbits(bits).to_string(),
            Step::Randint(low, high) => rng.randint(low, high).to_string(),
            Step::Choice(n) => rng.choice(&(0..n).collect::<Vec<_>>()).to_string(),
            Step::Shuffle(n) => {
                let mut items: Vec<usize> = (0..n).collect();
                rng.shuffle(&mut items);
                format!("{items:?}")
            }
            Step::Sample(n, k) => format!("{:?}", rng.sample(&(0..n).collect::<Vec<_>>(), k)),
            Step::Uniform(low, high) => format!("{:?}", Repr(rng.uniform(low, high))),
            // Logarithms and powers may differ in the last bit between C libraries.
            Step::Beta(a, b) => {
                let text = format!("{:.12e}", rng.betavariate(a, b));
                let (digits, exponent) = text.split_once('e').unwrap();
                let exponent: i32 = exponent.parse().unwrap();
                format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
            }
        }
    }
}

/// A float as Python's `repr` shows it.
struct Repr(f64);

impl std::fmt::Debug for Repr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&canonical_json(&Json::Float(self.0)))
    }
}

const DRAWS: &str = r"
import random, sys
for line in sys.stdin:
    seed, _, steps = line.partition(' ')
    r = random.Random(int(seed))
    def shuffled(n):
        items = list(range(n))
        r.shuffle(items)
        return items
    for step in steps.rstrip('\n').split(';'):
        print(eval(step))
";

#[test]
fn random_numbers_match_python() {
    let seed = prop_oneof![
        any::<i64>().prop_map(i128::from),
        any::<i128>().prop_filter("abs", |seed| *seed != i128::MIN),
        (-5_i128..5),
        (0_u32..128).prop_map(|bits| (1_i128 << (bits % 127)) - 1),
    ];
    let program = (seed, prop::collection::vec(Step::strategy(), 1..20));
    let mut runner = TestRunner::deterministic();
    let programs: Vec<_> = (0..1500).map(|_| program.new_tree(&mut runner).unwrap().current()).collect();
    let input: String = programs
        .iter()
        .map(|(seed, steps)| {
            let steps: Vec<String> = steps.iter().map(Step::as_python).collect();
            format!("{seed} {}\n", steps.join(";"))
        })
        .collect();
    let Some(expected) = python(DRAWS, &input) else { return };
    let mut expected = expected.lines();
    for (seed, steps) in &programs {
        let mut rng = PyRandom::new(*seed);
        for (i, step) in steps.iter().enumerate() {
            let found = step.run(&mut rng);
            assert_eq!(Some(found.as_str()), expected.next(), "seed {seed}, step {i}: {step:?} of {steps:?}");
        }
    }
    assert_eq!(expected.next(), None);
}

#[test]
fn point_seed_matches_reference_python() {
    let script = r"
import hashlib, json, random, sys
for line in sys.stdin:
    global_seed, params = json.loads(line)
    params.pop('count', None)
    key = hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()
    base = int(key[-8:], 16)
    print(base, repr(random.Random(global_seed + base).random()))
";
    let mut rng = PyRandom::new(5);
    let points: Vec<(i64, Json)> = (0..500)
        .map(|_| {
            let params = Json::from([
                ("length", Json::Int(rng.randint(1, 64))),
                ("prob", Json::Float(rng.random())),
                ("count", Json::Int(rng.randint(1, 512))),
            ]);
            (rng.randint(-1_000_000_000_000, 1_000_000_000_000), params)
        })
        .collect();
    let input: String =
        points.iter().map(|(seed, params)| format!("[{seed}, {}]\n", canonical_json(params))).collect();
    let Some(expected) = python(script, &input) else { return };
    for ((seed, params), line) in points.iter().zip(expected.lines()) {
        let first = Repr(seeded(params, *seed).random());
        assert_eq!(format!("{} {first:?}", base_seed(params)), line);
    }
}

#[test]
fn serde_values_have_the_same_key_as_their_text() {
    let text = r#"{"b": [1, 18446744073709551615, 0.1, null], "a": {"é": true}}"#;
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(cache_key(&Json::from(&value)), cache_key(&Json::parse(text).unwrap()));
}
