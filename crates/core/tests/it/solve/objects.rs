//! A reader with a vocabulary: the last word of an entry tells the category, whatever stands before it.

use super::between;

/// What a reader knows: the nouns of each category in the singular, and the stems of irregular plurals.
const VOCABULARY: &[(&str, &str)] = &[
    (
        "fruits",
        "apple apricot banana blackberry blueberry cherry cranberry fig gooseberry grape grapefruit guava
         lemon lychee mango melon nectarine papaya peach pear pineapple plum pomegranate raspberry
         strawberry tangerine",
    ),
    (
        "birds",
        "blackbird canary crow dove duck eagle falcon flamingo goose geese hawk heron hummingbird magpie
         nightingale ostrich owl parrot peacock pelican penguin pigeon puffin raven robin seagull sparrow
         stork swan vulture woodpecker",
    ),
    (
        "mammals",
        "badger bear beaver camel cat cow dog donkey elephant fox giraffe goat gorilla hedgehog horse
         kangaroo koala leopard lion llama monkey otter panda pig rabbit raccoon squirrel tiger wolf
         wolve zebra",
    ),
    (
        "insects",
        "ant aphid bee beetle bumblebee butterfly cicada cockroach dragonfly earwig firefly flea
         grasshopper honeybee hornet ladybug locust mantis mayfly mosquito moth termite wasp weevil",
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
         poncho pullover raincoat scarf scarve shirt skirt sock stocking sweater swimsuit tunic
         turtleneck tuxedo waistcoat",
    ),
    (
        "pieces of furniture",
        "armchair barstool bed bench bookcase bookshelf bookshelve cabinet chair couch cupboard daybed
         desk dresser footstool futon loveseat nightstand ottoman recliner sideboard sofa stool table
         wardrobe",
    ),
    (
        "vehicles",
        "ambulance bicycle bus car hatchback jeep limousine lorry minibus minivan moped motorbike
         motorcycle rickshaw scooter sedan snowmobile taxi tractor train tram tricycle truck van",
    ),
];

const NUMBERS: &str = "zero one two three four five six seven eight nine ten eleven twelve";

/// An entry of the list as it was read.
pub(crate) struct Entry {
    pub(crate) quantity: usize,
    pub(crate) spelled: bool,
    pub(crate) adjectives: usize,
    pub(crate) counts: bool,
}

pub(crate) fn solve(prompt: &str) -> String {
    assert!(prompt.contains("Add up their quantities."));
    entries(prompt).iter().filter(|entry| entry.counts).map(|entry| entry.quantity).sum::<usize>().to_string()
}

/// The categories that the question asks for.
pub(crate) fn asked_categories(prompt: &str) -> Vec<&str> {
    between(prompt, "How many ", " are there").split(", ").flat_map(|part| part.split(" and ")).collect()
}

pub(crate) fn entries(prompt: &str) -> Vec<Entry> {
    let asked_categories = asked_categories(prompt);
    between(prompt, "things:\n\n", "\n\n")
        .split(", ")
        .map(|text| {
            let words: Vec<&str> = text.split(' ').collect();
            let spelled = NUMBERS.split(' ').position(|number| number == words[0]);
            let quantity = spelled.unwrap_or_else(|| words[0].parse().expect("a quantity"));
            let noun = words[words.len() - 1];
            assert_eq!(quantity == 1, is_singular(noun), "{text}");
            let counts = asked_categories.contains(&category(noun));
            Entry { quantity, spelled: spelled.is_some(), adjectives: words.len() - 2, counts }
        })
        .collect()
}

fn is_singular(noun: &str) -> bool {
    noun != "geese" && VOCABULARY.iter().any(|(_, list)| list.split_whitespace().any(|word| word == noun))
}

/// Tries the noun as it stands, without the endings of a plural, and with `y` for `ies`.
fn category(noun: &str) -> &'static str {
    let mut readings = vec![noun.to_owned()];
    readings.extend(["s", "es"].iter().filter_map(|ending| noun.strip_suffix(ending)).map(str::to_owned));
    readings.extend(noun.strip_suffix("ies").map(|stem| format!("{stem}y")));
    VOCABULARY
        .iter()
        .find(|(_, list)| list.split_whitespace().any(|word| readings.iter().any(|reading| reading == word)))
        .unwrap_or_else(|| panic!("unknown noun: {noun}"))
        .0
}
