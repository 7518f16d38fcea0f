//! Maps the fields of an item to the column names of a file.

use serde_json::{Map, Value};

/// The fields of an item.
const FIELDS: [&str; 8] = ["id", "input", "target", "options", "category", "context", "metadata", "scorer"];

/// The column name of each field, where it differs from the field's name.
///
/// ```
/// use reasonscape_core::ColumnMap;
///
/// assert!("input=question,target=answer".parse::<ColumnMap>().is_ok());
/// assert!("options=choices.text".parse::<ColumnMap>().is_ok());
/// let error = "inputs=question".parse::<ColumnMap>().unwrap_err();
/// assert!(error.contains("did you mean `input`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnMap {
    renamed: Vec<(&'static str, String)>,
}

impl std::str::FromStr for ColumnMap {
    type Err = String;

    /// Parses comma-separated `field=name` pairs.
    fn from_str(text: &str) -> Result<Self, String> {
        let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        parse_renames(pairs, &FIELDS).map(|renamed| Self { renamed })
    }
}

/// Parses `FIELD=NAME` pairs: one of `fields`, and its name in the file.
///
/// # Errors
/// A message about the first invalid pair.
pub fn parse_renames<'p>(
    pairs: impl IntoIterator<Item = &'p str>,
    fields: &[&'static str],
) -> Result<Vec<(&'static str, String)>, String> {
    let mut renamed: Vec<(&'static str, String)> = Vec::new();
    for pair in pairs {
        let Some((field, name)) = pair.split_once('=').map(|(field, name)| (field.trim(), name.trim()))
        else {
            return Err(format!("`{pair}` has no `=`; write FIELD=NAME, as in `target=gold`"));
        };
        let Some(known) = fields.iter().find(|known| **known == field) else {
            let hint = crate::closest(field, fields)
                .map(|near| format!(" (did you mean `{near}`?)"))
                .unwrap_or_default();
            return Err(format!("unknown field `{field}`{hint}; expected one of {}", fields.join(", ")));
        };
        if name.is_empty() {
            return Err(format!("`{pair}` has no name after `=`; write `{field}=NAME`"));
        }
        if renamed.iter().any(|(other, _)| other == known) {
            return Err(format!("`{field}` is mapped twice; keep one"));
        }
        renamed.push((known, name.to_owned()));
    }
    Ok(renamed)
}

impl ColumnMap {
    /// The column name of a field.
    pub fn name_of<'a>(&'a self, field: &'a str) -> &'a str {
        self.renamed.iter().find(|(known, _)| *known == field).map_or(field, |(_, name)| name)
    }

    /// The fields with other names, and these names.
    pub fn renamed(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.renamed.iter().map(|(field, name)| (*field, name.as_str()))
    }

    /// The value of a field, by its name or a path such as `choices.text`; `None` if it is null.
    pub(super) fn find<'r>(&self, row: &'r Map<String, Value>, field: &str) -> Option<&'r Value> {
        let name = self.name_of(field);
        let found = row.get(name).or_else(|| {
            let mut path = name.split('.');
            let first = row.get(path.next()?)?;
            path.try_fold(first, |value, step| value.get(step))
        });
        found.filter(|value| !value.is_null())
    }
}
