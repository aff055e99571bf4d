"""Settings come from the environment, strictly, and every mistake is said."""

import os
import stat
from pathlib import Path

import pytest

from idcsched.config import env as environment
from idcsched.config.env import Environment, Parser


def test_it_works() -> None:
    env = Environment({"PORT": " 8080 ", "DEBUG": "on"})
    assert env.read("PORT", environment.integer(1, 65535), default=8000, help="") == 8080
    assert env.read("DEBUG", environment.flag, default=False, help="") is True
    assert env.read("MAX_LEVEL", environment.number(0, 1), default=0.9, help="") == 0.9
    assert not env.problems


REFUSED = {
    "a port is a number": (environment.integer(1, 65535), "http"),
    "a port is above zero": (environment.integer(1, 65535), "0"),
    "a whole number has no fraction": (environment.integer(1, 65535), "80.0"),
    "a whole number has plain digits": (environment.integer(1, 65535), "8_0"),
    "a whole number is not in Arabic digits": (environment.integer(1, 65535), "٨٠"),
    "a level is above its lower bound": (environment.number(0, 1), "0"),
    "a level is at most its upper bound": (environment.number(0, 1), "1.01"),
    "a level is a number": (environment.number(0, 1), "high"),
    "NaN is not a level": (environment.number(0, 1), "nan"),
    "a flag is on or off": (environment.flag, "maybe"),
    "a choice is one of its options, to the letter": (environment.choice("monitored", "ordered"), "Ordered"),
    "a list has no empty items": (environment.listing, "a,,b"),
    "an origin names its scheme": (environment.origin_list, "example.com"),
    "an issuer is asked by HTTPS": (environment.issuer, "http://id.example.com"),
    "an issuer on this machine is no other's": (environment.issuer, "http://localhost.example.com"),
    "an issuer has a host": (environment.issuer, "https://"),
    "a group gives a role that people have": (environment.role_table, "shops=portal"),
    "a role is given to a group": (environment.role_table, "=admin"),
    "a group gives a role": (environment.role_table, "noc"),
    "a network is one": (environment.network_list, "10.0.0.0/33"),
    "a network has no host bits": (environment.network_list, "10.0.0.1/8"),
    "a zone exists": (environment.zone, "Asia/Atlantis"),
    "a zone is no path": (environment.zone, "../../etc/passwd"),
    "a folder of zones is no zone": (environment.zone, "Asia"),
    "a currency has three letters": (environment.currency, "RMB1"),
    "a rate names its period in full": (environment.rate, "5/m"),
    "a rate is above zero": (environment.rate, "0/minute"),
    "the database is PostgreSQL or SQLite": (environment.database, "mysql://somewhere/db"),
    "a database has a name": (environment.database, "postgresql://host:5432"),
    "a database's port is a number": (environment.database, "postgresql://host:port/db"),
    "Redis is addressed as redis": (environment.redis_url, "http://host:6379"),
    "a Redis database is a number": (environment.redis_url, "redis://host:6379/main"),
}


