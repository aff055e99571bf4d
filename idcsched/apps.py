from django.apps import AppConfig


class ProjectConfig(AppConfig):
    """What belongs to no room: the checks of the environment, and the Celery app that shared tasks bind to."""

    name = "idcsched"
    verbose_name = "idcsched"

    def ready(self) -> None:
        import idcsched.celery  # noqa: PLC0415 - shared tasks bind to the app that exists
        import idcsched.config.checks  # noqa: F401, PLC0415 - registers the checks
