#!/usr/bin/env python3
"""Slides in Markdown, as Marp reads them (a slide ends at a line "---", a comment is a speaker's
note), as one HTML page or, with the package weasyprint, as a PDF with the notes below each slide.

    scripts/course/slides.py docs/course/class/slides.md slides.html|slides.pdf
"""

import argparse
import base64
import pathlib
import re
import sys

from project_python import require

require("markdown", "python3 -m pip install markdown")
import markdown  # noqa: E402

STYLE = """
body {margin: 0; font-family: sans-serif}
section {box-sizing: border-box; padding: 3vh 5vw; position: relative}
pre {background: #eee; padding: .5em; white-space: pre-wrap; overflow-wrap: anywhere}
img {max-width: 60%; max-height: 45vh}
table {border-collapse: collapse}
td, th {border-bottom: 1px solid #999; padding: .2em .8em}
h1, h2 {color: #0072B2}
aside {color: #444; border-top: 1px solid #999; font-size: 60%}
footer {position: absolute; right: 2vw; bottom: 1vh; font-size: 60%}
@media screen {
  section {min-height: 100vh; font-size: 3vh; border-bottom: 1px solid #ccc}
  body:not(.notes) aside {display: none}
}
@media print {
  @page {size: 28cm 21cm; margin: 1cm}
  section {break-after: page; font-size: 15pt; height: 18.5cm}
  img {max-height: 6cm}
}
"""
KEYS = """
addEventListener('keydown', e => {
  if (e.key == 'n') document.body.classList.toggle('notes');
  const step = {ArrowRight: 1, PageDown: 1, ' ': 1, ArrowLeft: -1, PageUp: -1}[e.key];
  if (!step) return;
  e.preventDefault();
  const all = [...document.querySelectorAll('section')];
  const here = all.findIndex(s => s.getBoundingClientRect().bottom > 10);
  all[Math.max(0, Math.min(all.length - 1, here + step))].scrollIntoView();
});
"""


def page(path):
    text = path.read_text()
    title = re.search(r"^title: (.*)$", text, re.M)[1]
    slides = re.split(r"^---$", re.sub(r"\A---\n.*?^---$", "", text, flags=re.M | re.S), flags=re.M)
    out = []
    for n, slide in enumerate(slides, 1):
        notes = " ".join(re.findall(r"<!--(.*?)-->", slide, re.S))
        html = markdown.markdown(re.sub(r"<!--.*?-->", "", slide, flags=re.S),
                                 extensions=["tables", "fenced_code"])
        def inside(found):
            data = (path.parent / found[1]).read_bytes()
            return f'src="data:image/png;base64,{base64.b64encode(data).decode()}"'
        html = re.sub(r'src="([^"]+)"', inside, re.sub(r'alt="w:\d+"', 'alt=""', html))
        notes = markdown.markdown(notes)
        out.append(f"<section>{html}<aside>{notes}</aside><footer>{n}</footer></section>")
    return (f"<!doctype html><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
            f"{''.join(out)}<script>{KEYS}</script>")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slides", type=pathlib.Path, help="Markdown")
    parser.add_argument("output", type=pathlib.Path, help="name.html or name.pdf")
    options = parser.parse_args()
    html = page(options.slides)
    if options.output.suffix != ".pdf":
        options.output.write_text(html)
        return
    try:
        import weasyprint
    except ImportError as error:
        sys.exit(f"slides.py: {error}: python3 -m pip install weasyprint, or print the HTML page "
                 "from a browser")
    weasyprint.HTML(string=html).write_pdf(options.output)


if __name__ == "__main__":
    main()
