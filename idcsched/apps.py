from django.apps import AppConfig


class ProjectConfig(AppConfig):
    """The app of the project as a whole: registers the environment checks and loads the Celery app."""

    name = "idcsched"
    verbose_name = "idcsched"

    def ready(self) -> None:
        import idcsched.celery  # noqa: PLC0415 - shared tasks bind to the app that exists
        import idcsched.config.checks  # noqa: F401, PLC0415 - registers the checks
        from idcsched.language.library_refusals import reword_refusals  # noqa: PLC0415 - needs the settings

        reword_refusals()
