//! SQL functions: statistics, and access to parameters and labels.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Float64Builder, StringArray, StringBuilder,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, exec_datafusion_err, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
    lit,
};
use reasonscape_core::Json;
use reasonscape_stats::score::Band;
use reasonscape_stats::{Confidence, Counters, Interval, Mode, paired, wilson};

use crate::Estimator;

/// The implementation of a function over its argument columns.
type Call = fn(&str, &[ArrayRef]) -> Result<ArrayRef>;

/// A function that SQL can call.
#[derive(Debug)]
struct Function {
    name: &'static str,
    signature: Signature,
    result: DataType,
    call: Call,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let column = (self.call)(self.name, &columns)?;
        if constant {
            let value = datafusion::scalar::ScalarValue::try_from_array(&column, 0)?;
            return Ok(ColumnarValue::Scalar(value));
        }
        Ok(ColumnarValue::Array(column))
    }
}

/// All SQL functions, for registration in a session.
///
/// | function | result |
/// |---|---|
/// | `wilson_low(k, n [, confidence])`, `wilson_high` | bounds of the Wilson confidence interval |
/// | `estimate_low(mode, n, n_e, n_t, g [, confidence])`, `estimate_high`, `estimate_center`, `estimate_margin` | one of the nine estimators; `C_P literal` computes the products without reductions |
/// | `mcnemar_p(b, c)` | mid-p of McNemar's test on discordant pairs |
/// | `score_band(score)` | name of the band of a `ReasonScore` |
/// | `status_name(status)` | `incorrect`, `correct`, `truncated` |
/// | `param(params, name)`, `param_number(params, name)` | a parameter as text, as a number |
/// | `facet(groups, name)` | `moe` of `arch:moe` |
pub(crate) fn all() -> Vec<ScalarUDF> {
    use DataType::{Float64, Int64, Utf8};
    let with_confidence = |types: Vec<DataType>| {
        let mut longer = types.clone();
        longer.push(Float64);
        Signature::one_of(
            vec![TypeSignature::Exact(types), TypeSignature::Exact(longer)],
            Volatility::Immutable,
        )
    };
    let exact = |types: Vec<DataType>| Signature::exact(types, Volatility::Immutable);
    let wilson_arguments = || with_confidence(vec![Float64, Float64]);
    let estimate_arguments = || with_confidence(vec![Utf8, Float64, Float64, Float64, Float64]);
    let function = |name, signature, result, call: Call| Function { name, signature, result, call };
    vec![
        function("wilson_low", wilson_arguments(), Float64, |name, columns| {
            wilson_column(name, columns, |interval| interval.low)
        }),
        function("wilson_high", wilson_arguments(), Float64, |name, columns| {
            wilson_column(name, columns, |interval| interval.high)
        }),
        function("estimate_low", estimate_arguments(), Float64, |name, columns| {
            estimate_column(name, columns, |interval| interval.low)
        }),
        function("estimate_high", estimate_arguments(), Float64, |name, columns| {
            estimate_column(name, columns, |interval| interval.high)
        }),
        function("estimate_center", estimate_arguments(), Float64, |name, columns| {
            estimate_column(name, columns, Interval::center)
        }),
        function("estimate_margin", estimate_arguments(), Float64, |name, columns| {
            estimate_column(name, columns, Interval::margin)
        }),
        function("mcnemar_p", exact(vec![Float64, Float64]), Float64, |name, columns| {
            numbers(columns, |values| {
                let count = |value: f64| {
                    if value >= 0.0 && value.fract() == 0.0 {
                        Ok(value as u64)
                    } else {
                        exec_err!("{name}: {value} is not a count")
                    }
                };
                Ok(paired::mcnemar(count(values[0])?, count(values[1])?).mid_p)
            })
        }),
        function("score_band", exact(vec![Float64]), Utf8, |_, columns| {
            let scores = columns[0].as_primitive::<Float64Type>();
            let names = scores.iter().map(|score| score.map(|score| Band::from_score(score).name()));
            Ok(Arc::new(names.collect::<StringArray>()))
        }),
        function("status_name", exact(vec![Int64]), Utf8, status_names),
        function("param", exact(vec![Utf8, Utf8]), Utf8, param_texts),
        function("param_number", exact(vec![Utf8, Utf8]), Float64, param_numbers),
        function("facet", Signature::any(2, Volatility::Immutable), Utf8, facets),
    ]
    .into_iter()
    .map(ScalarUDF::from)
    .collect()
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let function = all().into_iter().find(|function| function.name() == name).expect("a registered function");
    function.call(arguments)
}

