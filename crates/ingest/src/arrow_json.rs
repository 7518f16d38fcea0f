//! Arrow columns as JSON values.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, UInt64Type};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::Value;

/// The values of an Arrow column as JSON: numbers, lists and structs as such, types that JSON lacks (dates, binary) as
/// text.
///
/// # Errors
/// An [`ArrowError`] if a value cannot be converted, which means that the column is damaged.
pub fn column_to_json(column: &ArrayRef) -> Result<Vec<Value>, ArrowError> {
    let nulls = |row: usize| column.is_null(row);
    let rows = 0..column.len();
    let each = |value: &dyn Fn(usize) -> Value| -> Vec<Value> {
        rows.clone().map(|row| if nulls(row) { Value::Null } else { value(row) }).collect()
    };
    Ok(match column.data_type() {
        DataType::Boolean => {
            let booleans = column.as_boolean();
            each(&|row| Value::Bool(booleans.value(row)))
        }
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => {
            let numbers = cast(column, &DataType::Int64)?;
            let numbers = numbers.as_primitive::<Int64Type>();
            each(&|row| Value::from(numbers.value(row)))
        }
        DataType::UInt64 => {
            let numbers = column.as_primitive::<UInt64Type>();
            each(&|row| Value::from(numbers.value(row)))
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let numbers = cast(column, &DataType::Float64)?;
            let numbers = numbers.as_primitive::<Float64Type>();
            each(&|row| Value::from(numbers.value(row)))
        }
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let mut found = Vec::new();
            for row in rows {
                found.push(if nulls(row) {
                    Value::Null
                } else {
                    Value::Array(column_to_json(&lists.value(row))?)
                });
            }
            found
        }
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            column_to_json(&cast(column, &DataType::List(std::sync::Arc::clone(item)))?)?
        }
        DataType::Struct(fields) => {
            let mut found = vec![serde_json::Map::new(); column.len()];
            for (field, inner) in fields.iter().zip(column.as_struct().columns()) {
                for (object, value) in found.iter_mut().zip(column_to_json(inner)?) {
                    object.insert(field.name().clone(), value);
                }
            }
            let object = |(row, object)| if nulls(row) { Value::Null } else { Value::Object(object) };
            found.into_iter().enumerate().map(object).collect()
        }
        _ => {
            let shown = ArrayFormatter::try_new(column, &FormatOptions::default())?;
            each(&|row| Value::String(shown.value(row).to_string()))
        }
    })
}
