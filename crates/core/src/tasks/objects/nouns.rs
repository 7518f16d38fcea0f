//! Nouns of one obvious category each. What a dictionary would file under two of them is left out.

use std::sync::LazyLock;

/// Things of one kind.
pub(super) struct Category {
    /// What the question calls them.
    pub(super) name: &'static str,
    pub(super) nouns: Vec<Noun>,
}

/// A thing, one and many.
pub(super) struct Noun {
    pub(super) singular: &'static str,
    pub(super) plural: String,
}

/// The categories, which do not overlap.
pub(super) static CATEGORIES: LazyLock<[Category; 10]> = LazyLock::new(|| {
    LISTS.map(|(name, list)| Category { name, nouns: list.split_whitespace().map(Noun::read).collect() })
});

impl Noun {
    /// Reads `pear`, or `goose/geese` where the plural is not the regular one.
    fn read(entry: &'static str) -> Self {
        if let Some((singular, plural)) = entry.split_once('/') {
            return Self { singular, plural: plural.to_owned() };
        }
        let plural = match entry.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
            _ if entry.ends_with(['s', 'x']) || entry.ends_with("ch") || entry.ends_with("sh") => {
                format!("{entry}es")
            }
            _ => format!("{entry}s"),
        };
        Self { singular: entry, plural }
    }
}

const LISTS: [(&str, &str); 10] = [
    (
        "fruits",
        "apple apricot banana blackberry blueberry cherry cranberry fig gooseberry grape grapefruit guava
         lemon lychee mango/mangoes melon nectarine papaya peach pear pineapple plum pomegranate
         raspberry strawberry tangerine",
    ),
    (
        "birds",
        "blackbird canary crow dove duck eagle falcon flamingo goose/geese hawk heron hummingbird magpie
         nightingale ostrich owl parrot peacock pelican penguin pigeon puffin raven robin seagull sparrow
         stork swan vulture woodpecker",
    ),
    (
        "mammals",
        "badger bear beaver camel cat cow dog donkey elephant fox giraffe goat gorilla hedgehog horse
         kangaroo koala leopard lion llama monkey otter panda pig rabbit raccoon squirrel tiger
         wolf/wolves zebra",
    ),
    (
        "insects",
        "ant aphid bee beetle bumblebee butterfly cicada cockroach dragonfly earwig firefly flea
         grasshopper honeybee hornet ladybug locust mantis mayfly mosquito/mosquitoes moth termite wasp
         weevil",
    ),
    (
        "flowers",
        "begonia bluebell buttercup carnation chrysanthemum cornflower crocus daffodil dahlia daisy
         dandelion foxglove gardenia geranium hyacinth hydrangea lily marigold orchid peony petunia poppy
         primrose rose snowdrop sunflower tulip zinnia",
    ),
    (
        "tools",
        "awl axe blowtorch chainsaw chisel clamp crowbar hacksaw hammer handsaw hatchet jackhammer mallet
         pickaxe pitchfork rake screwdriver scythe shovel sickle sledgehammer spade trowel wrench",
    ),
    (
        "musical instruments",
        "accordion banjo bassoon bugle cello clarinet drum flute guitar harmonica harp lute lyre mandolin
         oboe piano piccolo saxophone sitar tambourine trombone trumpet tuba ukulele violin xylophone",
    ),
    (
        "pieces of clothing",
        "bathrobe blazer blouse cardigan coat dress glove hoodie jacket kimono mitten overcoat parka
         poncho pullover raincoat scarf/scarves shirt skirt sock stocking sweater swimsuit tunic
         turtleneck tuxedo waistcoat",
    ),
    (
        "pieces of furniture",
        "armchair barstool bed bench bookcase bookshelf/bookshelves cabinet chair couch cupboard daybed
         desk dresser footstool futon loveseat nightstand ottoman recliner sideboard sofa stool table
         wardrobe",
    ),
    (
        "vehicles",
        "ambulance bicycle bus car hatchback jeep limousine lorry minibus minivan moped motorbike
         motorcycle rickshaw scooter sedan snowmobile taxi tractor train tram tricycle truck van",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn categories_are_large_and_disjoint() {
        let mut seen = HashSet::new();
        for category in CATEGORIES.iter() {
            assert!(category.nouns.len() >= 24, "{}: {}", category.name, category.nouns.len());
            for noun in &category.nouns {
                assert!(
                    seen.insert(noun.singular) && seen.insert(&noun.plural),
                    "{} comes twice",
                    noun.singular
                );
            }
        }
    }

    #[test]
    fn plurals_are_correct() {
        for (entry, plural) in [
            ("pear", "pears"),
            ("cherry", "cherries"),
            ("monkey", "monkeys"),
            ("bus", "buses"),
            ("fox", "foxes"),
            ("bench", "benches"),
            ("goose/geese", "geese"),
        ] {
            assert_eq!(Noun::read(entry).plural, plural);
        }
    }
}
