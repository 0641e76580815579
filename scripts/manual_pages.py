#!/usr/bin/env python3
"""Man pages and bash completions of the programs, from their table of options (-help json).

    scripts/manual_pages.py PREFIX/share build/release/miniapp/nunatak \\
        build/release/miniapp/nunatak-io ...

writes share/man/man1/<program>.1 and share/bash-completion/completions/<program>. `cmake --install`
runs it.
"""
import argparse
import json
import pathlib
import subprocess

STATUS = {0: "success; a comparison: all equal", 1: "a comparison found a difference",
          2: "an error: usage, input, files, a solver that failed", 85: "nunatak only: the run "
          "ended early (-run_wall, SIGTERM, SIGUSR1) and can be continued from the state it wrote"}


def answer(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def roff(text):
    return text.replace("\\", "\\\\").replace("-", "\\-").replace("\n.", "\n\\&.").replace("\n'",
                                                                                           "\n\\&'")


def man_page(name, version, options):
    what = options["title"].partition(": ")[2]
    lines = [f'.TH {name.upper()} 1 "" "nunatak {version}" "User Commands"', ".SH NAME",
             f"{name} \\- {roff(what)}", ".SH SYNOPSIS", ".nf", roff(options["example"]), ".fi",
             ".SH DESCRIPTION", roff(options["explanation"]), ".SH OPTIONS"]
    section = None
    for option in options["options"]:
        if option["section"] != section:
            section = option["section"]
            lines.append(f'.SS "{roff(section)}"')
        default = " ".join((option["default"] or "none", option["unit"])).strip()
        values = f": {option['values']}" if option["values"] else ""
        lines += [".TP", f"\\fB\\-{roff(option['name'])}\\fR \\fI{roff(default)}\\fR",
                  roff(option["description"] + values)]
    lines.append(".SH EXIT STATUS")
    for status, meaning in STATUS.items():
        if status != 85 or name == "nunatak":
            lines += [".TP", str(status), roff(meaning)]
    if options["notes"]:
        lines += [".SH NOTES", ".nf", *map(roff, options["notes"]), ".fi"]
    return "\n".join(lines) + "\n"


def completion(name, options):
    function = "_" + name.replace("-", "_")
    words = " ".join(f"-{option['name']}" for option in options["options"])
    cases = [f"    -{option['name']}) values='{option['values'].replace('|', ' ')}' ;;"
             for option in options["options"] if option["values"]]
    return "\n".join([f"# bash completion of {name}", f"{function}() {{",
                      "  local word=${COMP_WORDS[COMP_CWORD]} values=",
                      "  case ${COMP_WORDS[COMP_CWORD - 1]} in", *cases, "  esac",
                      f"  [[ -n $values || $word != -* ]] || values='-help -version {words}'",
                      "  if [[ -n $values ]]; then",
                      "    mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")", "  else",
                      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", "  fi", "}",
                      f"complete -o filenames -F {function} {name}"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("share", type=pathlib.Path, help="folder to write into: PREFIX/share")
    parser.add_argument("programs", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    for program in arguments.programs:
        options = json.loads(answer(program, "-help", "json"))
        version = answer(program, "-version").split()[1]
        for folder, file, text in (
            ("man/man1", f"{program.name}.1", man_page(program.name, version, options)),
            ("bash-completion/completions", program.name, completion(program.name, options))):
            (arguments.share / folder).mkdir(parents=True, exist_ok=True)
            (arguments.share / folder / file).write_text(text)


if __name__ == "__main__":
    main()
