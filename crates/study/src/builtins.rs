//! Things that are called by name: a file in the study's folder wins over what is built in.

use std::path::Path;

use toml::Spanned;

use crate::StudyError;
use crate::toml_document::{Document, did_you_mean, quoted_path, read};

/// One kind of thing that a study names: where its files are, and which are built in.
#[derive(Debug)]
pub(crate) struct Builtins {
    /// What one of them is called.
    pub(crate) kind: &'static str,
    /// The folder, within a study's, that holds a person's own.
    pub(crate) dir: &'static str,
    /// Name and text of those that are built in.
    pub(crate) built_in: &'static [(&'static str, &'static str)],
}

impl Builtins {
    /// How errors call a built-in one, and its text.
    pub(crate) fn built_in_text(&self, name: &str) -> Option<(String, &'static str)> {
        let (name, text) = self.built_in.iter().find(|(known, _)| *known == name)?;
        Some((format!("built-in {} `{name}`", self.kind), text))
    }

    /// How errors call the thing of this name, and its text.
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

    /// A name is no path: it is part of an eval's identity, the same on every machine.
    fn invalid_name(&self, name: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = name.chars().all(plain) && !name.starts_with('.');
        (!is_name)
            .then(|| format!(", which is no name (put the file into `{}/` and leave `.toml` off)", self.dir))
    }

    fn unknown(&self, name: &str, dir: &Path, hint: &str) -> StudyError {
        let own = self.own_names(dir);
        let own =
            if own.is_empty() { String::new() } else { format!("; in `{}/`: {}", self.dir, own.join(", ")) };
        let built_in: Vec<&str> = self.built_in.iter().map(|(name, _)| *name).collect();
        let problem =
            format!("unknown {} `{name}`{hint}; built in are {}{own}", self.kind, built_in.join(", "));
        StudyError::Unknown { problem }
    }

    /// The names of a person's own files, for the error that lists them.
    fn own_names(&self, dir: &Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(dir.join(self.dir)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
            .collect();
        names.sort();
        names
    }
}

/// A file may give its own name, if it is the same as its file name.
pub(crate) fn check_name(
    document: Document<'_>,
    name: Option<&Spanned<String>>,
    expected: &str,
) -> Result<(), StudyError> {
    match name {
        Some(name) if name.get_ref() != expected => {
            let problem = format!(
                "`name` is `{}`, but it is called `{expected}` by its file; make them the same or take `name` out",
                name.get_ref()
            );
            Err(document.error(name.span(), problem))
        }
        _ => Ok(()),
    }
}
