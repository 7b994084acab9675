"""What looks after a set of records: operators propose, the lifecycle decides, a report says what came of it.

Every step is a function from values to an `Outcome`: the new versions, which the caller stores, and the report.

- `write.take_in(text, *, extractor, provenance, known, now, tags=(), allow=())`: records out of a text.
- `pipeline.consolidate(records, *, now, operators=Operators(), allow=(), whole=True)`: what is the same or contradicts.
- `pipeline.resolve(records, *, winner, loser, reason, now)`: a person decides a contradiction.
- `pipeline.refresh_flags(records, *, now)`: which rules have lost their evidence, after any other move.
- `decay.decay(records, *, now, uses={}, rates=Rates())`: what nobody has needed for long is put away.
"""