/// A parameter as text.
pub(crate) fn param_of(params: Expr, name: &str) -> Expr {
    call("param", vec![params, lit(name)])
}

/// A parameter as a number.
pub(crate) fn param_number_of(params: Expr, name: &str) -> Expr {
    call("param_number", vec![params, lit(name)])
}

/// The value of a label.
pub(crate) fn facet_of(groups: Expr, name: &str) -> Expr {
    call("facet", vec![groups, lit(name)])
}

/// Whether a list has an item that matches; `*` is a wildcard.
pub(crate) fn has_label(labels: Expr, pattern: &str) -> Expr {
    let function = Function {
        name: "has_label",
        signature: Signature::any(2, Volatility::Immutable),
        result: DataType::Boolean,
        call: |_, columns| {
            let lists = columns[0].as_list::<i32>();
            let labels = cast(lists.values(), &DataType::Utf8)?;
            let labels = labels.as_string::<i32>();
            let patterns = cast(&columns[1], &DataType::Utf8)?;
            let patterns = patterns.as_string::<i32>();
            let offsets = lists.value_offsets();
            let found = (0..lists.len()).map(|row| {
                let mut indices = offsets[row] as usize..offsets[row + 1] as usize;
                Some(indices.any(|index| is_like(labels.value(index), patterns.value(row))))
            });
            Ok(Arc::new(found.collect::<BooleanArray>()))
        },
    };
    ScalarUDF::from(function).call(vec![labels, lit(pattern)])
}

/// Whether a text matches a pattern with `*` wildcards.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts = rest.split('*');
    let end = parts.next_back().unwrap_or_default();
    for part in parts {
        let Some(index) = text.find(part) else { return false };
        text = &text[index + part.len()..];
    }
    text.ends_with(end)
}

/// One number per row; null where an argument is null.
fn numbers(columns: &[ArrayRef], value: impl Fn(&[f64]) -> Result<f64>) -> Result<ArrayRef> {
    let columns: Vec<&Float64Array> = columns.iter().map(AsArray::as_primitive::<Float64Type>).collect();
    let rows = columns.first().map_or(0, |column| Array::len(*column));
    let mut result = Float64Builder::with_capacity(rows);
    let mut values = Vec::with_capacity(columns.len());
    for row in 0..rows {
        values.clear();
        values.extend(columns.iter().filter(|column| column.is_valid(row)).map(|column| column.value(row)));
        if values.len() == columns.len() {
            result.append_value(value(&values)?);
        } else {
            result.append_null();
        }
    }
    Ok(Arc::new(result.finish()))
}

fn confidence(name: &str, level: Option<&f64>) -> Result<Confidence> {
    level.map_or(Ok(Confidence::P95), |level| {
        Confidence::new(*level).map_err(|error| exec_datafusion_err!("{name}: {error}"))
    })
}

fn wilson_column(name: &str, columns: &[ArrayRef], part: fn(&Interval) -> f64) -> Result<ArrayRef> {
    numbers(columns, |values| {
        let interval = wilson(values[0], values[1], confidence(name, values.get(2))?)
            .map_err(|error| exec_datafusion_err!("{name}: {error}"))?;
        Ok(part(&interval))
    })
}

