from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from idcsched.demo.documents import Document, article_profile
from idcsched.demo.quarter import demo_quarter
from idcsched.framework.decoding import convert
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.planning.backtest import backtest
from idcsched.planning.period import Period
from idcsched.planning.table import result_table
from idcsched.planning.weights import fit_weights, with_weights
from idcsched.scheduling.plugins import registry
from idcsched.scheduling.shipped import SHIPPED, shipped_document


class Command(BaseCommand):
    help = (
        "Decide a made-up quarter of orders on the demo's inventory under the shipped profiles, and show what a month "
        "on the lines would cost. Needs no database."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seed", type=int, default=1, help="another number makes another quarter")
        parser.add_argument("--without-shapes", action="store_true", help="as if no traffic shape were known")
        parser.add_argument(
            "--optimum", type=float, default=30, metavar="SECONDS", help="search the cheapest course for so long (30)"
        )

        parser.add_argument(
            "--fit",
            type=int,
            default=0,
            metavar="TIMES",
            help="first fit the weights of `default` to the orders of every other day, which are decided so often (0)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        period = demo_quarter(seed=options["seed"], shapes=not options["without_shapes"])
        documents = [article_profile(), *(shipped_document(code) for code in SHIPPED)]
        if options["fit"]:
            documents.append(self._fitted(period, options["fit"]))
        policies = {document["code"]: _policy(document) for document in documents}
        self.stdout.write(result_table(backtest(period, policies, optimum_seconds=options["optimum"])))

    def _fitted(self, period: Period, budget: int) -> Document:
        """Return `default` with fitted weights, and say what they are."""
        document = shipped_document("default")
        weights = fit_weights(period, _body(document), registry(), budget=budget, seed=1).after
        self.stdout.write("fitted: " + ", ".join(f"{name} {weight:g}" for name, weight in weights.items()))
        return {**with_weights(document, weights), "code": "fitted"}


def _policy(document: Document) -> Profile:
    return compile_profile(convert(_body(document), ProfileBody), registry(), code=document["code"], revision=0)


def _body(document: Document) -> Document:
    return {name: value for name, value in document.items() if name not in ("code", "name", "message")}
