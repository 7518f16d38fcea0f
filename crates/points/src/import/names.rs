//! What models, tasks and documents are called here.

use reasonscape_runner::cache::CacheKey;

use crate::PointsError;

/// Other names than a log has: one for all, or `OLD=NEW` for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames {
    only: Option<String>,
    pairs: Vec<(String, String)>,
}

impl Renames {
    /// Reads `NEW` or `OLD=NEW`. A single name is for logs of a single thing.
    ///
    /// # Errors
    /// A [`PointsError`] if two names are given for all, or one is empty.
    ///
    /// ```
    /// use reasonscape_points::Renames;
    ///
    /// assert!(Renames::parse(["small", "large"]).is_err());
    /// assert!(Renames::parse(["a=small", "b=large"]).is_ok());
    /// ```
    pub fn parse<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> Result<Self, PointsError> {
        let mut renames = Self::default();
        for item in items {
            let item = item.as_ref();
            let (old, new) = match item.split_once('=') {
                Some((old, new)) => (Some(old.trim()), new.trim()),
                None => (None, item.trim()),
            };
            if new.is_empty() || old == Some("") {
                return Err(PointsError::Question(format!("`{item}` names nothing; give NAME or OLD=NEW")));
            }
            match old {
                Some(old) => renames.pairs.push((old.to_owned(), new.to_owned())),
                None if renames.only.is_none() => renames.only = Some(new.to_owned()),
                None => {
                    return Err(PointsError::Question(format!(
                        "`{item}` is a second name for the same; give OLD=NEW for each of several"
                    )));
                }
            }
        }
        Ok(renames)
    }

    /// Refuses one name for several things, and names for what is not there.
    pub(super) fn check(&self, what: &str, names: &[String]) -> Result<(), PointsError> {
        let flag = format!("--{what}");
        if let (Some(only), [_, _, ..]) = (&self.only, names) {
            return Err(PointsError::Question(format!(
                "`{flag} {only}` is one name for {}; write `{flag} {}={only}` for one of them",
                super::list(names),
                names[0]
            )));
        }
        match self.pairs.iter().find(|(old, _)| !names.contains(old)) {
            Some((old, _)) => Err(PointsError::Question(format!(
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

/// What tells a document from others, the same for every model: a whole number is itself, and of anything else it is
/// the first 53 bits of the SHA-256, which even a table of JavaScript numbers keeps apart.
pub(super) fn document_index(id: DocumentId<'_>) -> u64 {
    const MOST: u64 = 1 << 53;
    let text = match id {
        DocumentId::Number(digits) => match digits.parse() {
            Ok(number) if number < MOST => return number,
            _ => digits,
        },
        DocumentId::Text(text) => text,
    };
    let digest = CacheKey::from_canonical_json(text).0;
    u64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes")) >> 11
}

/// The id of a document, as its log writes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum DocumentId<'a> {
    Number(&'a str),
    Text(&'a str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_themselves_and_texts_are_hashes() {
        assert_eq!(document_index(DocumentId::Number("0")), 0);
        assert_eq!(document_index(DocumentId::Number("9007199254740991")), (1 << 53) - 1);
        // echo -n sum/0 | sha256sum, its first 53 bits.
        let Some(said) = reasonscape_test_support::python(
            "import hashlib,sys; print(int(hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:14], 16) >> 3)",
            "sum/0",
        ) else {
            return;
        };
        assert_eq!(document_index(DocumentId::Text("sum/0")).to_string(), said.trim());
        let large = document_index(DocumentId::Number("9007199254740992"));
        assert_eq!(large, document_index(DocumentId::Text("9007199254740992")));
        assert_ne!(document_index(DocumentId::Number("-1")), document_index(DocumentId::Number("1")));
    }

    #[test]
    fn one_name_is_not_for_two_things() {
        let both = ["a".to_owned(), "b".to_owned()];
        let said = Renames::parse(["x"]).unwrap().check("model", &both).unwrap_err().to_string();
        assert!(said.contains("--model a=x"), "{said}");
        let said = Renames::parse(["c=x"]).unwrap().check("task", &both).unwrap_err().to_string();
        assert!(said.contains("no task `c`") && said.contains("`a`, `b`"), "{said}");
        assert_eq!(Renames::parse(["b=x"]).unwrap().apply("b"), "x");
    }
}
