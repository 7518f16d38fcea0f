//! The shapes in which datasets write the options of a question.

use serde_json::{Map, Value, json};

/// Names of an option's text in a list of objects.
const TEXTS: [&str; 7] = ["text", "content", "value", "option", "choice", "answer", "option_text"];
/// Names of an option's label in a list of objects.
const LABELS: [&str; 5] = ["label", "key", "letter", "id", "option_letter"];

/// Options as a list of texts, or as texts with labels; `None` if they are that already, or of no known shape.
///
/// Strictly, lists of texts stay as they are, whatever labels they begin with.
pub(super) fn canonical_options(options: &Value, is_strict: bool) -> Option<Value> {
    match options {
        Value::Array(items) if items.iter().all(Value::is_object) => from_objects(items),
        Value::Array(items) if !is_strict => without_labels(items),
        Value::Object(members) => from_object(members),
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() => from_text(text),
        _ => None,
    }
}

/// The number of canonical options.
pub(super) fn option_count(options: &Value) -> Option<usize> {
    match options {
        Value::Array(items) => Some(items.len()),
        Value::String(text) => serde_json::from_str::<Vec<Value>>(text).ok().map(|items| items.len()),
        _ => None,
    }
}

/// The texts of canonical options.
pub(super) fn option_texts(options: &Value) -> Vec<String> {
    let plain =
        |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    match options {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::String(text) => {
            serde_json::from_str::<Vec<Value>>(text).unwrap_or_default().iter().map(plain).collect()
        }
        _ => Vec::new(),
    }
}

fn from_objects(items: &[Value]) -> Option<Value> {
    let member = |names: &[&str]| -> Option<Vec<Value>> {
        let name = names.iter().find(|name| items.iter().all(|item| item.get(**name).is_some()))?;
        Some(items.iter().map(|item| item[*name].clone()).collect())
    };
    let texts = member(&TEXTS)?;
    Some(match member(&LABELS) {
        Some(labels) => json!({ "text": texts, "label": labels }),
        None => Value::Array(texts),
    })
}

/// `{"choices": […], "labels": […]}`, or `{"A": "…", "B": "…"}`.
fn from_object(members: &Map<String, Value>) -> Option<Value> {
    if members.get("text").is_some_and(Value::is_array) {
        return None;
    }
    if let Some(texts) =
        ["choices", "texts", "options"].iter().find_map(|name| members.get(*name)?.as_array())
    {
        let labels = ["labels", "label"].iter().find_map(|name| members.get(*name));
        return Some(labels.map_or_else(|| json!(texts), |labels| json!({ "text": texts, "label": labels })));
    }
    let is_label = |key: &String| key.chars().count() <= 2 && key.chars().all(char::is_alphanumeric);
    let has_texts = members.values().all(|value| !value.is_object() && !value.is_array() && !value.is_null());
    if members.len() < 2 || !has_texts || !members.keys().all(is_label) {
        return None;
    }
    let mut entries: Vec<(&String, &Value)> = members.iter().collect();
    entries.sort_by_key(|(key, _)| (key.parse::<u32>().ok(), (*key).clone()));
    let (labels, texts): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    Some(json!({ "text": texts, "label": labels }))
}

/// `["A) 5", "B) 6"]` without its labels.
fn without_labels(items: &[Value]) -> Option<Value> {
    if items.len() < 2 {
        return None;
    }
    let mut texts = Vec::new();
    for (letter, item) in ('a'..='z').zip(items) {
        let text = item.as_str()?.trim();
        let rest = label_end(text, letter)?;
        texts.push(Value::String(text[rest..].trim().to_owned()));
    }
    (texts.len() == items.len() && texts.iter().all(|text| text != "")).then_some(Value::Array(texts))
}

/// Where the text after a label begins: `A)`, `(A)`, `A.`, `A:`, `a )`.
fn label_end(text: &str, letter: char) -> Option<usize> {
    let rest = text.strip_prefix('(').unwrap_or(text);
    let found = rest.chars().next().filter(|found| found.to_ascii_lowercase() == letter)?;
    let after = &rest[found.len_utf8()..];
    let mark = after.trim_start_matches(' ');
    mark.starts_with([')', '.', ':']).then(|| text.len() - mark.len() + 1)
}

/// Options in one text: labeled, a list in the notation of Python or NumPy, one per line, or separated by bars or semicolons.
fn from_text(text: &str) -> Option<Value> {
    let texts = labeled(text).or_else(|| quoted(text)).or_else(|| separated(text))?;
    Some(Value::Array(texts.into_iter().map(Value::String).collect()))
}

