from pathlib import Path
from typing import Any

import polib
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import to_locale

from idcsched.message_ids import UnclearMessage, message_ids

HEADER = {
    "Project-Id-Version": "idcsched",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",
}


class Command(BaseCommand):
    help = "Bring the translations in idcsched/locale up to date with the texts in the source, and compile them."

    def handle(self, *args: Any, **options: Any) -> None:
        for language, _ in settings.LANGUAGES:
            if language != settings.LANGUAGE_CODE:
                self._update(to_locale(language))

    def _update(self, locale: str) -> None:
        file = po_file(locale)
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            catalogue = updated(read(file), locale)
        except UnclearMessage as error:
            raise CommandError(str(error)) from None
        file.write_text(str(catalogue), encoding="utf-8")
        file.with_suffix(".mo").write_bytes(catalogue.to_binary())
        for entry in catalogue.untranslated_entries():
            self.stdout.write(f"{locale}: not translated: {entry.msgid}")
        self.stdout.write(f"{locale}: {len(catalogue.translated_entries())} of {len(catalogue)} texts are translated.")


def po_file(locale: str) -> Path:
    """Where the translations into a language stand."""
    return Path(settings.LOCALE_PATHS[0]) / locale / "LC_MESSAGES" / "django.po"


def read(file: Path) -> polib.POFile:
    """The translations that there are; none of a language that is new."""
    return polib.pofile(file.read_text(encoding="utf-8"), wrapwidth=0) if file.exists() else polib.POFile(wrapwidth=0)


def updated(old: polib.POFile, locale: str) -> polib.POFile:
    """The texts of the source with what they are called in `old`; texts that are gone are gone."""
    catalogue = polib.POFile(wrapwidth=0)
    catalogue.header = "Made by `manage.py messages`, but for the msgstr lines: those are written here."
    catalogue.metadata = {**HEADER, "Language": locale}
    known = {entry.msgid: entry.msgstr for entry in old}
    for message in message_ids(settings.BASE_DIR).values():
        catalogue.append(
            polib.POEntry(
                msgid=message.text,
                msgstr=known.get(message.text, ""),
                occurrences=[(file, "") for file in message.files],
                flags=list(message.flags),
            )
        )
    return catalogue
