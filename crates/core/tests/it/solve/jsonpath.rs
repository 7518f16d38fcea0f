//! A reader of JSON that remembers where each value stands, and a query evaluator over it.
//!
//! Selected values are put in the order of the text, which is what the prompt asks for.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let text = between(prompt, "\n\n", "\n\nWhat does");
    let query = between(prompt, "query $", " select from it");
    let mut reader = Reader { text, at: 0 };
    let document = reader.node();
    assert_eq!(reader.at, text.len(), "unread text after the document");

    let mut nodes = vec![&document];
    for step in steps(query) {
        nodes = nodes.into_iter().flat_map(|node| step.choose(node)).collect();
    }
    nodes.sort_by_key(|node| node.at);
    assert!(nodes.is_sorted_by(|a, b| a.at < b.at), "a value is selected twice");
    let written: Vec<&str> = nodes.iter().map(|node| &text[node.at..node.end]).collect();
    format!("[{}]", written.join(", "))
}

struct Node {
    at: usize,
    end: usize,
    /// None for an element of a list.
    children: Vec<(Option<String>, Node)>,
    number: Option<i64>,
    is_list: bool,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> char {
        while self.text[self.at..].starts_with([' ', '\n']) {
            self.at += 1;
        }
        self.text[self.at..].chars().next().expect("more text")
    }

    fn quoted(&mut self) -> String {
        assert_eq!(self.peek(), '"');
        let length = self.text[self.at + 1..].find('"').expect("a closing quote");
        let word = self.text[self.at + 1..][..length].to_owned();
        self.at += length + 2;
        word
    }

    fn node(&mut self) -> Node {
        let opening = self.peek();
        let mut node =
            Node { at: self.at, end: 0, children: Vec::new(), number: None, is_list: opening == '[' };
        match opening {
            '{' | '[' => {
                let closing = if opening == '{' { '}' } else { ']' };
                while self.peek() != closing {
                    self.at += 1;
                    let key = (opening == '{').then(|| {
                        let key = self.quoted();
                        assert_eq!(self.peek(), ':');
                        self.at += 1;
                        key
                    });
                    assert!(
                        key.is_none() || node.children.iter().all(|(other, _)| *other != key),
                        "{key:?} twice"
                    );
                    let child = self.node();
                    node.children.push((key, child));
                }
                self.at += 1;
            }
            '"' => {
                self.quoted();
            }
            _ => {
                let rest = &self.text[self.at..];
                let length = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
                node.number = Some(rest[..length].parse().expect("a number"));
                self.at += length;
            }
        }
        node.end = self.at;
        node
    }
}

/// The steps of a query, each as it is written.
fn steps(query: &str) -> Vec<Step<'_>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut inside = false;
    for (at, character) in query.char_indices() {
        let second_dot = character == '.' && at > 0 && query[..at].ends_with('.');
        if !inside && (character == '[' || character == '.') && !second_dot {
            starts.push(at);
        }
        inside = character == '[' || (inside && character != ']');
    }
    let ends = starts.iter().skip(1).copied().chain([query.len()]);
    starts.iter().zip(ends).map(|(start, end)| Step(&query[*start..end])).collect()
}

struct Step<'a>(&'a str);

impl Step<'_> {
    fn choose<'n>(&self, node: &'n Node) -> Vec<&'n Node> {
        let children = node.children.iter().map(|(_, child)| child);
        if let Some(name) = self.0.strip_prefix("..") {
            let mut found = Vec::new();
            descend(node, name, &mut found);
            return found;
        }
        if self.0 == ".*" {
            assert!(!node.is_list, ".* is for objects");
            return children.collect();
        }
        if let Some(name) = self.0.strip_prefix('.') {
            return node
                .children
                .iter()
                .filter(|(key, _)| key.as_deref() == Some(name))
                .map(|(_, c)| c)
                .collect();
        }
        let inside = self.0.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).expect("brackets");
        assert!(node.is_list, "{} is for lists", self.0);
        if inside == "*" {
            return children.collect();
        }
        if let Some(condition) = inside.strip_prefix("?@") {
            return children.filter(|child| holds(condition, child)).collect();
        }
        let positions: Vec<i64> = (0..).take(node.children.len()).collect();
        let count = positions.last().map_or(0, |last| last + 1);
        let position = |text: &str, missing: i64| match text.parse::<i64>() {
            Ok(negative) if negative < 0 => count + negative,
            Ok(position) => position,
            Err(_) => missing,
        };
        let (from, to) = match inside.split_once(':') {
            Some((from, to)) => (position(from, 0), position(to, count)),
            None => (position(inside, -1), position(inside, -1) + 1),
        };
        positions
            .iter()
            .zip(children)
            .filter(|(index, _)| (from..to).contains(index))
            .map(|(_, c)| c)
            .collect()
    }
}

fn descend<'n>(node: &'n Node, name: &str, found: &mut Vec<&'n Node>) {
    for (key, child) in &node.children {
        if key.as_deref() == Some(name) {
            found.push(child);
        }
        descend(child, name, found);
    }
}

/// Whether ` < 5`, or `.name < 5`, is true of a node.
fn holds(condition: &str, node: &Node) -> bool {
    let [name, sign, bound] = condition.split(' ').collect::<Vec<_>>()[..] else {
        panic!("no condition: {condition}")
    };
    let compared = match name.strip_prefix('.') {
        Some(name) => {
            node.children.iter().find(|(key, _)| key.as_deref() == Some(name)).map(|(_, child)| child)
        }
        None => Some(node),
    };
    let (number, bound) =
        (compared.and_then(|node| node.number).expect("a number"), bound.parse().expect("a bound"));
    match sign {
        "<" => number < bound,
        "<=" => number <= bound,
        ">" => number > bound,
        ">=" => number >= bound,
        _ => panic!("no comparison: {sign}"),
    }
}
