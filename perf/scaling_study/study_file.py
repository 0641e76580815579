"""Reads a study file (YAML) strictly: an unknown key, a wrong type or nothing where something is
needed is an error that says where.

All scalars are read as text, so that `verbose: no` stays "no"; numbers are made where a number is
expected.
"""
import copy
import pathlib
import re
import shlex
from collections import Counter

import yaml

PROGRAMS = ("nunatak", "nunatak-io")
OURS = ("report", "verbose")  # options that the study itself gives
TOOLS = ("perf", "darshan", "score-p", "nsys", "kokkos-tools")  # tools.py
SIZES = ("ranks_per_node", "threads")  # keys of `vary` that are not options
WEAK = ("grid_Mx", "grid_My")  # options that follow from cells_per_rank
LONGEST = 1 << 16  # characters of a study
# Times as the programs read them (common/text.cpp: parse_duration): 1d 2h, 3h50m, 90 min, 20s
TIME = re.compile(" ?".join(rf"(?:([0-9]{{1,9}}\.?[0-9]{{0,9}}) ?{unit})?" for unit in (
    "d(?:ays?)?", "h(?:ours?)?", "m(?:in(?:utes?)?)?", "s(?:ec(?:onds?)?)?")))
CLOCK = re.compile(r"(?:(?:([0-9]{1,9})-)?([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,9})")  # 3:50:00
UNITS = (86400, 3600, 60, 1)


class StudyError(Exception):
    """Something that the user can mend; the text is all that is printed."""


class Loader(yaml.BaseLoader):
    """Scalars are text; a key that comes twice is an error, and so is an alias, of which a few
    lines make gigabytes."""

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias, which studies do not have",
                                              self.peek_event().start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        for key, times in Counter(str(self.construct_object(key, deep=True))
                                  for key, _ in node.value).items():
            if times > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key '{key}' comes twice",
                                                        node.start_mark)
        return super().construct_mapping(node, deep)


class Check:
    """One value of the file and the path of its key; each method returns the value as what it
    should be, or says what it is not."""

    def __init__(self, path, key, value):
        self.path, self.key, self.value = path, key, value

    def fail(self, expected, found=None):
        found = describe(self.value) if found is None else found
        where = f"key '{self.key}': " if self.key else ""
        raise StudyError(f"file '{self.path}': {where}expected {expected}, found {found}")

    def at(self, name, value):
        return Check(self.path, f"{self.key}.{name}" if self.key else name, value)

    def text(self, expected="a text"):
        if not isinstance(self.value, str) or not self.value.strip():
            self.fail(expected)
        return self.value.strip()

    def one_of(self, words):
        if self.value not in words:
            self.fail("one of " + ", ".join(words))
        return self.value

    def whole(self, expected="a whole number of 1 or more"):
        if (not isinstance(self.value, str) or not re.fullmatch(r"[0-9]{1,9}", self.value) or
            int(self.value) < 1):
            self.fail(expected)
        return int(self.value)

    def wholes(self):
        expected = "a list of different whole numbers of 1 or more"
        if not isinstance(self.value, list) or not self.value:
            self.fail(expected)
        numbers = [self.at(str(n), item).whole() for n, item in enumerate(self.value)]
        if len(set(numbers)) < len(numbers):
            self.fail(expected)
        return sorted(numbers)

    def seconds(self):
        text = self.value if isinstance(self.value, str) else ""
        match = TIME.fullmatch(text) or CLOCK.fullmatch(text)
        seconds = sum(float(number or 0) * unit
                      for number, unit in zip(match.groups(), UNITS)) if match else 0
        if seconds <= 0:
            self.fail("a time such as 3h50m, 90min or 3:50:00")
        return seconds

    def mapping(self, known=None, expected="keys with values"):
        if not isinstance(self.value, dict) or not self.value:
            self.fail(expected)
        for key in self.value:
            if known is not None and key not in known:
                self.fail(f"one of the keys {', '.join(known)}", f"'{key}'")
        return self.value

    def options(self):
        """Options of the program as {name: value}; the value of one without any is None."""
        if isinstance(self.value, str):
            found = self.options_of_words()
        else:
            found = {}
            for key, value in self.mapping(
                expected="options, as -name value or as keys with values").items():
                if not isinstance(value, str):
                    self.at(key, value).fail("one value")
                found[self.new_option(key, found)] = value or None
        return found

    def new_option(self, key, found):
        """The name of an option: one that the study does not give itself, and that is not among the
        others."""
        name = key.lstrip("-")
        if name in OURS:
            self.fail(f"no option -{name}, which the study gives itself", f"-{name}")
        if name in found:
            self.fail("each option once", f"-{name} twice")
        return name

    def options_of_words(self):
        found, name = {}, None
        try:
            words = shlex.split(self.text("options, as -name value or as keys with values"))
        except ValueError as error:
            self.fail("options, as -name value", f"'{self.value.strip()[:100]}' ({error})")
        for word in words:
            if re.match(r"-[A-Za-z]", word):
                name = self.new_option(word, found)
                found[name] = None
            elif name is None or found[name] is not None:
                self.fail("options, each -name value", f"'{word}'")
            else:
                found[name] = word
        return found

    def values(self):
        """What one key of `vary` goes through: {label: value} where values are options or single
        words."""
        if isinstance(self.value, dict):
            return {label: self.at(label, options).options()
                    for label, options in self.mapping().items()}
        expected = "a list of different values, or labels with options"
        if (not isinstance(self.value, list) or not self.value or
            not all(isinstance(item, str) and item for item in self.value)):
            self.fail(expected)
        if len(set(self.value)) < len(self.value):
            self.fail(expected)
        return {item: item for item in self.value}


