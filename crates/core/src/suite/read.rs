//! Parses suites from TOML, with line numbers in errors.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::{Manifold, Suite, SuiteError, View};
use crate::{Json, ParamError, Params, Task, TestStream, closest, tasks};

/// Maximum number of points per suite; more is most likely a mistake in a range.
const MAX_POINTS: usize = 1_000_000;
/// Maximum number of problems per point.
const MAX_TESTS: i64 = 100_000;
/// Any point has this many different problems, unless its task knows a bound.
const MAX_UNCHECKED_TESTS: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSuite {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    seed: i64,
    count: Spanned<i64>,
    #[serde(default)]
    manifold: Vec<RawManifold>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifold {
    id: Spanned<String>,
    task: Spanned<String>,
    count: Option<Spanned<i64>>,
    /// Base points, each crossed with the axes; one without coordinates when none is listed.
    #[serde(default)]
    points: Vec<BTreeMap<String, Spanned<Value>>>,
    /// Axes: a value, a list, or a range.
    #[serde(default)]
    params: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    view: Vec<Spanned<RawView>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawView {
    x: String,
    y: Option<String>,
}

/// Whether a sample of problems repeats enough that the point may have fewer than `count`: of `n` equally likely problems a
/// sample of `4 √n` repeats about 8. A point that has four times as many as wanted is seldom counted in vain.
fn repeats_early(task: &dyn Task, params: &Params, count: usize, seed: i64) -> bool {
    let sample = 4 * count.isqrt();
    let mut rng = crate::seeded(&params.to_json(), seed);
    let prompts: HashSet<String> = (0..sample).map(|_| task.generate(params, &mut rng).prompt).collect();
    prompts.len() + 2 <= sample
}

/// The document, to convert offsets to lines.
struct Source<'a> {
    text: &'a str,
    seed: i64,
    /// The version of tasks that are named without one.
    default_version: u32,
}

impl Source<'_> {
    fn error(&self, span: std::ops::Range<usize>, problem: impl Into<String>) -> SuiteError {
        let before = &self.text[..span.start.min(self.text.len())];
        SuiteError { line: Some(before.matches('\n').count() + 1), problem: problem.into() }
    }
}

pub(super) fn suite(text: &str, default_version: u32) -> Result<Suite, SuiteError> {
    let mut source = Source { text, default_version, seed: 0 };
    let raw: RawSuite = toml::from_str(text).map_err(|error| match error.span() {
        Some(span) => source.error(span, error.message()),
        None => SuiteError { line: None, problem: error.message().to_owned() },
    })?;
    source.seed = raw.seed;
    let count = source.count(&raw.count)?;
    let mut manifolds: Vec<Manifold> = Vec::new();
    for manifold in &raw.manifold {
        let id = manifold.id.get_ref();
        if id.is_empty() || manifolds.iter().any(|known| known.id == *id) {
            let problem = format!("manifold id `{id}` is empty or used twice; give each manifold its own");
            return Err(source.error(manifold.id.span(), problem));
        }
        manifolds.push(source.manifold(manifold, count)?);
        let points: usize = manifolds.iter().map(|manifold| manifold.points.len()).sum();
        if points > MAX_POINTS {
            return Err(source.error(
                manifold.id.span(),
                format!("with manifold `{id}` the suite has {points} points, more than {MAX_POINTS}; take fewer values"),
            ));
        }
    }
    if manifolds.is_empty() {
        return Err(SuiteError {
            line: None,
            problem: "no [[manifold]]: a suite needs at least one".to_owned(),
        });
    }
    Ok(Suite { name: raw.name, description: raw.description, seed: raw.seed, manifolds })
}

