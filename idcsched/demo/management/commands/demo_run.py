import json
import os
import signal
import sys
from argparse import ArgumentParser
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import Error as DatabaseError

from idcsched.accounts.models import Tenant
from idcsched.config.env import Environment
from idcsched.demo import showcase
from idcsched.demo.claim import AlreadyRunning, Claim, claimed
from idcsched.demo.credentials import TENANT
from idcsched.demo.processes import leash, port_is_free
from idcsched.demo.sources import sources_point_to
from idcsched.demo.supervisor import ChildDied, NotReady, Supervisor, ignore_signals, interrupt_on_signals
from metrics_ingest.tasks import sources_sweep

READY_WITHIN = 60.0  # seconds; a cold start on a busy machine takes a tenth of it
WATCHED_EVERY = 0.5


class Command(BaseCommand):
    help = "Run the whole system with demo data on this machine: web server, worker and beat. Ctrl-C stops it."
    requires_system_checks = []  # this command reports each problem in one line instead

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--parent", type=int, metavar="PID", help="Stop when this process, our parent, is gone.")

    def handle(self, *args: Any, **options: Any) -> None:
        if parent := options["parent"]:
            leash(signal.SIGTERM, parent)
        self._refuse_early()
        interrupt_on_signals()
        try:
            with claimed(settings.VAR_DIR / "demo.lock") as claim:
                self._run(claim)
        except AlreadyRunning:
            sys.exit(f"idcsched: a run is already going on in {settings.VAR_DIR}; stop that one first.")
        except KeyboardInterrupt:
            ignore_signals()
            self._say("Stopped.")

    def _refuse_early(self) -> None:
        environment: Environment = settings.ENVIRONMENT
        if environment.problems:
            sys.exit("\n".join(f"idcsched: {problem.message} {problem.hint}" for problem in environment.problems))
        folder: Path = settings.VAR_DIR
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "demo.lock").touch()
        except OSError as error:
            sys.exit(f"idcsched: cannot write to {folder} ({error.strerror}); make it writable, or set VAR_DIR.")

    def _run(self, claim: Claim) -> None:
        if ended := claim.end_leftovers():
            self._say(f"A previous run was killed; stopped what it had left: {', '.join(map(str, ended))}.")
        if not port_is_free(settings.PORT):
            sys.exit(f"idcsched: port {settings.PORT} is taken; choose another one: make run PORT={settings.PORT + 1}")
        try:
            self._prepare()
        except DatabaseError as error:
            sys.exit(f"idcsched: the database cannot be used: {' '.join(str(error).split())}")
        self._serve(claim)

    def _prepare(self) -> None:
        self._say("Preparing the database ...")
        call_command("migrate", verbosity=0, interactive=False)
        self._say("Loading the demo, or bringing it up to date ...")
        call_command("load_demo", if_empty=True, stdout=self.stdout)
        if Tenant.objects.filter(code=TENANT).exists():
            sources_point_to(f"http://127.0.0.1:{settings.PORT}")

    def _serve(self, claim: Claim) -> None:
        self._say("Starting the web server, a Celery worker and beat ...")
        logs = settings.VAR_DIR / "log"
        system = Supervisor(folder=settings.BASE_DIR, port=settings.PORT, logs=logs)
        begun = monotonic()
        os.environ.setdefault("DEMO", "on")  # for the children: the demo's sources ask the web server, on this machine
        os.environ.setdefault("OUTBOUND_HOSTS", "*,127.0.0.1")
        os.environ.setdefault("LOG_FORMAT", "console")  # people read the files in `var/log`
        try:
            self._start(system, claim, "web")
            system.wait_until_ready(seconds=READY_WITHIN)
            self._start(system, claim, "worker", "beat")  # not earlier: the demo's sources ask the web server
            sources_sweep()  # so that the sources are asked before beat's first sweep
            self._say(f"Ready after {monotonic() - begun:.0f} s.\n")
            self._show(system.address)
            self._watch(system, claim)
        except ChildDied as died:
            child = died.child
            self._say(child.last_words())
            sys.exit(
                f"idcsched: the {child.name} process ended by itself ({child.process.returncode}); see {child.log}"
            )
        except NotReady as error:
            sys.exit(f"idcsched: {error}; see {logs}")
        finally:
            ignore_signals()
            self._say("Stopping ...")
            system.stop()

    def _start(self, system: Supervisor, claim: Claim, *names: str) -> None:
        system.start(*names)
        claim.note(child.process.pid for child in system.children)

    def _watch(self, system: Supervisor, claim: Claim) -> NoReturn:
        while True:
            for child in system.start_again():
                code = child.process.returncode
                self._say(f"The {child.name} process ended by itself ({code}) and was started again; see {child.log}.1")
            claim.note(child.process.pid for child in system.children)
            sleep(WATCHED_EVERY)

    def _show(self, address: str) -> None:
        file = settings.VAR_DIR / "demo-credentials.json"
        if file.exists():
            credentials = json.loads(file.read_text(encoding="utf-8"))
            self._say(showcase.show(address, credentials))
        self._say(f"  Console    {address}/console/   (users and passwords: {file})")
        self._say(f"  Admin      {address}/admin/")
        self._say(f"  API docs   {address}/api/v1/docs/\n")
        self._say("Ctrl-C stops everything.")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
