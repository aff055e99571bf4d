"""A secret is a reference to what an administrator has listed, read when it is needed and never stored."""

from pathlib import Path
from typing import Any

import pytest

from idcsched.framework.errors import Invalid, Unavailable
from idcsched.outbound.secrets import secret_ref_check, secret_resolve


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    """A folder of secrets that is listed, beside two variables."""
    (tmp_path / "secrets").mkdir()
    settings.SECRET_REFS = ["env:SOURCE_*", "env:PROM", f"file:{tmp_path}/secrets/"]
    return tmp_path / "secrets"


def test_it_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "prometheus").write_text(" of the file\n")
    monkeypatch.setenv("SOURCE_TOKEN", "of the environment")
    assert secret_resolve(f"file:{folder}/prometheus") == "of the file"
    assert secret_resolve("env:SOURCE_TOKEN") == "of the environment"
    secret_ref_check("env:SOURCE_TOKEN")


@pytest.mark.parametrize("said", ["hunter2", "", "env:A B", "file:relative", "vault:hunter2", "env:A\n"])
def test_what_is_no_reference_is_refused_unseen(folder: Path, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        secret_ref_check(said)
    assert caught.value.code == "invalid_secret_ref"
    assert caught.value.errors[0].pointer == "/secret_ref"
    assert not said or said not in str(caught.value)


@pytest.mark.parametrize("said", ["env:SECRET_KEY", "env:PROMETHEUS", "file:/etc/passwd", "file:{}/../outside"])
def test_what_is_not_listed_is_refused_on_saving_and_on_reading(folder: Path, said: str) -> None:
    ref = said.format(folder)
    with pytest.raises(Invalid) as caught:
        secret_ref_check(ref)
    assert caught.value.code == "secret_not_allowed"
    with pytest.raises(Unavailable) as refused:
        secret_resolve(ref)
    assert refused.value.code == "secret_not_allowed"


def test_a_link_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder.parent / "outside").write_text("of somebody else")
    (folder / "link").symlink_to(folder.parent / "outside")
    with pytest.raises(Unavailable) as refused:
        secret_resolve(f"file:{folder}/link")
    assert refused.value.code == "secret_not_allowed"


def test_a_listed_folder_may_be_a_link_itself(settings: Any, folder: Path) -> None:
    (folder / "token").write_text("found")
    link = folder.parent / "by-another-name"
    link.symlink_to(folder)
    settings.SECRET_REFS = [f"file:{link}/"]
    assert secret_resolve(f"file:{link}/token") == "found"


def test_one_that_is_gone_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_TOKEN", raising=False)
    (folder / "binary").write_bytes(b"\xff\xfe\x00")
    for ref in ("env:SOURCE_TOKEN", f"file:{folder}/nobody", f"file:{folder}/binary"):
        with pytest.raises(Unavailable) as refused:
            secret_resolve(ref)
        assert refused.value.code == "secret_missing"
