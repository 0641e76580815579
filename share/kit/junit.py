#!/usr/bin/env python3
"""JUnit's XML, which CI systems show, of what nunatak-distance and nunatak-labels say of answers.

    nunatak-distance -check answers -report r.json
    junit.py r.json > junit.xml                      # of any number of reports
"""
import json
import sys
import xml.etree.ElementTree as xml

if len(sys.argv) < 2:
    sys.exit("junit.py: expected reports of -check, found none")
suites = xml.Element("testsuites")
for path in sys.argv[1:]:
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        results = [case["result"] for case in report["cases"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        sys.exit(f"junit.py: file '{path}': expected a report of -check, found: {error}")
    suite = xml.SubElement(suites, "testsuite", name=path, tests=str(len(results)),
                           failures=str(results.count("differs")),
                           errors=str(results.count("no answer")))
    for case in report["cases"]:
        one = xml.SubElement(suite, "testcase", classname=report["tool"], name=case["case"])
        if case["result"] != "equal":
            xml.SubElement(one, "error" if case["result"] == "no answer" else "failure",
                           message=case["result"]).text = case["text"]
xml.ElementTree(suites).write(sys.stdout.buffer, encoding="utf-8", xml_declaration=True)
