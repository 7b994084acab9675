"""What looks after a set of records: operators propose, the lifecycle decides, a report says what came of it.

Every step is a function from values to an `Outcome`: the new versions, which the caller stores, and the report.
"""
