//! Reading datasets, by the names before they moved.

// removed when all users name the new crate
pub(crate) use reasonscape_ingest::dataset_reader::{
    DatasetError as Unread, DatasetFormat as Reading, dataset_name as name_of, describe_problems as told,
    lines_are as how_many, sample_items as drawn,
};
