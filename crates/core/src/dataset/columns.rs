//! What the fields of an item are called in somebody's file.

use serde_json::{Map, Value};

/// The fields of an item.
const FIELDS: [&str; 7] = ["id", "input", "target", "options", "category", "context", "metadata"];

/// Where each field of an item stands, if not under its own name.
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

    /// Reads `field=name` pairs, with commas between them.
    fn from_str(text: &str) -> Result<Self, String> {
        let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        parse_renames(pairs, &FIELDS).map(|renamed| Self { renamed })
    }
}

/// Parses `FIELD=NAME` pairs: one of `fields`, and what it is called in a file.
///
/// # Errors
/// A sentence about the first pair that is invalid.
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
            return Err(format!("there is no field `{field}`{hint}; there are {}", fields.join(", ")));
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
    /// The name under which a field is looked for.
    pub fn name_of<'a>(&'a self, field: &'a str) -> &'a str {
        self.renamed.iter().find(|(known, _)| *known == field).map_or(field, |(_, name)| name)
    }

    /// The value of a field: under its name, or along a path such as `choices.text`. Null is nothing.
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
