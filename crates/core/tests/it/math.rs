//! The scorer `math`: formulas rewritten by an independent tool, random rewritings, and input that nobody meant.

use std::collections::BTreeMap;

use proptest::prelude::*;
use reasonscape_core::{Scorer, ScorerVerdict, Test};
use serde_json::Value;

fn verdict(answer: &str, target: &str) -> ScorerVerdict {
    Scorer::Math.score(answer, &Test::free_form(String::new(), target))
}

/// Pairs of one kind: how many equal ones are accepted, how many are undecided, and how many different ones are refused.
#[derive(Debug, Default)]
struct PairCounts {
    accepted: usize,
    undecided: usize,
    refused: usize,
}

/// Checks pairs from `fixtures/make_math_pairs.py`: none that are different are accepted, and those that are equal are
/// accepted, unless a sum under a root leaves them undecided.
fn check_pairs(lines: &str) -> BTreeMap<String, PairCounts> {
    let mut counts: BTreeMap<String, PairCounts> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in lines.lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let [a, b, kind] = ["a", "b", "kind"].map(|name| pair[name].as_str().unwrap());
        let of_kind = counts.entry(kind.to_owned()).or_default();
        for (a, b) in [(a, b), (b, a)] {
            let found = verdict(a, b);
            match (pair["equal"] == true, found.is_correct) {
                (true, true) => of_kind.accepted += 1,
                (true, false) if found.is_undecided => of_kind.undecided += 1,
                (false, false) => of_kind.refused += 1,
                (is_equal, _) => wrong.push(format!("{kind}: {a} and {b}, equal: {is_equal}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    counts
}

#[test]
fn formulas_rewritten_by_sympy_are_equal_and_changed_ones_are_not() {
    let counts = check_pairs(include_str!("../fixtures/math_pairs.jsonl"));
    for (kind, PairCounts { accepted, undecided, refused }) in &counts {
        assert!(*accepted >= 10 && *refused >= 10, "{kind}: {counts:?}");
        assert!(*undecided == 0 || kind == "roots of sums" && undecided < accepted, "{kind}: {counts:?}");
    }
    assert_eq!(counts.len(), 9, "{counts:?}");
}

/// New pairs, with another seed each time.
#[test]
#[ignore = "needs SymPy: pip install sympy"]
fn fresh_formulas_of_sympy_are_equal_or_different_as_it_says() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/make_math_pairs.py");
    let seed = std::process::id().to_string();
    let made = std::process::Command::new("python3").args([script, &seed, "60"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let counts = check_pairs(&String::from_utf8(made.stdout).unwrap());
    assert!(counts.len() > 5, "seed {seed}: {counts:?}");
    println!("seed {seed}: {counts:?}");
}

/// A formula as a tree, written in several ways.
#[derive(Debug, Clone)]
enum Tree {
    Number(i32),
    Symbol(char),
    Root(u32),
    Sum(Box<Tree>, Box<Tree>),
    Product(Box<Tree>, Box<Tree>),
    Quotient(Box<Tree>, u32),
    Square(Box<Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (-20_i32..20).prop_map(Tree::Number),
        prop::sample::select(vec!['x', 'y', 'n']).prop_map(Tree::Symbol),
        (2_u32..20).prop_map(Tree::Root),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Sum(Box::new(a), Box::new(b))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Product(Box::new(a), Box::new(b))),
            (inner.clone(), 1_u32..9).prop_map(|(a, b)| Tree::Quotient(Box::new(a), b)),
            inner.prop_map(|a| Tree::Square(Box::new(a))),
        ]
    })
}

impl Tree {
    fn latex(&self) -> String {
        match self {
            Self::Number(number) => format!("({number})"),
            Self::Symbol(symbol) => symbol.to_string(),
            Self::Root(number) => format!(r"\sqrt{{{number}}}"),
            Self::Sum(a, b) => format!(r"\left({}+{}\right)", a.latex(), b.latex()),
            Self::Product(a, b) => format!(r"{}\cdot {}", a.latex(), b.latex()),
            Self::Quotient(a, b) => format!(r"\frac{{{}}}{{{b}}}", a.latex()),
            Self::Square(a) => format!(r"\left({}\right)^{{2}}", a.latex()),
        }
    }

    /// Another formula with the same value: turned around, distributed, without commands.
    fn rewritten(&self) -> String {
        match self {
            Self::Number(number) => format!("(1-{})", 1 - i64::from(*number)),
            Self::Symbol(symbol) => format!("(2{symbol}-{symbol})"),
            Self::Root(number) => format!(r"\frac{{{number}}}{{\sqrt{{{number}}}}}").replace(r"\left", ""),
            Self::Sum(a, b) => format!("({} + {})", b.rewritten(), a.rewritten()),
            Self::Product(a, b) => match &**a {
                Self::Sum(c, d) => {
                    let b = b.rewritten();
                    format!("({b}*{} + {}*{b})", c.rewritten(), d.rewritten())
                }
                a => format!("{} * {}", b.rewritten(), a.rewritten()),
            },
            Self::Quotient(a, b) => format!("(({})/{b})", a.rewritten()),
            Self::Square(a) => format!("({}) * ({})", a.rewritten(), a.latex()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rewritten_formulas_are_equal(tree in tree()) {
        let (a, b) = (tree.latex(), tree.rewritten());
        let found = verdict(&a, &b);
        prop_assert!(found.is_correct || found.is_undecided && (a.len() > 200 || b.len() > 200), "{} is {}", a, b);
    }

    #[test]
    fn changed_formulas_are_refused(tree in tree(), change in 1_i32..50) {
        let (a, b) = (tree.latex(), tree.rewritten());
        for wrong in [format!("{b} + {change}"), format!("{b} + z"), format!("{b} + \\frac{{1}}{{{}}}", change + 1)] {
            prop_assert!(!verdict(&a, &wrong).is_correct, "{} is not {}", a, wrong);
        }
    }

    #[test]
    fn equality_is_symmetric(a in tree(), b in tree(), pieces in prop::collection::vec(prop::sample::select(vec![
        "x", "y", "2", "3", "12", "0.5", "50%", "\\pi", "\\frac{1}{2}", "\\sqrt{2}", "(", ")", "[", "]", ",", ", ", "+", "-", "=", "<",
        "\\le ", "\\pm ", "\\cup ", "\\{", "\\}", "^2", "/", "1,000", " or ", "x = ", "\\text{ cm}",
    ]), 0..12), at in 0_usize..12) {
        let decided = |text: &str| Scorer::Math.is_decidable(text);
        let (left, right) = pieces.split_at(at.min(pieces.len()));
        for (a, b) in [(a.latex(), b.latex()), (a.latex(), a.rewritten()), (left.concat(), right.concat())] {
            if decided(&a) && decided(&b) {
                prop_assert_eq!(verdict(&a, &b).is_correct, verdict(&b, &a).is_correct, "{} and {}", a, b);
            }
        }
    }

    #[test]
    fn any_text_gets_a_verdict(pieces in prop::collection::vec(prop::sample::select(vec![
        "\\frac", "{", "}", "(", ")", "[", "]", "^", "_", "\\sqrt", "x", "y", "9", "12", "0", ".", ",", "+", "-", "/",
        "\\pm", "=", "<", "\\text{a}", "\\begin{pmatrix}", "\\end{pmatrix}", "&", "\\\\", "!", "%", "$", "\\", " or ",
        "\\cos", "\\binom", "|", "i", "e", "\\cup", "\\infty", "é", "1e9", "\\{", "\\}", "\\left", "99999999999",
    ]), 0..60)) {
        let text = pieces.concat();
        let target: String = pieces.iter().rev().copied().collect();
        for scorer in Scorer::ALL {
            let _ = scorer.score(&text, &Test::free_form(String::new(), target.as_str()));
            prop_assert!(scorer.score(&target, &Test::free_form(String::new(), target.as_str())).is_correct);
        }
    }
}

/// Work is bounded, so these end at once: a formula is never multiplied out beyond its limits.
#[test]
fn huge_formulas_are_undecided() {
    for text in [
        "(a+b+c+d+f+g+h)^{32}".repeat(20),
        "(x+y)^".repeat(200),
        "(".repeat(5000),
        "9^".repeat(200) + "9",
        r"\sqrt{".repeat(100),
        "\\frac".repeat(100),
        "x".repeat(100_000),
        "1,".repeat(299),
    ] {
        assert!(!verdict(&text, "x+1").is_correct);
        assert!(!verdict("x+1", &text).is_correct);
    }
}
