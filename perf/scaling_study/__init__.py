"""The modules of perf/study: `run` (study_file, points, machine, jobs, emulated) and `report` (load, work,
parts, metrics, plots, page)."""
