//! Normalising and counting words, as python3 does.

use std::fmt::Write;

use reasonscape_core::normalize;
use reasonscape_metrics::{text_stats, words};

#[test]
fn normalize_and_words_match_python_for_every_character() {
    // Characters that Python's Unicode does not know are left out; ours may be newer.
    let script = r"
import sys, unicodedata
for code in range(sys.maxunicode + 1):
    c = chr(code)
    if unicodedata.category(c) in ('Cn', 'Cs'):
        continue
    # Alone, at the end of a word, in its middle and at its start: lower case depends on what stands around.
    texts = [c, 'A' + c, 'A' + c + 'A', c + 'A', 'A' + c + '.']
    print(code, len(texts[2].split()), *(t.strip().lower().encode().hex() or '-' for t in texts))
";
    let Some(printed) = reasonscape_test_support::python(script, "") else { return };
    let mut checked = 0;
    for line in printed.lines() {
        let mut parts = line.split(' ');
        let c = char::from_u32(parts.next().unwrap().parse().unwrap()).unwrap();
        let in_words: u64 = parts.next().unwrap().parse().unwrap();
        let texts = [format!("{c}"), format!("A{c}"), format!("A{c}A"), format!("{c}A"), format!("A{c}.")];
        assert_eq!(words(&texts[2]), in_words, "{c:?}");
        for text in texts {
            let found = normalize(&text, false).bytes().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            let expected = parts.next().unwrap();
            assert_eq!(found, expected.trim_end_matches('-'), "{text:?}");
            checked += 1;
        }
    }
    assert!(checked > 5 * 140_000, "{checked}");
}

#[test]
fn step_pattern_matches_python() {
    let script = r"
import re, sys, unicodedata
pattern = re.compile(r'^\s*(\d+\.|-|\*)\s+')
for code in range(sys.maxunicode + 1):
    c = chr(code)
    if unicodedata.category(c) in ('Cn', 'Cs'):
        continue
    lines = [t for text in (c + '. x', '1' + c + '. x', '-' + c + 'x', c + '- x') for t in re.split('\r\n|\r|\n', text)]
    print(code, sum(bool(pattern.match(line)) for line in lines))
";
    let Some(printed) = reasonscape_test_support::python(script, "") else { return };
    for line in printed.lines() {
        let (code, expected) = line.split_once(' ').unwrap();
        let c = char::from_u32(code.parse().unwrap()).unwrap();
        let texts = [format!("{c}. x"), format!("1{c}. x"), format!("-{c}x"), format!("{c}- x")];
        let found: u64 = texts.iter().map(|text| text_stats(text).steps).sum();
        assert_eq!(found.to_string(), expected, "{c:?}");
    }
}

#[test]
fn normalize_equates_exactly_equal_numbers() {
    let script = r"
import fractions, random
rng = random.Random(7)
def digits(most): return ''.join(rng.choice('0001234567899') for _ in range(rng.randint(1, most)))
def grouped(text): return f'{int(text):,}'
for _ in range(3000):
    mantissa = rng.choice([digits(3), digits(12), grouped(digits(12)), digits(2) + '.' + digits(4), '.' + digits(3), digits(30)])
    text = rng.choice(['', '', '-', '+', '\u2212']) + mantissa + rng.choice(['', '', '', 'e3', 'E-3', 'e+12', 'e60', 'e-60'])
    value = fractions.Fraction(text.replace(',', '').replace('\u2212', '-'))
    print(text, value.numerator, value.denominator)
";
    let Some(printed) = reasonscape_test_support::python(script, "") else { return };
    let mut by_value = std::collections::BTreeMap::new();
    let mut by_text = std::collections::BTreeMap::new();
    for line in printed.lines() {
        let (text, value) = line.split_once(' ').unwrap();
        let plain = normalize(text, true).into_owned();
        assert_eq!(by_value.entry(value).or_insert_with(|| plain.clone()), &plain, "{text}");
        assert_eq!(by_text.entry(plain.clone()).or_insert(value), &value, "{text} is {plain}");
        assert_eq!(normalize(&plain, true), plain, "{text}");
    }
    assert!(by_value.len() > 1000 && by_value.len() < 3000, "{}", by_value.len());
}
