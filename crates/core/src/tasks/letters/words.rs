//! Common English words, most of them with a letter that comes back.

use std::sync::LazyLock;

/// A word, in lower case and without hyphens.
pub(super) struct Word {
    pub(super) text: &'static str,
    /// How often it has each letter, from `a` as 0.
    pub(super) tally: [u8; 26],
    /// Which letters it has: one bit each, from `a` as the lowest.
    pub(super) letters: u32,
}

/// Every word, read once and kept as long as the program runs.
pub(super) static WORDS: LazyLock<Vec<&Word>> =
    LazyLock::new(|| TEXT.split_whitespace().map(|text| &*Box::leak(Box::new(Word::read(text)))).collect());

impl Word {
    fn read(text: &'static str) -> Self {
        let mut word = Self { text, tally: [0; 26], letters: 0 };
        for byte in text.bytes() {
            let letter = byte - b'a';
            word.tally[usize::from(letter)] += 1;
            word.letters |= 1 << letter;
        }
        word
    }
}

const TEXT: &str = "
    accept access across address afternoon airport alphabet animal answer anybody apartment appear apple
    arrange arrive artist attach attempt attend attic avenue balance balcony balloon banana basket battery
    beautiful because bedroom before begin believe better between bicycle blanket blossom bookshop borrow
    bottle bottom bracelet bread breakfast breeze bridge bright brother bubble bucket budget building
    button cabbage cabin calendar camera candle canyon captain career carpet carrot castle ceiling
    celebrate channel chapter cheerful cheese cherry chicken chimney chocolate church cinema circle
    classic cliff clock coconut coffee collect college comfort committee common company compass concert
    connect contact cookie copper corner correct corridor cottage cotton country cousin cricket curtain
    cushion customer dance daughter december deliver desert dessert detail different difficult dinner
    discover distance doctor dollar dragon drawer eager early elephant eleven engine enough entrance
    envelope evening every excellent exercise express fabric family famous farmer feather february fellow
    festival fifteen finger finish flannel flower follow forest forever forgotten fountain freedom friend
    furniture future gallery garage garden gentle giraffe glasses glitter goggles golden grammar
    grandfather grass greeting grocery guitar hammer happen harvest heather hello helmet history hobby
    holiday honest horizon hospital hotel hundred hurry illness imagine important indeed inside instead
    interest invitation island jacket january jelly jewel journey judge jungle kettle keyboard kitchen
    kitten ladder language lantern laughter leather lemonade lesson letter level library little lobster
    lovely luggage lullaby magazine mammal manner marble market marmalade massive matter meadow measure
    member memory message middle million minimum mirror missing moment monkey morning mother mountain
    muffin museum mushroom music narrow nation nature needle nineteen noodle notebook nothing november
    number object ocean october offer office onion opinion opposite orchard orchestra outside oxygen
    package paddle paint palace pancake paper parade parallel parcel parrot passenger pattern peanut
    pebble pencil penguin people pepper perfect person picnic picture pillow pineapple planet platform
    pleasure pocket popular possible potato powder present pretty process professor program project
    promise protect pumpkin purple puzzle quarter question quiet rabbit railroad rainbow reason receive
    recess referee regular remember repair report resource restaurant ribbon river rocket rubber runner
    saddle sandal satellite scissors season secret sentence september settle seventeen shadow shelter
    shoulder silver simple sister slipper snowman soccer sofa success suggest summer sunset supper
    surprise sweater symbol system tablet talent teacher telephone tennis terrace thirteen thousand
    thunder ticket tiger together tomato tomorrow torrent traffic treasure triangle trumpet tunnel turtle
    twelve twenty umbrella uncle uniform unusual useful vacation valley vanilla velvet village violin
    visitor volume voyage wagon wallet water weather wedding weekend welcome whisper window winter wonder
    yellow yesterday zebra zipper
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lowercase_and_distinct() {
        assert!(WORDS.len() > 300, "{} words", WORDS.len());
        assert!(WORDS.iter().all(|word| word.text.bytes().all(|byte| byte.is_ascii_lowercase())));
        assert!(WORDS.is_sorted_by(|a, b| a.text < b.text), "sorted, and so none comes twice");
    }

    /// Any letter can be asked for, so that words with it must be there to confound.
    #[test]
    fn every_letter_occurs() {
        assert_eq!(WORDS.iter().fold(0, |bits, word| bits | word.letters), (1 << 26) - 1);
    }
}
