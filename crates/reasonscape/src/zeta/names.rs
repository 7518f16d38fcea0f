// removed when all users name the new crate
pub(crate) use reasonscape_ingest::answers::FieldMap as Names;
