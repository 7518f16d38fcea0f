//! What the words around an equation do to it.

/// A word in lower-case ASCII; empty when it is too long or has other letters, as no word of the lists does.
pub(super) struct Folded {
    letters: [u8; Self::MOST],
    length: usize,
}

impl Folded {
    const MOST: usize = 16;

    pub(super) fn new(word: &str) -> Self {
        let mut letters = [0; Self::MOST];
        let mut length = 0;
        // A typographic apostrophe is a plain one.
        for byte in word.bytes().filter(|&byte| byte != 0xE2 && byte != 0x80) {
            let byte = if byte == 0x99 { b'\'' } else { byte.to_ascii_lowercase() };
            if length == Self::MOST || !byte.is_ascii() {
                length = 0;
                break;
            }
            letters[length] = byte;
            length += 1;
        }
        Self { letters, length }
    }

    fn get(&self) -> &[u8] {
        &self.letters[..self.length]
    }

    /// Words that do arithmetic: what stands beside them is an operand of something that is not written in signs.
    pub(super) fn computes(&self) -> bool {
        match self.get() {
            b"mod" | b"sum" | b"add" | b"log" | b"sin" | b"cos" | b"tan" | b"max" | b"min" | b"gcd"
            | b"lcm" | b"abs" | b"exp" | b"int" | b"rem" | b"per" | b"xor" | b"and" | b"off" | b"by"
            | b"of" | b"to" | b"ln" | b"lg" | b"div" | b"pow" | b"am" | b"pm" => true,
            b"plus" | b"less" | b"more" | b"than" | b"over" | b"from" | b"half" | b"sqrt" | b"ceil"
            | b"root" | b"base" | b"cube" | b"adds" | b"into" | b"down" | b"with" | b"mean" => true,
            b"minus" | b"times" | b"twice" | b"third" | b"fifth" | b"tenth" | b"floor" | b"round"
            | b"power" | b"added" | b"point" | b"negative" | b"ratio" | b"fewer" | b"sixth" | b"range" => {
                true
            }
            b"modulo" | b"double" | b"triple" | b"thrice" | b"halves" | b"thirds" | b"fourth" | b"fifths"
            | b"tenths" | b"choose" | b"square" | b"adding" | b"cubed" | b"median" | b"o'clock" => true,
            b"divided" | b"quarter" | b"quarters" | b"squared" | b"product" | b"doubled" | b"tripled"
            | b"halved" | b"average" | b"ceiling" | b"reduced" | b"modulus" | b"raised" | b"subtract" => true,
            b"multiply" | b"multiplied" | b"quotient" | b"factorial" | b"absolute" | b"subtracted"
            | b"remainder" | b"quadruple" | b"difference" | b"increased" | b"decreased" | b"subtracting"
            | b"multiplying" | b"dividing" | b"between" | b"concatenated" => true,
            _ => self.scales(),
        }
    }

    /// Verbs whose object is elsewhere: "multiply it by 3 + 4".
    pub(super) fn works(&self) -> bool {
        let word = self.get();
        [
            &b"multipl"[..],
            b"divid",
            b"add",
            b"subtract",
            b"raise",
            b"power",
            b"sum",
            b"product",
            b"differ",
            b"rais",
        ]
        .iter()
        .any(|start| word.starts_with(start))
            || self.scales()
    }

    /// Numbers in words and words that multiply the number before them.
    pub(super) fn scales(&self) -> bool {
        matches!(
            self.get(),
            b"k" | b"mm"
                | b"bn"
                | b"mil"
                | b"one"
                | b"two"
                | b"six"
                | b"ten"
                | b"zero"
                | b"four"
                | b"five"
                | b"nine"
                | b"three"
                | b"seven"
                | b"eight"
                | b"eleven"
                | b"twelve"
                | b"twenty"
                | b"thirty"
                | b"forty"
                | b"fifty"
                | b"sixty"
                | b"seventy"
                | b"eighty"
                | b"ninety"
                | b"pair"
                | b"pairs"
                | b"couple"
                | b"dozen"
                | b"dozens"
                | b"score"
                | b"gross"
                | b"hundred"
                | b"hundreds"
                | b"thousand"
                | b"thousands"
                | b"million"
                | b"millions"
                | b"billion"
                | b"billions"
                | b"trillion"
                | b"lakh"
                | b"crore"
                | b"hundredth"
                | b"hundredths"
                | b"thousandths"
        )
    }

