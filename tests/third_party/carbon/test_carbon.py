from idcsched_carbon import Carbon

from idcsched.framework.testing import check_plugin, decide_for, profile, world

COAL, HYDRO, SILENT = {"grid_co2": 800, "pue": 1.1}, {"grid_co2": 40, "pue": 1.4}, {"pue": 1.1}
KNOWN = world({"coal": {"metrics": COAL}, "hydro": {"metrics": HYDRO}, "silent": {"metrics": SILENT}})


def test_it_works() -> None:
    green = profile(("carbon", "carbon", {"weight": 10}), plugins=[Carbon])
    assert decide_for(KNOWN, green).totals == {"hydro": 944.0, "silent": 500.0, "coal": 120.0}


def test_it_keeps_the_laws() -> None:
    check_plugin(Carbon)
    check_plugin(Carbon, worlds=[KNOWN], requests=[{}])
