//! Arrow columns as JSON values.

use arrow::array::{Array, ArrayRef, AsArray, OffsetSizeTrait};
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

/// An upper bound of the bytes of each value as JSON, computed without converting it.
pub(crate) fn json_sizes(column: &ArrayRef) -> Vec<u64> {
    fn lists<O: OffsetSizeTrait>(offsets: &[O], items: &ArrayRef) -> Vec<u64> {
        let sizes = json_sizes(items);
        let sum = |pair: &[O]| {
            let items = sizes.get(pair[0].as_usize()..pair[1].as_usize()).unwrap_or_default();
            items.iter().fold(64_u64, |sum, size| sum.saturating_add(*size).saturating_add(32))
        };
        offsets.windows(2).map(sum).collect()
    }
    let rows = 0..column.len();
    // Text is copied once; binary becomes two digits per byte.
    let text = |size: &dyn Fn(usize) -> usize, factor: u64| {
        rows.clone().map(|row| (size(row) as u64).saturating_mul(factor) + 32).collect()
    };
    match column.data_type() {
        data_type if data_type.is_primitive() => vec![64; column.len()],
        DataType::Boolean | DataType::Null => vec![32; column.len()],
        DataType::Utf8View => text(&|row| column.as_string_view().views()[row] as u32 as usize, 1),
        DataType::BinaryView => text(&|row| column.as_binary_view().views()[row] as u32 as usize, 2),
        DataType::Utf8 => text(&|row| column.as_string::<i32>().value_length(row) as usize, 1),
        DataType::LargeUtf8 => text(&|row| column.as_string::<i64>().value_length(row) as usize, 1),
        DataType::Binary => text(&|row| column.as_binary::<i32>().value_length(row) as usize, 2),
        DataType::LargeBinary => text(&|row| column.as_binary::<i64>().value_length(row) as usize, 2),
        DataType::FixedSizeBinary(length) => text(&|_| *length as usize, 2),
        DataType::List(_) => lists(column.as_list::<i32>().value_offsets(), column.as_list::<i32>().values()),
        DataType::LargeList(_) => {
            lists(column.as_list::<i64>().value_offsets(), column.as_list::<i64>().values())
        }
        DataType::Struct(fields) => {
            let names: u64 = fields.iter().map(|field| field.name().len() as u64 + 64).sum();
            let mut sizes = vec![names + 64; column.len()];
            for inner in column.as_struct().columns() {
                for (size, of_inner) in sizes.iter_mut().zip(json_sizes(inner)) {
                    *size = size.saturating_add(of_inner);
                }
            }
            sizes
        }
        // Maps, unions and others: no value can be longer than the escaped form of everything.
        _ => vec![4 * column.get_array_memory_size() as u64 + 64; column.len()],
    }
}
