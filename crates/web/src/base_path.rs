//! The base path: the prefix of every path of a server.

/// The base path as `/x` for `x`, `/x` and `/x/`, and empty for an empty one; `None` unless each part consists of letters,
/// digits and `-._~`.
pub fn normalize_base_path(given: &str) -> Option<String> {
    let inner = given.trim_matches('/');
    if inner.is_empty() {
        return Some(String::new());
    }
    let is_plain = |part: &str| {
        !matches!(part, "" | "." | "..")
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
    };
    inner.split('/').all(is_plain).then(|| format!("/{inner}"))
}

#[cfg(test)]
mod tests {
    use super::normalize_base_path;

    #[test]
    fn accepts_only_plain_base_paths() {
        for (given, read) in [("", ""), ("/", ""), ("x", "/x"), ("/x/", "/x"), ("/a/b-c", "/a/b-c")] {
            assert_eq!(normalize_base_path(given).unwrap(), read);
        }
        for wrong in ["/a b", "/../x", "/a//b", "/{x}", "/é", "/x?y"] {
            assert!(normalize_base_path(wrong).is_none(), "{wrong}");
        }
    }
}
