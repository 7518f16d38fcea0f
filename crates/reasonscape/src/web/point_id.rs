//! What points are called in addresses.

use reasonscape_runner::cache::CacheKey;

/// Hexadecimal digits of a point's name: a task has some hundred points.
const DIGITS: usize = 12;

/// A short name for coordinates, which is the same wherever they are asked.
pub(crate) fn point_id(params: &str) -> String {
    let mut name = CacheKey::of_canonical(params).to_string();
    name.truncate(DIGITS);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_beginning_of_the_key_of_the_specification() {
        assert_eq!(point_id(r#"{"depth": 3, "length": 16}"#), "814011ef82bb");
    }
}
