//! Ids of points in URLs.

use reasonscape_core::CacheKey;

/// Hexadecimal digits of an id: enough, as a task has a few hundred points.
const DIGITS: usize = 12;

/// A short, stable id of a point, from its parameters.
pub(crate) fn point_id(params: &str) -> String {
    let mut name = CacheKey::from_canonical_json(params).to_string();
    name.truncate(DIGITS);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_id_is_a_prefix_of_the_cache_key() {
        assert_eq!(point_id(r#"{"depth": 3, "length": 16}"#), "814011ef82bb");
    }
}
