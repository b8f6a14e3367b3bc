"""Which faults could undo a good outcome: found backwards, from its lineage.

The searches here know faults, goals and support formulas (`worldline.model.injection`),
and nothing of what runs. Start reading at `loop`.
"""
