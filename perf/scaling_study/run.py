"""`perf/study run`: reads the study, runs what is missing, and writes the results folder."""
import sys

from . import study_file


def main(arguments):
    try:
        study_file.read(arguments.file, arguments.full)
    except study_file.StudyError as error:
        sys.exit(f"study: error: {error}")
    return 0