    /// Words that end a quantity: no unit is called like that.
    pub(super) fn is_function_word(&self) -> bool {
        match self.get() {
            b"a" | b"i" => true,
            b"an" | b"as" | b"at" | b"be" | b"do" | b"he" | b"if" | b"in" | b"is" | b"it" | b"me" | b"my"
            | b"no" | b"on" | b"or" | b"so" | b"up" | b"us" | b"we" => true,
            b"all" | b"any" | b"are" | b"but" | b"can" | b"did" | b"for" | b"get" | b"had" | b"has"
            | b"her" | b"his" | b"how" | b"its" | b"let" | b"may" | b"nor" | b"not" | b"now" | b"our"
            | b"out" | b"she" | b"the" | b"was" | b"who" | b"why" | b"yet" | b"you" => true,
            b"also" | b"been" | b"both" | b"does" | b"else" | b"even" | b"gave" | b"give" | b"have"
            | b"here" | b"just" | b"make" | b"must" | b"only" | b"onto" | b"that" | b"them" | b"then"
            | b"they" | b"this" | b"thus" | b"upon" | b"were" | b"what" | b"when" | b"will" | b"your" => true,
            b"about" | b"after" | b"again" | b"because" | b"before" | b"being" | b"could" | b"equal"
            | b"equals" | b"every" | b"given" | b"gives" | b"hence" | b"makes" | b"might" | b"shall"
            | b"should" | b"since" | b"still" | b"their" | b"there" | b"these" | b"those" | b"until"
            | b"where" | b"which" | b"while" | b"would" | b"therefore" | b"whereas" | b"meaning"
            | b"that's" | b"it's" => true,
            _ => self.computes() || self.denies() || self.corrects(),
        }
    }

    /// Words that take back what a sentence says.
    pub(super) fn denies(&self) -> bool {
        let word = self.get();
        word.ends_with(b"n't")
            || matches!(
                word,
                b"not"
                    | b"never"
                    | b"cannot"
                    | b"wrong"
                    | b"wrongly"
                    | b"incorrect"
                    | b"incorrectly"
                    | b"false"
                    | b"falsely"
                    | b"untrue"
                    | b"invalid"
                    | b"mistake"
                    | b"mistaken"
                    | b"mistakenly"
                    | b"error"
                    | b"erroneous"
                    | b"erroneously"
                    | b"impossible"
                    | b"contradiction"
                    | b"contradicts"
                    | b"misconception"
                    | b"absurd"
                    | b"nonsense"
                    | b"neither"
                    | b"instead"
                    | b"without"
                    | b"unlike"
            )
    }

    /// Words that show another notation or another arithmetic.
    pub(super) fn redefines(&self) -> bool {
        matches!(
            self.get(),
            b"mod"
                | b"base"
                | b"modulo"
                | b"modular"
                | b"modulus"
                | b"binary"
                | b"octal"
                | b"hex"
                | b"hexadecimal"
                | b"clock"
                | b"xor"
                | b"bitwise"
                | b"pattern"
                | b"puzzle"
                | b"cipher"
                | b"defined"
                | b"operator"
                | b"operation"
                | b"symbol"
                | b"rule"
                | b"digit"
                | b"digits"
                | b"concatenate"
                | b"concatenation"
                | b"string"
                | b"strings"
                | b"matchsticks"
                | b"roman"
                | b"carry"
                | b"wraps"
                | b"wrap"
        )
    }

