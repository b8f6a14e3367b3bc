"""The style of a page, and the key to its drawings."""

from __future__ import annotations

from worldline.lineage.explaining.svg import STYLE

PAGE_STYLE = f"""
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 1em auto; max-width: 1340px;
  padding: 0 1em; color: #1b1f24; background: #fff; overflow-wrap: anywhere }}
h1 {{ font-size: 1.4em; margin: 0.4em 0 }} h2 {{ font-size: 1.15em; margin: 1em 0 0.3em }}
h3 {{ font-size: 1em }} ul {{ margin: 0.4em 0; padding-left: 1.4em; columns: 24em }}
.violated {{ color: #b3261e }} .holds {{ color: #1a7f37 }} .unknown {{ color: #9a6700 }}
.cause {{ font-size: 1.1em; margin: 0.4em 0; padding: 0.4em 0.8em;
  border-left: 4px solid #b3261e; background: #fff5f5 }}
.figure, pre {{ overflow-x: auto; border: 1px solid #d0d7de; border-radius: 6px;
  margin: 0.7em 0 }} .figure {{ max-height: 90vh; overflow-y: auto;
  width: fit-content; max-width: 100%; box-sizing: border-box }}
.beside {{ display: flex; flex-wrap: wrap; gap: 0 1.5em; align-items: flex-start }}
.beside > div {{ max-width: 100% }} h3 {{ margin: 0.6em 0 0 }} .beside p {{ margin: 0 }}
 .figure svg {{ display: block }}
svg.narrow {{ max-width: 100%; height: auto }}
pre {{ padding: 0.8em; font: 12px/1.4 ui-monospace, monospace }}
.because {{ border: none; margin: 0; padding: 0 0 0 1.2em; white-space: pre-wrap }}
.key {{ font-size: 13px; color: #424a53 }} .key span {{ white-space: nowrap }}
.boxed {{ border: 1px solid #57606a; border-radius: 4px; padding: 0 4px }}
.key .blue {{ color: #0969da; font-weight: bold }} .key .boxed.blue {{ border-color: #0969da }}
.key .red {{ color: #b3261e; font-weight: bold }} .key .grey {{ color: #8c959f }}
.key .boxed.lack {{ border: 1px dashed #b3261e; background: #ffebe9 }}
.key .boxed.more {{ border-color: #b3261e; background: #fff8c5 }}
.key .boxed.gone {{ border: 1px dotted #b3261e; background: #ffebe9 }}
{STYLE}"""

KEY_OF_RUNS = (
    '<p class="key">Runs: time goes down. <span class="blue">→ arrives</span>, '
    '<span class="red">╌✕ lost</span>, <span class="grey">┈ not sent, because of a crash'
    "</span>; a node that has crashed goes on as a dotted line. The names of nodes "
    "that matter are bold. Point at an arrow to see what it carries.</p>"
)
KEY_OF_LINEAGE = (
    '<p class="key">Lineage: an outcome stands above what it needs, as far as that fails '
    'here. <span class="boxed lack">lacking</span> holds without faults, and not here; '
    '<span class="boxed gone">not …</span> must be absent, and '
    '<span class="boxed more">this</span> is there instead. '
    '<span class="blue">Blue</span> is the way with the fewest messages; dashed arrows '
    "are messages, dotted ones stand for what must be absent.</p>"
)
