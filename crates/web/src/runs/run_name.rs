//! Names of runs and datasets, restricted to characters that can't form a path.

use std::path::{Path, PathBuf};

/// Maximum length of a name.
const MAX_NAME_LEN: usize = 40;
/// Maximum number of suffixes to try for a new directory.
const MAX_ATTEMPTS: u32 = 100_000;

/// A slug of lower-case letters, digits, and `-` between them.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().map(|character| character.to_ascii_lowercase()) {
        if slug.len() >= MAX_NAME_LEN {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    if slug.is_empty() { "run".to_owned() } else { slug }
}

/// Whether this can be the name of a run.
pub(super) fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_NAME_LEN + 8).contains(&text.len()) && text.bytes().all(is_plain) && !text.starts_with('-')
}

/// Creates a directory named by a slug and a number.
pub(super) fn new_folder(parent: &Path, text: &str) -> std::io::Result<(String, PathBuf)> {
    std::fs::create_dir_all(parent)?;
    let slug = slug(text);
    for number in 1..=MAX_ATTEMPTS {
        let name = format!("{slug}-{number}");
        let folder = parent.join(&name);
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok((name, folder)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_never_paths() {
        for (text, slug_of) in [
            ("quick", "quick"),
            ("GSM8K (test)", "gsm8k-test"),
            ("../../etc/passwd", "etc-passwd"),
            ("\0\u{202e}é", "run"),
            ("", "run"),
            (&"x-".repeat(60), &"x-".repeat(20)[..39]),
        ] {
            assert_eq!(slug(text), slug_of);
            assert!(is_name(&format!("{}-99999", slug(text))));
        }
        for wrong in ["", ".", "..", "a/b", "a\\b", "a\0", "A", "é", "-a", ".a", &"x".repeat(60)] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn numbers_folders() {
        let parent = tempfile::TempDir::new().unwrap();
        let names = [1, 2].map(|_| new_folder(&parent.path().join("runs"), "a b").unwrap().0);
        assert_eq!(names, ["a-b-1", "a-b-2"]);
    }
}
