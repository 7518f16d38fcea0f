//! Names of members, and words that stand as values.

/// Names: things and properties, none of which is the plural of another.
pub(super) const KEYS: [&str; 64] = [
    "address", "age", "amount", "area", "author", "badge", "balance", "batch", "branch", "budget", "center",
    "channel", "client", "code", "count", "crew", "deposit", "device", "draft", "engine", "factor", "field",
    "floor", "folder", "garden", "grade", "group", "height", "image", "index", "island", "journal", "label",
    "layer", "ledger", "length", "level", "limit", "margin", "market", "master", "model", "notice", "office",
    "order", "owner", "panel", "parcel", "phase", "planet", "price", "quota", "record", "region", "report",
    "room", "score", "sensor", "shelf", "station", "ticket", "track", "vendor", "weight",
];

/// Values: colors, trees and animals.
pub(super) const VALUES: [&str; 32] = [
    "amber", "ash", "beech", "birch", "black", "blue", "brown", "cat", "cedar", "dog", "elm", "fox", "goat",
    "gray", "green", "horse", "larch", "lion", "maple", "mouse", "oak", "orange", "owl", "pine", "pink",
    "purple", "red", "sheep", "tiger", "white", "willow", "yellow",
];
