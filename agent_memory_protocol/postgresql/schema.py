"""The tables of a namespace and who may do what with them, as SQL that people can read before it runs.

A namespace is a schema of its name. Every statement may run again and changes nothing then. What a later version adds
is one more step, and `init-store` brings a namespace of an earlier one up to it.
"""

STEPS: tuple[str, ...] = (
    """
CREATE TABLE IF NOT EXISTS "NAME".about (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),  -- this table has one row
    version integer NOT NULL,                          -- of these tables
    words integer NOT NULL,                            -- how texts were read when "tokens" was made
    made uuid NOT NULL DEFAULT gen_random_uuid());     -- another one after a restore: positions in the feed end there

-- Every version of every record, as its canonical JSON. Rows are only added.
CREATE TABLE IF NOT EXISTS "NAME".versions (
    record_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    payload text NOT NULL,
    PRIMARY KEY (record_id, version));

-- The newest version of each record, and what finds it. "written" is the transaction that wrote the row.
CREATE TABLE IF NOT EXISTS "NAME".heads (
    record_id text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL,
    state text NOT NULL,
    type text NOT NULL,
    tags text[] NOT NULL,
    said bytea NOT NULL,
    size integer NOT NULL,
    tokens tsvector,
    written xid8 NOT NULL DEFAULT pg_current_xact_id());
CREATE INDEX IF NOT EXISTS heads_written ON "NAME".heads (written);
CREATE INDEX IF NOT EXISTS heads_said ON "NAME".heads (said);
CREATE INDEX IF NOT EXISTS heads_rules ON "NAME".heads (record_id) WHERE type = 'rule';
CREATE INDEX IF NOT EXISTS heads_unsettled ON "NAME".heads (state) WHERE state <> 'active';
CREATE INDEX IF NOT EXISTS heads_tokens ON "NAME".heads USING gin (tokens) WITH (fastupdate = off);

-- Plain words, to tell what a slip of the pen may mean.
CREATE TABLE IF NOT EXISTS "NAME".spellings (
    word text COLLATE "C" PRIMARY KEY,
    backwards text COLLATE "C" NOT NULL GENERATED ALWAYS AS (reverse(word)) STORED);
CREATE INDEX IF NOT EXISTS spellings_backwards ON "NAME".spellings (backwards);

-- How often each record was used: what decay goes by.
CREATE TABLE IF NOT EXISTS "NAME".uses (
    record_id text COLLATE "C" PRIMARY KEY,
    count integer NOT NULL,
    last text COLLATE "C" NOT NULL);
""",
)
"""What each version adds to the tables of the one before."""

VERSION = len(STEPS)

_BEGIN = """\
CREATE SCHEMA IF NOT EXISTS "NAME";
"""

_RIGHTS = """
-- Who reads gets NAME_reader, who writes NAME_writer; only the owner of these tables can redact.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['NAME_reader', 'NAME_writer'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
    END LOOP;
END $$;
GRANT USAGE ON SCHEMA "NAME" TO "NAME_reader", "NAME_writer";
GRANT SELECT ON ALL TABLES IN SCHEMA "NAME" TO "NAME_reader", "NAME_writer";
GRANT INSERT ON "NAME".versions, "NAME".heads, "NAME".spellings, "NAME".uses TO "NAME_writer";
GRANT UPDATE ON "NAME".heads, "NAME".uses TO "NAME_writer";
"""

_END = """
INSERT INTO "NAME".about (version, words) VALUES (VERSION, WORDS)
    ON CONFLICT (one) DO UPDATE SET version = EXCLUDED.version;
"""


def script(namespace: str, *, words: int) -> str:
    """Return the SQL that makes a namespace, or brings one up to this version; `words` says how texts are read."""
    parts = (_BEGIN, *STEPS, _RIGHTS, _END)
    text = "".join(parts).replace("VERSION", str(VERSION)).replace("WORDS", str(words))
    return text.replace("NAME", namespace)
