// removed when all users name the new crate
pub(super) use reasonscape_ingest::answers::LineChunks as Blocks;