/// `a ) 38 , b ) 27.675 , c ) 30`.
fn labeled(text: &str) -> Option<Vec<String>> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    let mut rest = &text[label_end(text, 'a')?..];
    let mut texts = Vec::new();
    for letter in 'b'..='z' {
        let next = rest.char_indices().find_map(|(at, _)| {
            let before = rest[..at].chars().next_back()?;
            let is_start = before.is_whitespace() || ",;('\"".contains(before);
            let end = is_start.then(|| label_end(&rest[at..], letter))??;
            Some((at, at + end))
        });
        let Some((start, end)) = next else { break };
        texts.push(&rest[..start]);
        rest = &rest[end..];
    }
    texts.push(rest);
    let texts: Vec<String> = texts
        .into_iter()
        .map(|text| {
            text.trim_matches(|c: char| c.is_whitespace() || ",;'\"".contains(c))
                .trim_end_matches('(')
                .trim()
                .to_owned()
        })
        .collect();
    (texts.len() >= 2 && texts.iter().all(|text| !text.is_empty())).then_some(texts)
}

/// `['a', "b's"]`, as Python prints a list, or `['a' 'b']`, as NumPy does.
fn quoted(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let text =
        text.strip_prefix("array(").and_then(|text| text.split_once(']')).map_or(text, |(list, _)| list);
    let inner = text.strip_prefix('[')?;
    let inner = inner.strip_suffix(']').unwrap_or(inner);
    let mut texts = Vec::new();
    let mut rest = inner.trim_start();
    while let Some(quote) = rest.chars().next() {
        if !matches!(quote, '\'' | '"') {
            return None;
        }
        let mut text = String::new();
        let mut characters = rest.char_indices().skip(1);
        let end = loop {
            match characters.next()? {
                (at, c) if c == quote => break at + 1,
                (_, '\\') => match characters.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    other => text.push(other),
                },
                (_, c) => text.push(c),
            }
        };
        texts.push(text);
        rest = rest[end..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }
    (texts.len() >= 2).then_some(texts)
}

fn separated(text: &str) -> Option<Vec<String>> {
    ["\n", "|", ";"].iter().find_map(|separator| {
        let texts: Vec<String> = text
            .split(separator)
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
            .collect();
        (texts.len() >= 2).then_some(texts)
    })
}

/// The options in a question that ends with `Options:` and lines such as `- Yes`, if the target is one of them.
pub(super) fn dashed_options<'i>(input: &'i str, target: &str) -> Option<Vec<&'i str>> {
    let (_, list) = input.rsplit_once("Options:")?;
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty());
    let options: Vec<&str> =
        lines.map(|line| line.strip_prefix("- ").map(str::trim)).collect::<Option<_>>()?;
    (options.len() >= 2 && options.contains(&target.trim())).then_some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_options_in_many_shapes() {
        let labeled = json!({"text": ["x", "y"], "label": ["A", "B"]});
        for (shape, expected) in [
            (json!([{"text": "x", "label": "A"}, {"text": "y", "label": "B"}]), labeled.clone()),
            (json!([{"key": "A", "value": "x"}, {"key": "B", "value": "y"}]), labeled.clone()),
            (json!([{"content": "x"}, {"content": "y"}]), json!(["x", "y"])),
            (json!({"A": "x", "B": "y"}), labeled.clone()),
            (json!({"10": "z", "2": "y"}), json!({"text": ["y", "z"], "label": ["2", "10"]})),
            (json!({"choices": ["x", "y"], "label": ["A", "B"]}), labeled),
            (json!(["A)x", "B)y"]), json!(["x", "y"])),
            (json!(["(a) x", "(b) y"]), json!(["x", "y"])),
            (json!("a ) 38 , b ) 27.675 , c ) none of these"), json!(["38", "27.675", "none of these"])),
            (json!("A. a dog\nB. a cat, B"), json!(["a dog", "a cat, B"])),
            (json!("(A) x (B) y"), json!(["x", "y"])),
            (json!("['it\\'s', \"b's\"]"), json!(["it's", "b's"])),
            (json!("['a' 'b']"), json!(["a", "b"])),
            (json!("array(['a', 'b'], dtype=object)"), json!(["a", "b"])),
            (json!("a dog\na cat"), json!(["a dog", "a cat"])),
            (json!("rain | snow"), json!(["rain", "snow"])),
        ] {
            assert_eq!(canonical_options(&shape, false), Some(expected), "{shape}");
        }
        for shape in [
            json!(["x", "y"]),
            json!(["A) x", "y"]),
            json!({"text": ["x", "y"], "label": ["A", "B"]}),
            json!({"A": ["x"], "B": "y"}),
            json!("[\"x\", \"y\"]"),
            json!("only one"),
            json!(3),
        ] {
            assert_eq!(canonical_options(&shape, false), None, "{shape}");
        }
        assert_eq!(canonical_options(&json!(["A)x", "B)y"]), true), None);
    }

    #[test]
    fn reads_options_listed_with_dashes() {
        assert_eq!(dashed_options("Is it?\nOptions:\n- Yes\n- No", "No"), Some(vec!["Yes", "No"]));
        assert_eq!(dashed_options("Is it?\nOptions:\n- Yes\n- No", "Maybe"), None);
        assert_eq!(dashed_options("Options:\n- Yes\nElse", "Yes"), None);
        assert_eq!(dashed_options("- Yes\n- No", "Yes"), None);
    }
}
