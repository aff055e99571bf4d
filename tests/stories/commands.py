"""Runs an installation's management commands, each in a fork of one process that has imported Django already.

Reads from its input lines of JSON: the words of a command, and the files for what it prints and complains of. Answers
each with the status that the command ended with.
"""

import json
import os
import sys

import django
from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "idcsched.settings"
django.setup()
for line in sys.stdin:
    words, *files = json.loads(line)
    child = os.fork()
    if not child:
        for number, file in enumerate(files, 1):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        execute_from_command_line(["manage.py", *words])
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
