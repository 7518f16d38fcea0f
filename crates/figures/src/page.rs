//! Pages.

use crate::model::Figure;

pub(crate) fn page(_figure: &Figure) -> String {
    String::new()
}

pub(crate) fn fragment(_figure: &Figure, _id: &str) -> String {
    String::new()
}
