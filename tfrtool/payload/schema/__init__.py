"""What a data set holds: a bounded summary of many records, which merges with that of others.

`summary` is the value, `kernel` fills it from batches of payloads. Nothing here is imported by the commands that only
walk records.
"""