    /// Words that make a clause a mere thought.
    pub(super) fn supposes(&self) -> bool {
        matches!(
            self.get(),
            b"if"
                | b"suppose"
                | b"supposing"
                | b"assume"
                | b"assumes"
                | b"assuming"
                | b"imagine"
                | b"whether"
                | b"unless"
                | b"say"
                | b"says"
                | b"said"
                | b"might"
                | b"may"
                | b"no"
                | b"try"
                | b"trying"
                | b"tried"
                | b"guess"
                | b"guessing"
                | b"claim"
                | b"claims"
                | b"claimed"
                | b"claiming"
                | b"does"
                | b"wrote"
                | b"writes"
                | b"thought"
                | b"thinks"
                | b"pretend"
                | b"hypothetically"
                | b"student's"
        )
    }

    /// Words that correct what was just said.
    pub(super) fn corrects(&self) -> bool {
        matches!(
            self.get(),
            b"no"
                | b"wait"
                | b"oops"
                | b"sorry"
                | b"actually"
                | b"correction"
                | b"hmm"
                | b"hm"
                | b"scratch"
                | b"rather"
                | b"nope"
                | b"whoops"
                | b"recheck"
                | b"recalculate"
                | b"recompute"
                | b"redo"
                | b"typo"
                | b"should"
                | b"were"
                | b"would"
        )
    }

    /// Words that say that a result is rounded.
    pub(super) fn rounds(&self) -> bool {
        matches!(
            self.get(),
            b"about"
                | b"around"
                | b"approx"
                | b"nearly"
                | b"almost"
                | b"roughly"
                | b"approximately"
                | b"circa"
        )
    }

    /// As [`rounds`](Self::rounds), said after the result.
    pub(super) fn rounds_after(&self) -> bool {
        matches!(
            self.get(),
            b"round"
                | b"rounds"
                | b"rounded"
                | b"rounding"
                | b"nearest"
                | b"ish"
                | b"truncated"
                | b"estimate"
                | b"estimated"
        ) || self.rounds()
    }

    /// Words that a number follows as a name: day 3, step 2.
    pub(super) fn labels(&self) -> bool {
        let word = self.get();
        let word = word.strip_suffix(b"s").unwrap_or(word);
        matches!(
            word,
            b"day"
                | b"week"
                | b"month"
                | b"year"
                | b"hour"
                | b"minute"
                | b"step"
                | b"case"
                | b"part"
                | b"question"
                | b"problem"
                | b"option"
                | b"method"
                | b"example"
                | b"line"
                | b"item"
                | b"number"
                | b"equation"
                | b"eq"
                | b"stage"
                | b"phase"
                | b"level"
                | b"chapter"
                | b"page"
                | b"figure"
                | b"table"
                | b"group"
                | b"box"
                | b"player"
                | b"person"
                | b"team"
                | b"room"
                | b"bu"
                | b"train"
                | b"car"
                | b"round"
                | b"row"
                | b"column"
                | b"section"
                | b"grade"
                | b"age"
                | b"version"
                | b"position"
                | b"index"
                | b"place"
                | b"rank"
                | b"node"
                | b"term"
                | b"january"
                | b"february"
                | b"march"
                | b"april"
                | b"may"
                | b"june"
                | b"july"
                | b"august"
                | b"september"
                | b"october"
                | b"november"
                | b"december"
                | b"monday"
                | b"friday"
                | b"sunday"
        )
    }

    /// Words after which a lone number may start an equation: "that is 12 = 3 * 4".
    pub(super) fn presents(&self) -> bool {
        matches!(
            self.get(),
            b"is"
                | b"are"
                | b"so"
                | b"equals"
                | b"thus"
                | b"hence"
                | b"therefore"
                | b"then"
                | b"be"
                | b"because"
                | b"since"
        )
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.get() == word.as_bytes()
    }

