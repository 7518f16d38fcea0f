"""Adds up the quantities of the entries that belong to the categories asked for."""

import re

from words import number

CATEGORIES = {
    "mammals": """badger bear beaver camel cat cow dog donkey elephant fox giraffe goat gorilla hedgehog horse kangaroo koala
        leopard lion llama monkey otter panda pig rabbit raccoon squirrel tiger wolf zebra""",
    "birds": """blackbird canary crow dove duck eagle falcon flamingo goose hawk heron hummingbird magpie nightingale ostrich owl
        parrot peacock pelican penguin pigeon puffin raven robin seagull sparrow stork swan vulture woodpecker""",
    "insects": """ant aphid bee beetle bumblebee butterfly cicada cockroach dragonfly earwig firefly flea grasshopper honeybee
        hornet ladybug locust mantis mayfly mosquito moth termite wasp weevil""",
    "flowers": """begonia bluebell buttercup carnation chrysanthemum cornflower crocus daffodil dahlia daisy dandelion foxglove
        gardenia geranium hyacinth hydrangea lily marigold orchid peony petunia poppy primrose rose snowdrop sunflower
        tulip zinnia""",
    "fruits": """apple apricot banana blackberry blueberry cherry cranberry fig gooseberry grape grapefruit guava lemon lychee
        mango melon nectarine papaya peach pear pineapple plum pomegranate raspberry strawberry tangerine""",
    "tools": """awl axe blowtorch chainsaw chisel clamp crowbar hacksaw hammer handsaw hatchet jackhammer mallet pickaxe
        pitchfork rake screwdriver scythe shovel sickle sledgehammer spade trowel wrench""",
    "vehicles": """ambulance bicycle bus car hatchback jeep limousine lorry minibus minivan moped motorbike motorcycle rickshaw
        scooter sedan snowmobile taxi tractor train tram tricycle truck van""",
    "musical instruments": """accordion banjo bassoon bugle cello clarinet drum flute guitar harmonica harp lute lyre mandolin
        oboe piano piccolo saxophone sitar tambourine trombone trumpet tuba ukulele violin xylophone""",
    "pieces of clothing": """bathrobe blazer blouse cardigan coat dress glove hoodie jacket kimono mitten overcoat parka poncho
        pullover raincoat scarf shirt skirt sock stocking sweater swimsuit tunic turtleneck tuxedo waistcoat""",
    "pieces of furniture": """armchair barstool bed bench bookcase bookshelf cabinet chair couch cupboard daybed desk dresser
        footstool futon loveseat nightstand ottoman recliner sideboard sofa stool table wardrobe""",
}
CATEGORY = {noun: category for category, nouns in CATEGORIES.items() for noun in nouns.split()}
IRREGULAR = {"geese": "goose", "wolves": "wolf", "scarves": "scarf", "bookshelves": "bookshelf"}


def singular(noun):
    endings = (("ies", "y"), ("es", ""), ("s", ""), ("", ""))
    candidates = [noun[: len(noun) - len(old)] + new for old, new in endings if noun.endswith(old)]
    return next(word for word in [noun, IRREGULAR.get(noun), *candidates] if word in CATEGORY)


def solve(prompt):
    items = prompt.split("\n\n")[1].split(", ")
    asked = re.search(r"How many (.*) are there", prompt)[1].replace(" and ", ", ").split(", ")
    assert all(category in CATEGORIES for category in asked), asked
    total = 0
    for item in items:
        quantity, *_, noun = item.split()
        if CATEGORY[singular(noun)] in asked:
            total += number(quantity)
    return str(total)
