//! The effect of words around an equation.

use std::sync::LazyLock;

/// Words for arithmetic: their neighbors are operands of something that isn't written in signs.
const OPERATION_WORDS: &str = "mod sum add log sin cos tan max min gcd lcm abs exp int rem per xor and off by of to ln lg div pow \
     am pm plus less more than over from half sqrt ceil root base cube adds into down with mean minus \
     times twice third fifth tenth floor round power added point negative ratio fewer sixth range modulo \
     double triple thrice halves thirds fourth fifths tenths choose square adding cubed median o'clock \
     divided quarter quarters squared product doubled tripled halved average ceiling reduced modulus \
     raised subtract multiply multiplied quotient factorial absolute subtracted remainder quadruple \
     difference increased decreased subtracting multiplying dividing between concatenated";
/// Numbers in words, and words that multiply the number before them.
const SCALE_WORDS: &str = "k mm bn mil one two six ten zero four five nine three seven eight eleven twelve twenty thirty forty \
     fifty sixty seventy eighty ninety pair pairs couple dozen dozens score gross hundred hundreds \
     thousand thousands million millions billion billions trillion lakh crore hundredth hundredths \
     thousandths";
/// Words that end a quantity, since they aren't units.
const FUNCTION_WORDS: &str = "a i an as at be do he if in is it me my no on or so up us we all any are but can did for get had has \
     her his how its let may nor not now our out she the was who why yet you also been both does else \
     even gave give have here just make must only onto that them then they this thus upon were what when \
     will your about after again because before being could equal equals every given gives hence makes \
     might shall should since still their there these those until where which while would therefore \
     whereas meaning that's it's";
/// Words that negate a sentence, like those that end in "n't".
const NEGATIONS: &str = "n't not never cannot wrong wrongly incorrect incorrectly false falsely untrue invalid mistake \
     mistaken mistakenly error erroneous erroneously impossible contradiction contradicts misconception \
     absurd nonsense neither instead without unlike";
/// Words that show another notation or another arithmetic.
const REDEFINITIONS: &str = "mod base modulo modular modulus binary octal hex hexadecimal clock xor bitwise pattern puzzle cipher \
     defined operator operation symbol rule digit digits concatenate concatenation string strings \
     matchsticks roman carry wraps wrap";
/// Words that make a clause hypothetical.
const HYPOTHETICALS: &str = "if suppose supposing assume assumes assuming imagine whether unless say says said might may no try \
     trying tried guess guessing claim claims claimed claiming does wrote writes thought thinks pretend \
     hypothetically student's";
/// Words that correct the text before them.
const CORRECTIONS: &str = "no wait oops sorry actually correction hmm hm scratch rather nope whoops recheck recalculate \
     recompute redo typo should would";
/// Words before a rounded result.
const ROUNDING_WORDS: &str = "about around approx nearly almost roughly approximately circa";
/// Words after a rounded result.
const ROUNDING_WORDS_AFTER: &str = "round rounds rounded rounding nearest ish truncated estimate estimated";
/// Words that a number follows as a name: day 3, step 2.
const LABELS: &str = "age ages april aprils august augusts box boxs bus car cars case cases chapter chapters column \
     columns day december decembers eq equation equations example examples february figure figures friday \
     grade grades group groups hour hours index indexs item items january july june junes level levels \
     line lines march marchs may method methods minute minutes monday month months node nodes november \
     novembers number numbers october octobers option options page pages part parts person persons phase \
     phases place places player players position positions problem problems question questions rank ranks \
     room rooms round rounds row rows s section sections september septembers ss stage stages step steps \
     sunday table tables team teams term terms train trains version versions week weeks year years";
/// Words after which a single number may start an equation: "that is 12 = 3 * 4".
const ANSWER_INTRODUCTIONS: &str = "is are so equals thus hence therefore then be because since";
/// Words for the remainder of a division.
const REMAINDER_WORDS: &str = "remainder remainders remaining remains rem r leftover leftovers";