impl Source<'_> {
    fn count(&self, count: &Spanned<i64>) -> Result<usize, SuiteError> {
        match *count.get_ref() {
            value @ 1..=MAX_TESTS => Ok(value as usize),
            value => {
                Err(self
                    .error(count.span(), format!("`count` is {value}, but must be from 1 to {MAX_TESTS}")))
            }
        }
    }

    fn manifold(&self, raw: &RawManifold, default_count: usize) -> Result<Manifold, SuiteError> {
        let task = self.task(&raw.task)?;
        let count = raw.count.as_ref().map_or(Ok(default_count), |count| self.count(count))?;
        let axes = raw
            .params
            .iter()
            .map(|(name, value)| Ok((name.as_str(), self.axis(name, value)?)))
            .collect::<Result<Vec<(&str, Vec<Json>)>, SuiteError>>()?;

        let bases = raw.points.len().max(1);
        let size = axes.iter().fold(bases, |size, (_, values)| size.saturating_mul(values.len()));
        if size > MAX_POINTS {
            let problem = format!(
                "manifold `{}` has {size} points, more than {MAX_POINTS}; take fewer values",
                raw.id.get_ref()
            );
            return Err(self.error(raw.id.span(), problem));
        }
        let mut seen = HashSet::new();
        let mut points = Vec::with_capacity(size);
        for base in 0..bases {
            let base = raw.points.get(base);
            for index in 0..size / bases {
                let coordinates = self.coordinates(base, &axes, index)?;
                let params = Params::new(&*task, &coordinates)
                    .map_err(|error| self.error(error_at(&error, raw, base), error.to_string()))?;
                self.check_space(&*task, &params, count, raw)?;
                if seen.insert(crate::canonical_json(&params.to_json())) {
                    points.push(params);
                }
            }
        }
        let views = raw
            .view
            .iter()
            .map(|view| self.view(view, &*task, &points))
            .collect::<Result<Vec<View>, SuiteError>>()?;
        Ok(Manifold { id: raw.id.get_ref().clone(), task, count, points, views })
    }

    /// Rejects a count that a point doesn't have different problems for.
    fn check_space(
        &self,
        task: &dyn Task,
        params: &Params,
        count: usize,
        raw: &RawManifold,
    ) -> Result<(), SuiteError> {
        // Version 1 repeats prompts, as it always did.
        if task.version() == 1 {
            return Ok(());
        }
        let problems = match task.distinct_problems(params) {
            None if count > MAX_UNCHECKED_TESTS && repeats_early(task, params, count, self.seed) => {
                TestStream::new(task, params, self.seed).take(count).count()
            }
            None => return Ok(()),
            Some(problems) => problems.try_into().unwrap_or(usize::MAX),
        };
        if problems >= count {
            return Ok(());
        }
        let problem = format!(
            "manifold `{}` has {count} problems at {}, where `{}` has about {problems} different ones; lower `count` or \
             raise a parameter",
            raw.id.get_ref(),
            crate::canonical_json(&params.to_json()),
            task.name()
        );
        Err(self.error(raw.count.as_ref().map_or(raw.id.span(), Spanned::span), problem))
    }

    fn task(&self, name: &Spanned<String>) -> Result<Arc<dyn Task>, SuiteError> {
        tasks::shared(name.get_ref(), Some(self.default_version)).cloned().ok_or_else(|| {
            let known: Vec<&str> = tasks::all().map(Task::family).collect();
            let hint = closest(name.get_ref(), &known)
                .map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
            let problem = format!("unknown task `{}`{hint}; there are {}", name.get_ref(), known.join(", "));
            self.error(name.span(), problem)
        })
    }

    /// The values of an axis: one value, a list of them, or a range `{ from, to, step }` with both ends included.
    fn axis(&self, name: &str, value: &Spanned<Value>) -> Result<Vec<Json>, SuiteError> {
        let problem = |problem: String| self.error(value.span(), format!("`{name}` {problem}"));
        let scalar = |value: &Value| {
            self::scalar(value).ok_or_else(|| {
                problem(format!(
                    "has {value_kind}; expected a number or a string",
                    value_kind = value.type_str()
                ))
            })
        };
        match value.get_ref() {
            Value::Array(values) if values.is_empty() => {
                Err(problem("is an empty list; give at least one value".into()))
            }
            Value::Array(values) => values.iter().map(scalar).collect(),
            Value::Table(range) => self::range(range).map_err(problem),
            other => Ok(vec![scalar(other)?]),
        }
    }

    /// The coordinates of the grid's `index`: the last axis varies fastest, the base point fills in the rest.
    fn coordinates(
        &self,
        base: Option<&BTreeMap<String, Spanned<Value>>>,
        axes: &[(&str, Vec<Json>)],
        mut index: usize,
    ) -> Result<Json, SuiteError> {
        let mut coordinates = BTreeMap::new();
        for (name, value) in base.into_iter().flatten() {
            let json = scalar(value.get_ref()).ok_or_else(|| {
                self.error(
                    value.span(),
                    format!("`{name}` of a base point must be a single number or string"),
                )
            })?;
            if axes.iter().any(|(axis, _)| axis == name) {
                return Err(self
                    .error(value.span(), format!("`{name}` is both an axis and in a base point; keep one")));
            }
            coordinates.insert(name.clone(), json);
        }
        for (name, values) in axes.iter().rev() {
            coordinates.insert((*name).to_owned(), values[index % values.len()].clone());
            index /= values.len();
        }
        Ok(Json::Object(coordinates))
    }

    fn view(&self, raw: &Spanned<RawView>, task: &dyn Task, points: &[Params]) -> Result<View, SuiteError> {
        let RawView { x, y } = raw.get_ref();
        for name in [Some(x), y.as_ref()].into_iter().flatten() {
            let values: HashSet<String> = points
                .iter()
                .filter_map(|point| point.to_json().get(name).map(crate::canonical_json))
                .collect();
            if values.len() < 2 {
                let known: Vec<&str> = task.parameters().iter().map(|parameter| parameter.name).collect();
                let reason = if known.contains(&name.as_str()) {
                    "has a single value in this manifold"
                } else {
                    "is not a parameter of the task"
                };
                return Err(self.error(raw.span(), format!("a view along `{name}`, which {reason}")));
            }
        }
        if y.as_ref() == Some(x) {
            return Err(self.error(raw.span(), format!("a surface over `{x}` twice; name two parameters")));
        }
        Ok(View { x: x.clone(), y: y.clone() })
    }
}