def describe(value):
    if isinstance(value, dict):
        return "keys with values" if value else "nothing"
    if isinstance(value, list):
        text = ", ".join(str(item) for item in value)
        return f"the list [{text if len(text) <= 100 else text[:100] + '...'}]"
    return f"'{value if len(value) <= 100 else value[:100] + '...'}'" if value else "nothing"


SERIES = ("nodes", "ranks", "options")
CLUSTER = ("servers", "rate", "server_rate", "latency", "stripe", "locks")
FLAGS = ("null_output", "raw_writes", "triad", "verify")
KEYS = ("title", "program", "options", "vary", *FLAGS, "strong", "weak", "ranks_per_node",
        "threads", "repetitions", "time_limit",
        "cluster", "smaller", "size", "fields", "least", "model", "tools", "paper")
# keys of one; paper.py has their meaning
FINDING = ("source", "found", "of", "over", "part", "at", "over_part", "over_at", "paper", "rule")
RANGE = r"above 1|unread|([0-9]{1,6}(?:\.[0-9]{1,6})?)(?: to ([0-9]{1,6}(?:\.[0-9]{1,6})?))?( %)?"


def tools_of(check):
    if (not isinstance(check.value, list) or not check.value or
        len({*map(str, check.value)}) < len(check.value)):
        check.fail(f"a list of different words of {', '.join(TOOLS)}")
    return [check.at(str(n), name).one_of(TOOLS) for n, name in enumerate(check.value)]


