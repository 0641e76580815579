"""Starts a script again with the Python of scripts/setup.sh if this one lacks a package of it."""
import importlib
import os
import pathlib
import sys


def require(package, hint):
    """Ends the script with `hint` if neither has the package."""
    try:
        importlib.import_module(package)
    except ImportError as error:
        python = pathlib.Path(__file__).resolve().parents[2] / "build/deps/python/bin/python"
        if python.exists() and pathlib.Path(sys.prefix) != python.parents[1]:
            os.execv(python, [str(python), *sys.argv])
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {error}: {hint}")
