"""The predictor's process: it thinks beside a host, and never keeps it waiting.

Begin with `predictor`, which starts one, asks it, and goes on without it when it dies;
`child` is what runs there, `works` what it can be asked, `frames` how the two talk, and
`questions` and `answers` how snapshots, and findings and filters are spelt.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 4: there, too, the checker is a process
of its own.
"""