fn estimate_column(name: &str, columns: &[ArrayRef], part: fn(&Interval) -> f64) -> Result<ArrayRef> {
    let modes = columns[0].as_string::<i32>();
    let mut known: HashMap<&str, (Mode, bool)> = HashMap::new();
    for mode in modes.iter().flatten() {
        if !known.contains_key(mode) {
            let literal = mode.strip_suffix(" literal");
            let parsed =
                literal.unwrap_or(mode).parse().map_err(|error| exec_datafusion_err!("{name}: {error}"))?;
            known.insert(mode, (parsed, literal.is_some()));
        }
    }
    let columns: Vec<&Float64Array> = columns[1..].iter().map(AsArray::as_primitive::<Float64Type>).collect();
    let mut result = Float64Builder::with_capacity(modes.len());
    for row in 0..modes.len() {
        if modes.is_null(row) || columns.iter().any(|column| column.is_null(row)) {
            result.append_null();
            continue;
        }
        let value = |column: usize| columns[column].value(row);
        let counters = Counters::new(value(0), value(1), value(2), value(3))
            .map_err(|error| exec_datafusion_err!("{name}: {error}"))?;
        let level = columns.get(4).map(|column| column.value(row));
        let (mode, is_literal) = known[modes.value(row)];
        let estimator = Estimator { mode, confidence: confidence(name, level.as_ref())?, is_literal };
        let interval = estimator.estimate_counters(&counters);
        result.append_value(part(&interval));
    }
    Ok(Arc::new(result.finish()))
}

fn status_names(name: &str, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let codes = columns[0].as_primitive::<datafusion::arrow::datatypes::Int64Type>();
    let names: Result<StringArray> = codes
        .iter()
        .map(|code| match code {
            None => Ok(None),
            Some(code) => reasonscape_core::Outcome::from_code(code)
                .map(|outcome| Some(outcome.name()))
                .ok_or_else(|| exec_datafusion_err!("{name}: {code} is not a status; expected 0, 1 or 2")),
        })
        .collect();
    Ok(Arc::new(names?))
}

/// The parameter of each row. Many rows share one `params` text, so each distinct text is parsed once.
fn params<'a>(name: &str, columns: &'a [ArrayRef], mut visit: impl FnMut(Option<&Json>)) -> Result<()> {
    let (texts, names) = (columns[0].as_string::<i32>(), columns[1].as_string::<i32>());
    let mut read: HashMap<&'a str, Json> = HashMap::new();
    for row in 0..texts.len() {
        if texts.is_null(row) || names.is_null(row) {
            visit(None);
            continue;
        }
        let text = texts.value(row);
        if !read.contains_key(text) {
            let json = Json::parse(text)
                .map_err(|error| exec_datafusion_err!("{name}: `{text}` is not a JSON object: {error}"))?;
            read.insert(text, json);
        }
        visit(read[text].get(names.value(row)));
    }
    Ok(())
}

fn param_texts(name: &str, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let mut result = StringBuilder::new();
    params(name, columns, |value| match value {
        None => result.append_null(),
        Some(Json::String(text)) => result.append_value(text),
        Some(other) => result.append_value(reasonscape_core::canonical_json(other)),
    })?;
    Ok(Arc::new(result.finish()))
}

fn param_numbers(name: &str, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let mut result = Float64Builder::new();
    params(name, columns, |value| {
        result.append_option(value.and_then(|value| reasonscape_core::canonical_json(value).parse().ok()));
    })?;
    Ok(Arc::new(result.finish()))
}

fn facets(name: &str, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let Some(groups) = columns[0].as_list_opt::<i32>() else {
        return exec_err!(
            "{name}: the first argument must be the list `groups`, not {}",
            columns[0].data_type()
        );
    };
    let labels = cast(groups.values(), &DataType::Utf8)?;
    let labels = labels.as_string::<i32>();
    let names = cast(&columns[1], &DataType::Utf8)?;
    let names = names.as_string::<i32>();
    let mut result = StringBuilder::new();
    for row in 0..groups.len() {
        let (start, end) = (groups.value_offsets()[row] as usize, groups.value_offsets()[row + 1] as usize);
        let found = (start..end)
            .filter_map(|index| labels.value(index).split_once(':'))
            .find(|(facet, _)| names.is_valid(row) && *facet == names.value(row));
        result.append_option(found.map(|(_, value)| value));
    }
    Ok(Arc::new(result.finish()))
}