/// Where the parameter that an error names was written.
fn error_at(
    error: &ParamError,
    raw: &RawManifold,
    base: Option<&BTreeMap<String, Spanned<Value>>>,
) -> std::ops::Range<usize> {
    let name = match error {
        ParamError::Unknown { name, .. } => Some(name.as_str()),
        ParamError::Invalid { name, .. }
        | ParamError::Impossible { name, .. }
        | ParamError::Ineffective { name, .. } => Some(*name),
        ParamError::NotAnObject { .. } => None,
    };
    name.and_then(|name| base.and_then(|base| base.get(name)).or_else(|| raw.params.get(name)))
        .map_or_else(|| raw.task.span(), Spanned::span)
}

fn scalar(value: &Value) -> Option<Json> {
    match value {
        Value::Integer(whole) => Some(Json::Int(*whole)),
        Value::Float(number) => Some(Json::Float(*number)),
        Value::String(text) => Some(Json::from(text.as_str())),
        _ => None,
    }
}

/// `{ from = 2, to = 10, step = 4 }` is 2, 6, 10; the step is 1 by default. Integers if all three are.
fn range(table: &toml::Table) -> Result<Vec<Json>, String> {
    const FORM: &str = "expected { from = …, to = …, step = … } with numbers";
    if let Some(key) = table.keys().find(|key| !["from", "to", "step"].contains(&key.as_str())) {
        return Err(format!("has the unknown key `{key}`; {FORM}"));
    }
    let number = |key: &str| match table.get(key) {
        Some(Value::Integer(whole)) => Ok(Some(*whole as f64)),
        Some(Value::Float(number)) if number.is_finite() => Ok(Some(*number)),
        Some(_) => Err(format!("has a `{key}` that is not a number; {FORM}")),
        None => Ok(None),
    };
    let end = |key: &str| number(key)?.ok_or_else(|| format!("has no `{key}`; {FORM}"));
    let (from, to, step) = (end("from")?, end("to")?, number("step")?.unwrap_or(1.0));
    if step <= 0.0 || to < from {
        return Err(format!(
            "runs from {from} to {to} by {step}; expected `to` at or above `from` and a step above 0"
        ));
    }
    let steps = ((to - from) / step + 1e-9).floor();
    if steps >= MAX_POINTS as f64 {
        return Err(format!("has more than {MAX_POINTS} values; take a larger step"));
    }
    let whole = table.values().all(Value::is_integer);
    Ok((0..=steps as u32)
        .map(|i| {
            let value = from + f64::from(i) * step;
            // 0.1 + 2 x 0.1 should be 0.3.
            if whole { Json::Int(value as i64) } else { Json::Float((value * 1e9).round() / 1e9) }
        })
        .collect())
}