@pytest.mark.parametrize(("parser", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_value_leaves_the_default_and_a_problem(parser: Parser[object], text: str) -> None:
    env = Environment({"NAME": text})
    assert env.read("NAME", parser, default="the default", help="") == "the default"
    (problem,) = env.problems
    assert (problem.code, problem.variable) == ("E001", "NAME")
    assert text in problem.message
    assert parser.expects in problem.message
    assert env.broken("NAME")


ACCEPTED = {
    "flags have the usual words": (environment.flag, "No", False),
    "lists may have spaces": (environment.listing, "a, b", ["a", "b"]),
    "an address is a network": (environment.network_list, "10.0.0.1,fd00::/8", ["10.0.0.1/32", "fd00::/8"]),
    "origins": (environment.origin_list, "https://a.example:8443", ["https://a.example:8443"]),
    "an issuer, to the letter": (environment.issuer, "https://id.example.com/r/x/", "https://id.example.com/r/x/"),
    "an issuer on this machine": (environment.issuer, "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    "roles of groups": (environment.role_table, "/noc=operator, a=b=admin", {"/noc": "operator", "a=b": "admin"}),
    "a choice": (environment.choice("monitored", "ordered"), "ordered", "ordered"),
    "zones": (environment.zone, "Europe/Berlin", "Europe/Berlin"),
    "currencies": (environment.currency, "EUR", "EUR"),
    "rates": (environment.rate, "600/minute", "600/minute"),
    "no rate": (environment.rate, "off", None),
    "Redis with a password and TLS": (environment.redis_url, "rediss://:x@h:1/2?a=b", "rediss://:x@h:1/2?a=b"),
    "folders": (environment.path, "/srv/idcsched", Path("/srv/idcsched")),
}


@pytest.mark.parametrize(("parser", "text", "value"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_right_value_is_taken(parser: Parser[object], text: str, value: object) -> None:
    env = Environment({"NAME": text})
    assert env.read("NAME", parser, default="the default", help="") == value
    assert not env.problems


def test_a_database_url_becomes_djangos_settings() -> None:
    env = Environment({"DATABASE_URL": "postgresql://me:p%40ss@db.example:5433/idc"})
    config = env.read("DATABASE_URL", environment.database, default=None, help="")
    assert config is not None
    assert (config["HOST"], config["PORT"], config["NAME"], config["PASSWORD"]) == ("db.example", 5433, "idc", "p@ss")


def test_who_waits_for_a_postgresql_that_has_gone_gives_up_in_time() -> None:
    env = Environment({"DATABASE_URL": "postgresql://me@db.example/idc?connect_timeout=2&sslmode=require"})
    config = env.read("DATABASE_URL", environment.database, default=None, help="")
    assert config is not None
    options = config["OPTIONS"]
    assert (options["tcp_user_timeout"], options["connect_timeout"], options["sslmode"]) == (30_000, 2, "require")


def test_a_private_value_is_never_printed() -> None:
    env = Environment({"DATABASE_URL": "mysql://me:hunter2@host/db"})
    env.read("DATABASE_URL", environment.database, default=None, help="", private=True)
    assert "hunter2" not in str(env.problems)


def test_an_empty_value_is_an_absent_one() -> None:
    env = Environment({"PORT": "", "PORT_FILE": ""})
    assert env.read("PORT", environment.integer(1, 65535), default=8000, help="") == 8000
    assert not env.problems


def test_a_value_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s3cret\n", encoding="utf-8")
    env = Environment({"SECRET_KEY_FILE": str(file)})
    assert env.read("SECRET_KEY", environment.secret, default="", help="") == "s3cret"


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for name in (tmp_path / "absent", tmp_path, binary):
        env = Environment({"SECRET_KEY_FILE": str(name)})
        assert env.read("SECRET_KEY", environment.secret, default="", help="") == ""
        assert [problem.code for problem in env.problems] == ["E003"]


def test_a_value_given_twice_is_a_problem(tmp_path: Path) -> None:
    env = Environment({"SECRET_KEY": "here", "SECRET_KEY_FILE": str(tmp_path)})
    assert env.read("SECRET_KEY", environment.secret, default="", help="") == "here"
    assert [problem.code for problem in env.problems] == ["E002"]


def test_a_misspelt_variable_is_noticed() -> None:
    env = Environment({"IDCSCHED_POTR": "1", "IDCSCHED_XYZZY": "1", "OTHER": "1"})
    env.read("PORT", environment.integer(1, 65535), default=8000, help="")
    near, far = env.unknown()
    assert near.hint == "Did you mean PORT?"
    assert far.variable == "IDCSCHED_XYZZY"
    assert "docs/settings.md" in far.hint


def test_a_secret_is_made_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "var" / "secret-key"
    env = Environment({})
    secret = env.secret_kept("SECRET_KEY", file)
    assert len(secret) >= 50
    assert env.secret_kept("SECRET_KEY", file) == secret
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(file.parent) == ["secret-key"]


def test_a_secret_that_cannot_be_kept_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("a file, not a folder", encoding="utf-8")
    env = Environment({})
    assert len(env.secret_kept("SECRET_KEY", tmp_path / "var" / "secret-key")) >= 50
    assert [problem.code for problem in env.problems] == ["E004"]
