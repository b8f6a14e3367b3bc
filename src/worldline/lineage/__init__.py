"""Lineage-driven fault injection: from a good outcome to faults that could undo it.

- `engines`: the searches; they know faults, goals and support formulas
  (`worldline.injection`), and nothing of what runs. Start reading at `loop`.
- `explaining`: faults in words, drawings, pages.
- `rounds`: a run of Python nodes in synchronous rounds.
- `targets`: what can be asked, a Dedalus program or a system of Python nodes.

`faults` is the question as users put it, `dispatch` chooses its engine, `answering` makes
the report.
"""
