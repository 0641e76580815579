"""The modules of perf/study: `run` (study_file, points, machine, jobs, session, study_run, results)
and `report` (load, work, parts, metrics, plots, page); both read by texts."""
