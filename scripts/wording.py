#!/usr/bin/env python3
"""Finds words and phrases that our texts avoid, and names the term to use instead.

    wording.py check [PATH…]     every tracked file, or the given files and folders; exit code 1 where a phrase is found
    wording.py list              the phrases with their replacements, as Markdown
    wording.py self-test         every rule catches its own example, and plain sentences pass

What is read: Markdown pages; string literals and comments of Rust sources; pages, scripts and style sheets of the web app; TOML
files that users read (suites, templates, samplers, examples). Generated problems, word lists, tests and fixtures are not texts of
ours and are left out; of generators only the comments are read. A line that quotes a phrase on purpose ends with the comment `wording: allow`.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Pattern, what to write instead, a sentence that must be caught. These apply to everything, comments included.
EVERYWHERE = [
    (r"\breckon\w*", "compute, count", "the margin is reckoned per task"),
    (r"\b(next of )?kin\b|\bkinship\b", "similar models", "which models are kin?"),
    (r"\b(round|around) in circles", "repetition loop", "the model goes round in circles"),
    (r"\bwhom\b", "which model, the model that", "Whom to ask"),
    (r"\b(is|are|was|were|be|been|not) told\b", "is reported", "a wrong line is told with its number"),
    (r"\b(told|tell|tells|telling) (\w+ )?apart", "distinguish", "models that can't be told apart"),
    (r"\bmend(s|ed|ing)?\b", "fix, repair", "the file was mended"),
    (r"\b(broken|break|breaks|breaking) off\b", "interrupted", "a run can be broken off"),
    (r"\bA less B\b", "A minus B", "the difference A less B"),
    (r"\bas (it|they) sa(ys|y)\b", "as described", "evaluate does as it says"),
    (r"\bthis is no\b|\bis no (log|run|study|suite|dataset|number|file|answer)\b", "is not a …", "this is no run"),
    (r"` is none\b|\band it is none\b", "is not a …", "and `x` is none"),
    (r"\bby the (million|thousand)\b", "millions of", "answers by the million"),
    (r"\bso often\b", "samples per problem, k times", "ask each test so often"),
    (r"\bjudg(e|es|ed|ing|ement|ements)\b(?![- ](models?|free|LLM))(?<!LLM judge)(?<!no judge)(?<!judge model)", "score, scoring", "the answers are judged"),
    (r"\bthe seed's\b", "the source document's", "the seed's formula"),
    (r"\bguess\w* (is|are) taken out\b|\btak(e|es|ing) (out )?guesses( out)?\b", "corrected for guessing", "guesses are taken out"),
    (r"\bcut(s|ting)? off\b", "truncated", "responses cut off at the limit"),
    (r"\btroubles?\b", "failure, problem", "the troubles of a run"),
    (r"\bsurpris(e|es|ed|ing|ingly)\b", "surprisal, unexpected", "the mean surprise per token"),
    (r"\bkeep(s)? (its|their) promises?\b", "coverage of the interval", "bounds that keep their promise"),
    (r"\b(to go|goes|going|go) on\b(?! (the|a|to))", "resume, continue", "run again to go on"),
    (r"\bzeta\b", "metrics", "Zeta metrics"),
    (r"\banew\b", "again", "the trials are counted anew"),
    (r"\bstands? (in|on|at|between|below|above|before|after|next|under|behind|alone)\b", "is in, means", "the instruction stands in the message"),
    (r"\blook(s|ed|ing)? after\b", "manage", "Look after the responses"),
    (r"\bwrite-ins?\b", "free-form", "a write-in answer"),
    (r"\b(colour|honour|behaviour|favour|neighbour|memoris|normalis|summaris|recognis|organis|initialis|serialis|analys(ed|ing)\b|labell(?!edby)|modell|artefact|catalogue\b|grey\b)\w*",
     "American spelling", "the colour of the line"),
    (r"\b(MOST|LEAST|LONGEST)_[A-Z]", "MAX_…, MIN_…", "const MOST_ROWS: usize"),
    (r"\bsay(s)? nothing\b", "prints nothing", "Say nothing on standard error"),
    (r"\bnobody listens\b", "broken pipe", "an error when nobody listens"),
    (r"\bis left alone\b|\bleave \w+ alone\b", "is skipped, is unchanged", "a point is left alone"),
    (r"\b(rooms? of the house|private dialect)\b", "(remove)", "the rooms of the house"),
    (r"\b(pour|pours|poured|weighs? the|stroll)\b", "ingest, measure", "trials are poured into the file"),
    (r"\bhence(forth)?\b|\bthereof\b|\bwhereupon\b|\bhitherto\b|\bthrice\b|\bupon\b", "plain words", "whereupon it stops"),
]

# These apply to what users read: pages of documentation, help, messages, web pages.
USER_FACING = [
    (r"\bask(s|ed|ing)?\b(?! for\b)", "query, send, request, run", "asks the model"),
    (r"\bwhole numbers?\b", "integer", "expected a whole number"),
    (r"\b(right|wrong) (answers?|responses?|replies|reply|trials?|guess(es)?)\b", "correct answer, incorrect answer", "a right answer"),
    (r"\b(answer|answers|answered|got|gets|get|guess|guessed|often|many) (right|wrong)(ly)?\b", "correct, incorrect", "how many were answered right"),
    (r"\b(the|a|an|this|its|their|each|what|which|largest|smallest|small|large) shares?\b|\bshares? of\b", "proportion, rate", "the share of truncated trials"),
    (r"\bcoordinates?\b", "point, parameters", "problems come from coordinates"),
    (r"\bgenerated questions?\b", "problem", "generated questions can't be memorized"),
    (r"\bfrontiers?\b", "threshold", "the frontier of a model"),
    (r"\bputs? (that|it|this) right\b", "fixes it", "`evaluate` puts that right"),
    (r"\bintervals? (that )?(hold|holds|keep)\b", "interval with … coverage", "which intervals hold"),
    (r"\bhow sure\b", "confidence level", "how sure an interval is"),
    (r"\bwho (leads|beats whom|gets in)\b", "ranking, pairwise comparison, access", "who leads"),
    (r"\bthe like\b|\band its like\b", "and compatible servers", "OpenAI and its like"),
    (r"\bit is said\b|\bsaid (to|by) the\b", "reported", "as said by the server"),
    (r"\bpictures?\b", "figure, chart, image", "draw a picture"),
    (r"\bfolders? of the study\b", "study directory", "Folder of the study"),
    (r"\bgive up\b|\bgiven up\b|\bgives up\b", "stop, abandon", "the rest is given up"),
    (r"\bmean(t|s)? well\b|\bat ease\b|\bin a moment\b", "plain words", "upgraded in a moment"),
    (r"\bpatience\b", "outage timeout", "the run's patience"),
    (r"\bwhat (there )?is (there|to read)\b", "contents, topics", "what is there to read"),
    (r"\bget(s)? something done\b|\bby doing it once\b", "plain words", "get something done"),
    (r"\bsays? (so|which|what|how|where|when|who|that|whether)\b", "shows, states, reports, names", "it says how many it leaves out"),
    (r"\b(does|do|did|is|are|was) not\b(?=.{0,12}\bat all\b)", "plain words", "it is not so at all"),
]

# The terms of the source documents and of mathematics, in the pages and files that need them.
ALLOWED = {
    r"\bzeta\b": re.compile(r"^(docs/(metrics|source-documents)\.md|crates/core/src/math/|CHANGELOG\.md)"),
    r"\bcoordinates?\b": re.compile(r"^(docs/(source-documents|tasks)\.md|ARCHITECTURE\.md|crates/charts/)"),
    r"\bfrontiers?\b": re.compile(r"^CHANGELOG\.md"),
    r"\bstands? (in|on|at|between|below|above|before|after|next|under|behind|alone)\b": re.compile(r"^docs/tasks\.md"),
}

# Not our prose: generated problems and replies, word lists, frozen text, generated pages.
SKIPPED = re.compile(
    r"^(fixtures/|crates/core/src/number_words|crates/simulator/src/(text_gen|distractors)"
    r"|crates/metrics/src/equations/(words|hedging|operands|tokens)|crates/[^/]+/tests/|crates/[^/]+/src/.*/tests\.rs"
    r"|crates/charts/src/text_layout|benches/(data|results)|scripts/wording\.py|examples/.*\.jsonl)"
)
# The strings of these files are the text of problems, whose wording is frozen; their comments are ours.
GENERATORS = re.compile(r"^crates/core/src/tasks/")
ALLOW = "wording: allow"
JS_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
RUST_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#+)".*?"\1|b?r"[^"]*"|b?"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\[^\n])\'', re.DOTALL
)


def tracked(paths):
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *map(str, paths)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return sorted({line for line in listed.stdout.splitlines() if (ROOT / line).is_file() and not (ROOT / line).is_symlink()})


def rust_texts(text):
    """Comments and string literals with their offsets, each with whether a user reads it."""
    tests = text.find("#[cfg(test)]")
    for token in RUST_TOKEN.finditer(text):
        if 0 <= tests < token.start():
            return
        comment = token[0].startswith(("//", "/*"))
        yield token.start(), token[0], not comment


def texts(name, content):
    """The parts of a file that are texts: offset, text, whether a user reads it."""
    suffix = pathlib.Path(name).suffix
    if suffix == ".rs":
        # Doc comments of the command line are its help, those of types with a schema its descriptions.
        help_text = name.startswith("crates/cli/src/") or "JsonSchema" in content
        for offset, text, user in rust_texts(content):
            if user and GENERATORS.search(name):
                continue
            yield offset, text, user or (help_text and text.startswith("///"))
    elif suffix == ".md":
        # Inline code and links name files and keys.
        yield 0, re.sub(r"`[^`\n]*`|\]\([^)]*\)", lambda match: "`" * len(match[0]), content), True
    elif suffix == ".js":
        for token in JS_TOKEN.finditer(content):
            yield token.start(), token[0], not token[0].startswith(("//", "/*"))
    elif suffix in (".html", ".css", ".toml", ".py", ".sh"):
        # `study.toml` as `init` and `demo` write it.
        written = suffix == ".toml" and "/src/" in name
        user = suffix == ".html" or written or name.startswith(("suites/", "templates/", "samplers/", "examples/"))
        yield 0, content, user


def findings(name, content):
    lines = content.splitlines()
    for offset, text, user in texts(name, content):
        # A phrase may go on in the next line, behind the comment sign.
        flat = re.sub(r"\n\s*(///?!?|//!|#|\\)?[ \t]*|\\\n\s*", lambda match: " " * len(match[0]), text)
        for pattern, instead, _ in EVERYWHERE + (USER_FACING if user else []):
            if pattern in ALLOWED and ALLOWED[pattern].search(name):
                continue
            for match in re.finditer(pattern, flat, re.IGNORECASE if not pattern.startswith(r"\b(MOST") else 0):
                line = content.count("\n", 0, offset + match.start()) + 1
                if ALLOW not in lines[line - 1]:
                    yield line, match[0], instead


def check(paths):
    count, files = 0, tracked(paths)
    for name in files:
        if SKIPPED.search(name) or pathlib.Path(name).suffix not in (".rs", ".md", ".html", ".js", ".css", ".toml", ".py", ".sh"):
            continue
        for line, found, instead in findings(name, (ROOT / name).read_text()):
            count += 1
            print(f"{name}:{line}: `{' '.join(found.split())}`: write {instead}", file=sys.stderr)
    print(f"{len(files)} files, {count} phrases to replace")
    return 1 if count else 0


def self_test():
    for pattern, _, example in EVERYWHERE + USER_FACING:
        assert any(True for _ in findings("docs/x.md", example)), f"`{pattern}` doesn't catch `{example}`"
        assert re.search(pattern, example, re.IGNORECASE), f"`{pattern}` doesn't match its own example `{example}`"
    for sentence in [
        "The runner sends each request once and scores the response.",
        "Metrics are computed without a judge model.",
        "Scores are corrected for guessing; ties are reported as ties.",
        "fn is_told() {}",
    ]:
        assert not list(findings("docs/x.md", sentence)), sentence
    assert list(findings("crates/cli/src/x.rs", 'print("asks the\\\n   model")')), "a string over two lines"
    assert not list(findings("crates/cli/src/x.rs", "fn ask() {}")), "code isn't text"
    assert list(findings("crates/web/src/x.js", 'show("asks the model") // ok')), "a string of a page's script"
    assert not list(findings("crates/web/src/x.js", "// asks the model")), "a comment of a script isn't user-facing"
    assert list(findings("crates/core/src/tasks/x.rs", "// the margin is reckoned")), "a comment of a generator"
    assert not list(findings("crates/core/src/tasks/x.rs", 'text("the margin is reckoned")')), "the text of a problem"
    assert list(findings("crates/web/src/x.rs", "use schemars::JsonSchema;\n/// The log says which.")), "a description of the API"
    print(f"{len(EVERYWHERE) + len(USER_FACING)} rules, each catches its example")
    return 0


def as_markdown():
    for title, rules in [("Everywhere", EVERYWHERE), ("Documentation, help, messages, pages", USER_FACING)]:
        print(f"## {title}\n\n| instead of | write |\n|---|---|")
        for _, instead, example in rules:
            print(f"| {example} | {instead} |")
        print()
    return 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["check"]:
        sys.exit(check(arguments[1:] or ["."]))
    if arguments == ["self-test"]:
        sys.exit(self_test())
    if arguments == ["list"]:
        sys.exit(as_markdown())
    sys.exit(__doc__)
