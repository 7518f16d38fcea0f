//! Suites, templates and samplers by name: a file in the study directory overrides a built-in one.

use std::path::Path;

use toml::Spanned;

use crate::StudyError;
use crate::toml_document::{Document, did_you_mean, quoted_path, read};

/// One kind of named file: its directory and its built-in instances.
#[derive(Debug)]
pub(crate) struct Builtins {
    /// Name of the kind, in the singular.
    pub(crate) kind: &'static str,
    /// Subdirectory of the study directory for user files.
    pub(crate) dir: &'static str,
    /// Name and text of each built-in.
    pub(crate) built_in: &'static [(&'static str, &'static str)],
}

impl Builtins {
    /// Name in errors and text of a built-in.
    pub(crate) fn built_in_text(&self, name: &str) -> Option<(String, &'static str)> {
        let (name, text) = self.built_in.iter().find(|(known, _)| *known == name)?;
        Some((format!("built-in {} `{name}`", self.kind), text))
    }

    /// Name in errors and text of the file or built-in with this name.
    pub(crate) fn find(&self, name: &str, dir: &Path) -> Result<(String, String), StudyError> {
        if let Some(problem) = self.invalid_name(name) {
            return Err(self.unknown(name, dir, &problem));
        }
        let path = dir.join(self.dir).join(format!("{name}.toml"));
        if let Some(text) = read(&path)? {
            return Ok((quoted_path(&path), text));
        }
        let (origin, text) = self.built_in_text(name).ok_or_else(|| {
            let known: Vec<&'static str> = self.built_in.iter().map(|(name, _)| *name).collect();
            self.unknown(name, dir, &did_you_mean(name, &known))
        })?;
        Ok((origin, text.to_owned()))
    }

    /// Names can't be paths: they are part of an eval's identity, which must be the same on every machine.
    fn invalid_name(&self, name: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = name.chars().all(plain) && !name.starts_with('.');
        (!is_name).then(|| {
            format!(", which is not a valid name (put the file into `{}/` and omit `.toml`)", self.dir)
        })
    }

    fn unknown(&self, name: &str, dir: &Path, hint: &str) -> StudyError {
        let own = self.own_names(dir);
        let own =
            if own.is_empty() { String::new() } else { format!("; in `{}/`: {}", self.dir, own.join(", ")) };
        let built_in: Vec<&str> = self.built_in.iter().map(|(name, _)| *name).collect();
        let problem = format!("unknown {} `{name}`{hint}; built-in: {}{own}", self.kind, built_in.join(", "));
        StudyError::Unknown { problem }
    }

    /// Names of user files, for error messages.
    fn own_names(&self, dir: &Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(dir.join(self.dir)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
            .collect();
        names.sort();
        names
    }
}

/// A file may contain its own `name`, if it equals the file name.
pub(crate) fn check_name(
    document: Document<'_>,
    name: Option<&Spanned<String>>,
    expected: &str,
) -> Result<(), StudyError> {
    match name {
        Some(name) if name.get_ref() != expected => {
            let problem = format!(
                "`name` is `{}`, but the file name is `{expected}`; make them the same or remove `name`",
                name.get_ref()
            );
            Err(document.error(name.span(), problem))
        }
        _ => Ok(()),
    }
}