    /// Whether this is how the part that remains is introduced after a division.
    pub(super) fn remains(&self) -> bool {
        matches!(
            self.get(),
            b"remainder"
                | b"remainders"
                | b"remaining"
                | b"remains"
                | b"rem"
                | b"r"
                | b"leftover"
                | b"leftovers"
        )
    }

    /// A unit that can be converted into others, with the family in which it can.
    pub(super) fn unit(&self) -> Option<Unit> {
        use Family::{Data, Length, Mass, Money, Speed, Time, Volume};
        let word = self.get();
        let place = |family: Family, names: &[&[&[u8]]]| {
            let found = names.iter().position(|names| names.contains(&word))?;
            Some(Unit { family, place: found as u8 })
        };
        place(
            Time,
            &[
                &[b"second", b"seconds", b"sec", b"secs", b"s"],
                &[b"minute", b"minutes", b"min", b"mins"],
                &[b"hour", b"hours", b"hr", b"hrs", b"h"],
                &[b"day", b"days"],
                &[b"week", b"weeks"],
                &[b"month", b"months"],
                &[b"year", b"years", b"yr", b"yrs"],
            ],
        )
        .or_else(|| {
            place(
                Length,
                &[
                    &[b"mm", b"millimeters", b"millimetres"],
                    &[b"cm", b"centimeter", b"centimeters", b"centimetres"],
                    &[b"m", b"meter", b"meters", b"metre", b"metres"],
                    &[b"km", b"kilometer", b"kilometers", b"kilometre", b"kilometres"],
                    &[b"inch", b"inches", b"in"],
                    &[b"foot", b"feet", b"ft"],
                    &[b"yard", b"yards", b"yd", b"yds"],
                    &[b"mile", b"miles", b"mi"],
                ],
            )
        })
        .or_else(|| {
            place(
                Mass,
                &[
                    &[b"mg", b"milligrams"],
                    &[b"g", b"gram", b"grams"],
                    &[b"kg", b"kgs", b"kilogram", b"kilograms"],
                    &[b"lb", b"lbs", b"pound", b"pounds"],
                    &[b"oz", b"ounce", b"ounces"],
                    &[b"ton", b"tons", b"tonnes"],
                ],
            )
        })
        .or_else(|| {
            place(
                Volume,
                &[
                    &[b"ml", b"milliliters", b"millilitres"],
                    &[b"l", b"liter", b"liters", b"litre", b"litres"],
                    &[b"cup", b"cups"],
                    &[b"pint", b"pints"],
                    &[b"quart", b"quarts"],
                    &[b"gallon", b"gallons", b"gal"],
                    &[b"tbsp", b"tablespoon", b"tablespoons"],
                    &[b"tsp", b"teaspoon", b"teaspoons"],
                ],
            )
        })
        .or_else(|| {
            place(
                Money,
                &[
                    &[b"dollar", b"dollars", b"usd", b"bucks"],
                    &[b"cent", b"cents", b"penny", b"pennies"],
                    &[b"nickel", b"nickels"],
                    &[b"dime", b"dimes"],
                    &[b"euro", b"euros", b"eur"],
                ],
            )
        })
        .or_else(|| place(Speed, &[&[b"mph"], &[b"kph", b"kmh"], &[b"fps"], &[b"knots"]]))
        .or_else(|| place(Data, &[&[b"bits"], &[b"bytes"], &[b"kb"], &[b"mb"], &[b"gb"], &[b"tb"]]))
    }

    /// Whether it may stand right behind a number without a space, as `km` in `5km`.
    pub(super) fn is_abbreviation(&self) -> bool {
        self.length >= 2 && (self.unit().is_some())
    }
}

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
    place: u8,
}

impl Unit {
    /// What a currency sign stands for.
    pub(super) const CURRENCY: Unit = Unit { family: Family::Money, place: 0 };
}
