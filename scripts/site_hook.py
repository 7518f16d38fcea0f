"""MkDocs hook: keeps links from docs/ to files outside of it working on the site.

On a Git host `../ARCHITECTURE.md` is a file beside docs/. The site has no such page, so the link is replaced by the path in the
repository as code. `scripts/docs.py links` checks that the file exists.
"""

import re

# Slugs as Git hosts write them, so that one anchor works in both places.
def slugify(text, separator):
    kept = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return kept.replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify
    return config


def on_page_markdown(markdown, **_):
    def replace(match):
        label, target = match[1], match[2].removeprefix("../").partition("#")[0]
        return f"{label} (`{target}` in the repository)" if label.strip("`") != target else f"`{target}`"

    return re.sub(r"(?<!!)\[([^\]]+)\]\((\.\./[^)\s]+)\)", replace, markdown)