def overlay(below, above):
    """`above` over `below`; mappings key by key."""
    result = copy.deepcopy(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = overlay(result[key], value) if both else value
    return result


def series(check, known):
    found = check.mapping(known)
    if ("nodes" in found) == ("ranks" in found):
        check.fail("either nodes or ranks", "both" if "nodes" in found else "neither")
    result = {"options": check.at("options", found["options"]).options() if "options" in found
              else {}}
    name = "nodes" if "nodes" in found else "ranks"
    result[name] = check.at(name, found[name]).wholes()
    if "cells_per_rank" in known:
        if "cells_per_rank" not in found:
            check.fail("the key cells_per_rank", "none")
        result["cells_per_rank"] = check.at("cells_per_rank", found["cells_per_rank"]).whole()
    return result


def model_of(check, study):
    """Numbers of virtual ranks by mode, and options of nunatak-step."""
    found = check.mapping(("strong", "weak", "options"))
    if study["program"] != "nunatak":
        check.fail("model of nunatak", study["program"])
    if not {"strong", "weak"} & found.keys():
        check.fail("the key strong, weak, or both", "neither")
    result = {mode: check.at(mode, found[mode]).wholes()
              for mode in ("strong", "weak") if mode in found}
    options = check.at("options", found["options"]).options() if "options" in found else {}
    return {**result, "options": options}


def paper_of(check):
    """What papers found: texts, and of a ratio its curves (labels of `vary`, methods), parts and
    numbers of nodes or ranks."""
    if not isinstance(check.value, list) or not check.value:
        check.fail("a list of findings")
    found = []
    for n, value in enumerate(check.value, 1):
        one = check.at(str(n), value)
        found.append({key: one.at(key, text).text() for key, text in one.mapping(FINDING).items()})
        for key in ("source", "found", "rule", *(("of", "over", "paper") if found[-1].keys() -
                                                 {"source", "found", "rule"} else ())):
            if key not in found[-1]:
                one.fail(f"the key {key}", "none")
        numbers = re.fullmatch(RANGE, found[-1].get("paper", "2"))
        if (not numbers or float(numbers[1] or 1) <= 0 or numbers[3] and
            float(numbers[2] or numbers[1]) >= 100):
            one.at("paper", found[-1]["paper"]).fail(
                "a ratio like 10 or 9 to 14, above 1, unread, or what was saved, like 80 to 98 %")
        for key, words in (("at", "least|most|each"), ("over_at", "least|most")):
            if not re.fullmatch(words + r"|[1-9][0-9]{0,8}", found[-1].get(key, "most")):
                one.at(key, found[-1][key]).fail("a number of nodes (or of ranks, if the study "
                                                 f"counts them), or {words.replace('|', ', ')}")
    return found


def vary_of(check):
    """{key: {label: options, or the value of the option that the key names}}. An option belongs to
    one key."""
    found, owners = {}, {}
    for key, value in check.mapping().items():
        one, name = check.at(key, value), check.new_option(key, found)
        found[name] = one.values()
        if name in SIZES:
            one.wholes()
        for option in sorted({name for label in found[name].values() for name in label}
                             if isinstance(value, dict) else {name}):
            if option in owners:
                check.fail("each option in one key", f"-{option} in '{owners[option]}' and '{key}'")
            owners[option] = key
    return found


def varied(study):
    """The options that `vary` sets, and its keys that are none."""
    return {name for key, labels in study["vary"].items() for value in labels.values()
            for name in (value if isinstance(value, dict) else [key])}


def refuse_overridden(path, study):
    """Options of a series that could have no effect, as the runs have those of `vary` or of
    cells_per_rank."""
    for mode in ("strong", "weak"):
        own = study.get(mode, {"options": {}})["options"].keys()
        for name in sorted(varied(study) & own):
            Check(path, f"{mode}.options", "").fail("no option that the key vary sets", f"-{name}")
    for name in WEAK if "weak" in study else ():
        if name in varied(study) | study["weak"]["options"].keys():
            Check(path, "weak", "").fail(
                f"no -{name} in vary or in its options: it follows from cells_per_rank", f"-{name}")


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(LONGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"file '{path}': expected a study, found none: "
                         f"{getattr(error, 'strerror', None) or error}") from None
    return of_text(path, text)


def of_text(path, text):
    if len(text) > LONGEST:
        raise StudyError(f"file '{path}': expected at most {LONGEST} characters, found more")
    try:
        return yaml.load(text, Loader)
    except RecursionError:
        raise StudyError(
            f"file '{path}': expected YAML, found too many brackets inside one another") from None
    except yaml.YAMLError as error:
        raise StudyError(
            f"file '{path}': expected YAML, found: {' '.join(str(error).split())}") from None


def read(path, full=False, size=None, cluster=None, **given):
    """The study with all its keys, and the text that it was made from: with the overrides of `full`
    or of one of the `sizes`, if they are asked for, with those of the emulated cluster, and with
    keys of the command line; `options` are added to those of the file."""
    top = Check(path, "", load(path))
    if not isinstance(top.value, dict) or not top.value:
        raise StudyError(f"file '{path}': expected the keys of a study ({', '.join(KEYS)}), found "
                         f"{describe(top.value)}")
    raw = dict(top.mapping((*KEYS, "full", "sizes")))
    sizes = top.at("sizes", raw.pop("sizes")).mapping() if "sizes" in raw else {}
    if sizes and size not in sizes or size and not sizes:
        Check(path, "", size or "").fail("one of the sizes " + ", ".join(sizes) + " (--size)"
                                         if sizes else "the key sizes, for --size")
    for name, values in sizes.items():
        top.at("sizes", sizes).at(name, values).mapping(KEYS)
    raw = overlay(raw, {**sizes[size], "size": size}) if size else raw
    overrides = raw.pop("full", None)
    if full:
        if overrides is None:
            top.fail("the key full, for --full", "none")
        raw = overlay(raw, top.at("full", overrides).mapping(KEYS))
        raw.pop("smaller", None)
    elif overrides is not None:
        top.at("full", overrides).mapping(KEYS)
    of_file = checked(path, raw)
    options = given.pop("options", None)
    given = {name: str(value) for name, value in given.items() if value is not None}
    if options:
        options = Check("--options", "", options).options()
        raw["options"] = {name: value or ""
                          for name, value in {**of_file["options"], **options}.items()}
    series = {name for mode in ("strong", "weak") if mode in of_file
              for name in of_file[mode]["options"]}
    for name in sorted({*given, *(options or ())} & (varied(of_file) | series)):
        word = f"--{name.replace('_', '-')}" if name in SIZES else "--options"
        raise StudyError(f"{word}: expected what the keys vary, strong and weak of '{path}' do not "
                         f"set, found {name}")
    raw = overlay(raw, {**({"cluster": cluster} if cluster else {}), **given})
    return checked(path, raw), yaml.safe_dump(plain(raw), sort_keys=False, allow_unicode=True)


def plain(value):
    """Numbers as numbers, for a file that people read."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value) if re.fullmatch(r"[1-9][0-9]{0,8}|0", value) else value


def checked(path, raw):
    def at(key):
        return Check(path, key, raw.get(key, ""))

    if "strong" not in raw and "weak" not in raw:
        Check(path, "strong", "").fail("the key strong, weak, or both", "neither")
    program = at("program").one_of(PROGRAMS) if "program" in raw else PROGRAMS[0]
    study = {"title": at("title").text() if "title" in raw else pathlib.Path(path).stem,
             "program": program,
             "options": at("options").options() if "options" in raw else {}, "vary": {}}
    if "vary" in raw:
        study["vary"] = vary_of(at("vary"))
    for name in FLAGS:
        study[name] = name in raw and at(name).one_of(("yes", "no")) == "yes"
        if study[name] and program != "nunatak":
            at(name).fail(f"{name} of nunatak", program)
    for name in ("smaller", "size", "fields"):
        study[name] = at(name).text() if name in raw else ""
    for name in SIZES:
        study[name] = at(name).whole() if name in raw else 1
    if "strong" in raw:
        study["strong"] = series(at("strong"), SERIES)
    if "weak" in raw:
        if program != "nunatak":
            at("weak").fail("weak scaling of nunatak", program)
        study["weak"] = series(at("weak"), (*SERIES, "cells_per_rank"))
    refuse_overridden(path, study)
    study["model"] = model_of(at("model"), study) if "model" in raw else None
    study["tools"] = tools_of(at("tools")) if "tools" in raw else []
    study["paper"] = paper_of(at("paper")) if "paper" in raw else []
    study["least"] = at("least").seconds() if "least" in raw else 0.0
    study["repetitions"] = at("repetitions").whole() if "repetitions" in raw else 3
    study["time_limit"] = at("time_limit").seconds() if "time_limit" in raw else 600.0
    study["cluster"] = {"servers": "4", "rate": "200mbit", "latency": "200us"}
    if "cluster" in raw:
        values = at("cluster").mapping(CLUSTER).items()
        study["cluster"].update(
            {name: at("cluster").at(name, value).text() for name, value in values})
    return study
