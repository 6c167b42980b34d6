"""Summarize many records: a bounded summary of what a data set holds, which merges with that of others.

`dataset` is the value, `summarize` fills it from batches of payloads. Nothing here is imported by the commands that
only walk records.
"""
