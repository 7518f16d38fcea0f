//! Word lists of our own: common, inoffensive words.

/// Words to be put in order, of three to eight letters; none reads badly behind the beginnings below.
pub(super) const WORDS: &[&str] = &[
    "acorn", "address", "almond", "anchor", "animal", "answer", "apple", "apron", "arch", "arrow", "autumn",
    "avenue", "bacon", "badge", "bag", "balcony", "ball", "bamboo", "banana", "band", "barn", "barrel",
    "basket", "battery", "beach", "bean", "bear", "bell", "bench", "berry", "bicycle", "bird", "biscuit",
    "blanket", "board", "boat", "book", "bottle", "bowl", "box", "branch", "brass", "bread", "breeze",
    "brick", "bridge", "brook", "broom", "brush", "bucket", "building", "bus", "butter", "button", "cabin",
    "cable", "cactus", "cake", "calendar", "camel", "camera", "canal", "candle", "canoe", "canvas", "cap",
    "car", "card", "carpet", "carrot", "cart", "castle", "ceiling", "cellar", "chain", "chair", "chalk",
    "cheese", "cherry", "chess", "chicken", "chimney", "circle", "city", "clay", "clock", "cloth", "cloud",
    "clover", "coast", "coat", "coffee", "coin", "collar", "comet", "compass", "concert", "cookie", "copper",
    "coral", "corn", "corner", "cottage", "cotton", "couch", "counter", "country", "cream", "creek", "crown",
    "cup", "curtain", "cushion", "daisy", "dawn", "deck", "desert", "desk", "diamond", "dinner", "dolphin",
    "door", "dragon", "drawer", "dress", "drum", "duck", "eagle", "ear", "earth", "elbow", "elephant",
    "engine", "envelope", "evening", "fabric", "factory", "farm", "feather", "fence", "fern", "field",
    "finger", "fire", "fish", "flag", "flame", "floor", "flour", "flower", "flute", "foil", "forest", "fork",
    "fountain", "fox", "frame", "frog", "fruit", "garage", "garden", "garlic", "gate", "giraffe", "glass",
    "globe", "glove", "goat", "gold", "grape", "grass", "gravel", "guitar", "hammer", "hand", "harbor",
    "harp", "hat", "hill", "honey", "horse", "hotel", "house", "ice", "island", "ivory", "jacket", "jam",
    "jar", "jewel", "juice", "kettle", "key", "kitchen", "kite", "ladder", "lake", "lamp", "lantern", "leaf",
    "lemon", "letter", "library", "lily", "lion", "lizard", "lunch", "magnet", "map", "maple", "marble",
    "market", "meadow", "melon", "milk", "mill", "mirror", "mitten", "monkey", "moon", "morning", "mountain",
    "mouse", "museum", "music", "napkin", "needle", "nest", "net", "notebook", "oak", "ocean", "olive",
    "onion", "orange", "orchard", "oven", "owl", "paddle", "page", "paint", "palace", "paper", "parade",
    "park", "parrot", "pasture", "path", "pear", "pebble", "pen", "pencil", "penguin", "pepper", "piano",
    "picture", "pillow", "pine", "pizza", "planet", "plate", "plum", "pocket", "pond", "potato", "pottery",
    "puzzle", "quarry", "queen", "quilt", "rabbit", "radio", "rain", "rainbow", "ribbon", "rice", "ring",
    "river", "road", "rocket", "roof", "room", "rope", "rose", "ruler", "saddle", "sail", "salad", "salt",
    "sand", "sandwich", "scarf", "school", "scissors", "shadow", "sheep", "shelf", "ship", "shirt", "shoe",
    "shore", "silk", "silver", "sky", "snow", "soap", "sock", "sofa", "soup", "spoon", "spring", "square",
    "stable", "stair", "stamp", "star", "station", "statue", "stone", "storm", "stove", "street", "string",
    "sugar", "summer", "sun", "table", "tea", "teapot", "tent", "theater", "thread", "throne", "ticket",
    "tiger", "tile", "toast", "tomato", "towel", "tower", "town", "tractor", "train", "tree", "trumpet",
    "tulip", "tunnel", "turtle", "valley", "vase", "velvet", "village", "violin", "wagon", "wall", "walnut",
    "water", "wave", "whale", "wheat", "wheel", "whistle", "window", "winter", "wolf", "wood", "wool",
    "yard", "yarn", "zebra",
];

/// Words of six letters whose prefixes are combined with other words: `garden` gives `gardenlamp`, and `gar` `garlamp`.
pub(super) const PREFIX_WORDS: &[&str] = &[
    "basket", "bridge", "candle", "carpet", "castle", "copper", "forest", "garden", "hammer", "island",
    "kettle", "ladder", "marble", "market", "meadow", "mirror", "monkey", "needle", "parrot", "pepper",
    "planet", "ribbon", "rocket", "saddle", "silver", "spring", "stable", "summer", "throne", "tunnel",
    "valley", "velvet", "violet", "walnut", "window", "winter", "yellow",
];
