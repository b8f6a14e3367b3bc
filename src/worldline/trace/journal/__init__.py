"""Journals: what each node of a deployed system writes down, and how messages travel.

Begin with `codec`, which spells values and messages as bytes, on the wire as in a file;
then `records`, what a journal says; `segments`, the files it is kept in; `reading`. What
writes one is in `worldline.deploy`. Nothing here runs code that a file or packet names.
"""
