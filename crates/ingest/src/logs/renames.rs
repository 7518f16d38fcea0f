//! Other names for the models and tasks of logs.

use crate::IngestError;

/// New names for models or tasks of logs: one for all, or `OLD=NEW` for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames {
    only: Option<String>,
    pairs: Vec<(String, String)>,
}

impl Renames {
    /// Parses `NEW` or `OLD=NEW`. A name without `OLD` is for logs with a single model or task.
    ///
    /// # Errors
    /// An [`IngestError`] if two names are given for all, or one is empty.
    ///
    /// ```
    /// use reasonscape_ingest::logs::Renames;
    ///
    /// assert!(Renames::parse(["small", "large"]).is_err());
    /// assert!(Renames::parse(["a=small", "b=large"]).is_ok());
    /// ```
    pub fn parse<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> Result<Self, IngestError> {
        let mut renames = Self::default();
        for item in items {
            let item = item.as_ref();
            let (old, new) = match item.split_once('=') {
                Some((old, new)) => (Some(old.trim()), new.trim()),
                None => (None, item.trim()),
            };
            if new.is_empty() || old == Some("") {
                return Err(IngestError::InvalidInput(format!(
                    "invalid name `{item}`: expected NAME or OLD=NEW"
                )));
            }
            match old {
                Some(old) => renames.pairs.push((old.to_owned(), new.to_owned())),
                None if renames.only.is_none() => renames.only = Some(new.to_owned()),
                None => {
                    return Err(IngestError::InvalidInput(format!(
                        "`{item}` is a second name without an old one; expected OLD=NEW for each of several"
                    )));
                }
            }
        }
        Ok(renames)
    }

    /// Rejects one name for several models or tasks, and old names that the logs don't have.
    pub(super) fn check(&self, what: &str, names: &[String]) -> Result<(), IngestError> {
        let flag = format!("--{what}");
        if let (Some(only), [_, _, ..]) = (&self.only, names) {
            return Err(IngestError::InvalidInput(format!(
                "`{flag} {only}` is one name for {}; write `{flag} {}={only}` for one of them",
                super::list(names),
                names[0]
            )));
        }
        match self.pairs.iter().find(|(old, _)| !names.contains(old)) {
            Some((old, _)) => Err(IngestError::InvalidInput(format!(
                "`{flag} {old}=…`: the logs have no {what} `{old}`; they have {}",
                super::list(names)
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn apply(&self, name: &str) -> String {
        let pair = self.pairs.iter().find(|(old, _)| old == name).map(|(_, new)| new);
        pair.or(self.only.as_ref()).map_or(name, String::as_str).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_one_name_for_several_things() {
        let both = ["a".to_owned(), "b".to_owned()];
        let message = Renames::parse(["x"]).unwrap().check("model", &both).unwrap_err().to_string();
        assert!(message.contains("--model a=x"), "{message}");
        let message = Renames::parse(["c=x"]).unwrap().check("task", &both).unwrap_err().to_string();
        assert!(message.contains("no task `c`") && message.contains("`a`, `b`"), "{message}");
        assert_eq!(Renames::parse(["b=x"]).unwrap().apply("b"), "x");
    }
}
