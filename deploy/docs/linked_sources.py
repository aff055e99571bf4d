"""Shows the files outside of docs/ that a page links to as pages of the site, so that the links work on both."""

import re
from pathlib import Path
from posixpath import relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<=\]\()(?:\.\./)+[^)#\s]+")
INTO_DOCS = re.compile(r"\]\((?:\.\./)*docs/")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in sorted({path for file in files.documentation_pages() for path in linked_sources(file)}):
        files.append(File.generated(config, source_page(path), content=shown(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    def led_to_its_page(link: re.Match[str]) -> str:
        path = outside(page.file, link[0])
        return relpath(source_page(path), Path(page.file.src_uri).parent) if path else link[0]

    return LINK.sub(led_to_its_page, markdown)


def linked_sources(file: File) -> set[Path]:
    return {path for link in LINK.findall(file.content_string) if (path := outside(file, link))}


def outside(file: File, link: str) -> Path | None:
    """The path below the repository's root that a link leads to; None if that is in docs/, or is a generated page's."""
    if file.abs_src_path is None:
        return None
    target = (Path(file.abs_src_path).parent / link).resolve()
    return None if target.is_relative_to(ROOT / "docs") else target.relative_to(ROOT)


def source_page(path: Path) -> str:
    return f"source/{path.as_posix()}.md"


def shown(path: Path) -> str:
    """A page with a file's text, or with those of a folder's files; it is left out of the search."""
    source = ROOT / path
    if source.suffix == ".md":
        return INTO_DOCS.sub("](" + "../" * len(path.parts), source.read_text(encoding="utf-8"))
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    texts = [listing(file) for file in files if file.is_file()]
    return "\n".join(["---\nsearch: {exclude: true}\n---\n", f"# {path}\n", *texts])


def listing(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    return f'````{file.suffix.removeprefix(".") or "text"} title="{file.name}"\n{text}\n````\n'
