from tests.placement.conftest import fleet, order, recommend  # noqa: F401 - fixtures, used by name