/// Units that can be converted into each other, a family a line; names of one unit are joined by `/`.
const UNITS: [(Family, &str); 7] = [
    (
        Family::Time,
        "second/seconds/sec/secs/s minute/minutes/min/mins hour/hours/hr/hrs/h day/days week/weeks month/months \
         year/years/yr/yrs",
    ),
    (
        Family::Length,
        "mm/millimeters/millimetres cm/centimeter/centimeters/centimetres m/meter/meters/metre/metres \
         km/kilometer/kilometers/kilometre/kilometres inch/inches/in foot/feet/ft yard/yards/yd/yds mile/miles/mi",
    ),
    (
        Family::Mass,
        "mg/milligrams g/gram/grams kg/kgs/kilogram/kilograms lb/lbs/pound/pounds oz/ounce/ounces ton/tons/tonnes",
    ),
    (
        Family::Volume,
        "ml/milliliters/millilitres l/liter/liters/litre/litres cup/cups pint/pints quart/quarts \
         gallon/gallons/gal tbsp/tablespoon/tablespoons tsp/teaspoon/teaspoons",
    ),
    (
        Family::Money,
        "dollar/dollars/usd/bucks cent/cents/penny/pennies nickel/nickels dime/dimes euro/euros/eur",
    ),
    (Family::Speed, "mph kph/kmh fps knots"),
    (Family::Data, "bits bytes kb mb gb tb"),
];

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Time,
    Length,
    Mass,
    Volume,
    Money,
    Speed,
    Data,
}

/// A unit that can be converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) family: Family,
    /// Position of the unit in the list of its family.
    index: u8,
}

impl Unit {
    /// The unit of a currency sign.
    pub(super) const CURRENCY: Unit = Unit { family: Family::Money, index: 0 };
}

/// The roles of a word, a bit each.
#[derive(Clone, Copy)]
enum Role {
    Computes = 1,
    Scales = 1 << 1,
    Function = 1 << 2,
    Denies = 1 << 3,
    Redefines = 1 << 4,
    Supposes = 1 << 5,
    Corrects = 1 << 6,
    Rounds = 1 << 7,
    RoundsAfter = 1 << 8,
    Labels = 1 << 9,
    Presents = 1 << 10,
    Remains = 1 << 11,
}

const LISTS: [(&str, Role); 12] = [
    (OPERATION_WORDS, Role::Computes),
    (SCALE_WORDS, Role::Scales),
    (FUNCTION_WORDS, Role::Function),
    (NEGATIONS, Role::Denies),
    (REDEFINITIONS, Role::Redefines),
    (HYPOTHETICALS, Role::Supposes),
    (CORRECTIONS, Role::Corrects),
    (ROUNDING_WORDS, Role::Rounds),
    (ROUNDING_WORDS_AFTER, Role::RoundsAfter),
    (LABELS, Role::Labels),
    (ANSWER_INTRODUCTIONS, Role::Presents),
    (REMAINDER_WORDS, Role::Remains),
];

/// All words of the lists, by their letters.
static WORDS: LazyLock<Vec<Word>> = LazyLock::new(|| {
    let mut words: Vec<Word> = Vec::new();
    for (list, role) in LISTS {
        words.extend(list.split_whitespace().map(|word| Word {
            letters: letters(word),
            roles: role as u16,
            unit: None,
        }));
    }
    for (family, units) in UNITS {
        for (index, names) in units.split_whitespace().enumerate() {
            let unit = Some(Unit { family, index: index as u8 });
            words.extend(names.split('/').map(|name| Word { letters: letters(name), roles: 0, unit }));
        }
    }
    words.sort_unstable_by_key(|word| word.letters);
    words.dedup_by(|next, merged| {
        let same = next.letters == merged.letters;
        if same {
            merged.roles |= next.roles;
            merged.unit = merged.unit.or(next.unit);
        }
        same
    });
    words
});

/// Whether a word is a letter or the name of a segment, `AB`, rather than a unit.
pub(super) fn is_variable(word: &str) -> bool {
    word.chars().count() == 1
        || (word.len() <= 3
            && word.bytes().all(|byte| byte.is_ascii_uppercase())
            && Word::new(word).unit().is_none())
}

/// Whether a word of several letters is the symbol of a unit with its prefix: `MHz`, `kW`, `mL`.
pub(super) fn is_si_symbol(word: &str) -> bool {
    const BASES: &str = " Hz W Wh J eV V A N Pa F H mol pc cal B m g s L l K T C ";
    const PREFIXES: [char; 13] = ['k', 'M', 'G', 'T', 'm', 'µ', 'μ', 'u', 'n', 'p', 'c', 'd', 'h'];
    let is_base = |base: &str| BASES.split(' ').any(|known| !base.is_empty() && known == base);
    (2..=5).contains(&word.len()) && (is_base(word) || word.strip_prefix(PREFIXES).is_some_and(is_base))
}

/// Up to 16 letters in lower case, as a number; 0 when there are more, or others than ASCII's.
#[inline]
fn letters(word: &str) -> u128 {
    let mut letters = 0_u128;
    for byte in word.bytes() {
        let byte = match byte {
            // A typographic apostrophe is read as a plain one.
            0xE2 | 0x80 => continue,
            0x99 => b'\'',
            _ => byte.to_ascii_lowercase(),
        };
        if letters >> 120 != 0 || !byte.is_ascii() {
            return 0;
        }
        letters = letters << 8 | u128::from(byte);
    }
    letters
}

/// The properties of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    letters: u128,
    roles: u16,
    unit: Option<Unit>,
}

impl Word {
    pub(super) fn new(word: &str) -> Self {
        let letters = letters(word);
        match WORDS.binary_search_by_key(&letters, |known| known.letters) {
            Ok(index) => WORDS[index],
            Err(_) => Self { letters, roles: 0, unit: None },
        }
    }

    fn has(self, role: Role) -> bool {
        self.roles & role as u16 != 0
    }

    #[inline]
    pub(super) fn is(self, word: &str) -> bool {
        self.letters == letters(word)
    }

    pub(super) fn is_one_of(self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    pub(super) fn is_operation(self) -> bool {
        self.has(Role::Computes) || self.has(Role::Scales)
    }

    pub(super) fn is_scale(self) -> bool {
        self.has(Role::Scales)
    }

    pub(super) fn is_function_word(self) -> bool {
        self.has(Role::Function) || self.is_operation() || self.is_negation() || self.is_correction()
    }

    pub(super) fn is_negation(self) -> bool {
        const NOT: u128 = (b'n' as u128) << 16 | (b'\'' as u128) << 8 | b't' as u128;
        self.has(Role::Denies) || self.letters & 0xFF_FFFF == NOT
    }

    pub(super) fn is_redefinition(self) -> bool {
        self.has(Role::Redefines)
    }

    pub(super) fn is_hypothetical(self) -> bool {
        self.has(Role::Supposes)
    }

    pub(super) fn is_correction(self) -> bool {
        self.has(Role::Corrects)
    }

    pub(super) fn is_rounding(self) -> bool {
        self.has(Role::Rounds)
    }

    pub(super) fn is_rounding_after(self) -> bool {
        self.has(Role::Rounds) || self.has(Role::RoundsAfter)
    }

    pub(super) fn is_label(self) -> bool {
        self.has(Role::Labels)
    }

    pub(super) fn introduces_answer(self) -> bool {
        self.has(Role::Presents)
    }

    pub(super) fn is_remainder(self) -> bool {
        self.has(Role::Remains)
    }

    /// Verbs whose object is elsewhere: "multiply it by 3 + 4".
    pub(super) fn is_arithmetic_verb(self) -> bool {
        const STEMS: [&str; 8] = ["multipl", "divid", "add", "subtract", "rais", "power", "sum", "product"];
        let length = 16 - self.letters.leading_zeros() / 8;
        self.is_scale()
            || STEMS.iter().any(|stem| {
                let size = stem.len() as u32;
                length >= size && self.letters >> (8 * (length - size)) == letters(stem)
            })
    }

    /// A unit that can be converted into others, with the family in which it can.
    pub(super) fn unit(self) -> Option<Unit> {
        self.unit
    }

    /// Whether it may follow a number without a space, as `km` in `5km`.
    pub(super) fn is_abbreviation(self) -> bool {
        self.letters > 0xFF && self.unit.is_some()
    }
}
