/**
 * The tables. `project_id` leads every primary key but that of the leases, numbers come from counters in the parent's row,
 * and names are looked up by unique indexes. There are no sequences, triggers or foreign keys, so that any
 * Postgres-compatible engine takes it.
 *
 * Times are epoch milliseconds. Users' free text is stored as JSON text, which escapes U+0000 and lone surrogates: not every
 * database takes them.
 */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"

/** Column types and table options, by dialect. A released migration must not change, so it keeps its own. */
const typesOf = (sql: SqlClient.SqlClient) => ({
  bytes: sql.onDialectOrElse({ pg: () => "bytea", orElse: () => "BLOB" }),
  uuid: sql.onDialectOrElse({ pg: () => "uuid", orElse: () => "BLOB" }),
  bigint: sql.onDialectOrElse({ pg: () => "bigint", orElse: () => "INTEGER" }),
  double: sql.onDialectOrElse({ pg: () => "double precision", orElse: () => "REAL" }),
  /** Compares by bytes, like SQLite. The bounded length keeps Postgres from creating a TOAST table. */
  name: sql.onDialectOrElse({ pg: () => `varchar(255) COLLATE "C"`, orElse: () => "TEXT" }),
  short: sql.onDialectOrElse({ pg: () => `varchar(100) COLLATE "C"`, orElse: () => "TEXT" }),
  /** A word of a provider of 100 characters at most, after a mark of one. */
  word: sql.onDialectOrElse({ pg: () => `varchar(101) COLLATE "C"`, orElse: () => "TEXT" }),
  label: sql.onDialectOrElse({ pg: () => "varchar(255)", orElse: () => "TEXT" }),
  /** For keys that are inserted in ascending order: leaves no free space in the pages. */
  appended: sql.onDialectOrElse({ pg: () => "WITH (fillfactor = 100)", orElse: () => "" }),
  /** The same order, as the columns have no nulls, but not for the planner. */
  otherOrder: sql.onDialectOrElse({ pg: () => "NULLS FIRST", orElse: () => "" }),
  /** For values that are compressed and mostly small: keeps them in the row, up to the size of a page. */
  inline: sql.onDialectOrElse({ pg: () => "WITH (toast_tuple_target = 8160)", orElse: () => "" }),
  /**
   * Stores the rows in the primary key's index, which halves the space. Only for rows of bounded size: SQLite reads the whole
   * row to compare its key. For the same reason long text comes last in the rows of the other tables.
   */
  clustered: sql.onDialectOrElse({ sqlite: () => "WITHOUT ROWID", orElse: () => "" })
})

/** Wide columns first: Postgres aligns columns to their width, and so adds no padding. */
const eventColumns = ({ bigint, bytes, double, label, short, uuid, word }: ReturnType<typeof typesOf>) => ({
  /** Since the time in the event's id, in milliseconds: mostly none, which takes no byte in SQLite. */
  received_after: `${bigint} NOT NULL`,
  occurred_at: bigint,
  duration_ms: double,
  first_token_ms: double,
  /** Billionths of a dollar. */
  cost: bigint,
  project_id: "INTEGER NOT NULL",
  session_number: "INTEGER NOT NULL",
  agent_number: "INTEGER NOT NULL",
  agent_version_number: "INTEGER NOT NULL",
  person_number: "INTEGER",
  pack_number: "INTEGER NOT NULL",
  kind_number: "INTEGER NOT NULL",
  inputs_bytes: "INTEGER NOT NULL",
  output_bytes: "INTEGER NOT NULL",
  input_tokens: "INTEGER",
  output_tokens: "INTEGER",
  cache_read_tokens: "INTEGER",
  cache_write_tokens: "INTEGER",
  reasoning_tokens: "INTEGER",
  summary_checksum: "INTEGER NOT NULL",
  texts_checksum: "INTEGER NOT NULL",
  http_status: "SMALLINT",
  stop_reason: "SMALLINT",
  error_status: "SMALLINT",
  event_id: `${uuid} NOT NULL`,
  trace_id: uuid,
  span_id: bytes,
  provider: word,
  provider_stop_reason: word,
  error_type: short,
  model: label,
  response_model: label,
  tool_calls: "varchar(1000)",
  metadata: "TEXT"
})

/** What many events have in common: few of them, and nothing that an erasure has to remove. */
const kindColumns = ({ name, short, uuid }: ReturnType<typeof typesOf>) => ({
  project_id: "INTEGER NOT NULL",
  kind_number: "INTEGER NOT NULL",
  api: "SMALLINT NOT NULL",
  price_is_exact: "SMALLINT",
  unpriced: "SMALLINT",
  fingerprint_id: `${uuid} NOT NULL`,
  /** A name of the kept list, or of an operator, and so of no user. */
  price_name: name,
  /** By which facts and costs were computed. Short, so that Postgres creates no TOAST table. */
  rules: `${short} NOT NULL`
})

/** Columns of the tables `events` and `event_kinds` that this migration creates. `sql/EventColumns` is checked against them. */
export type EventColumn = keyof ReturnType<typeof eventColumns>
export type KindColumn = keyof ReturnType<typeof kindColumns>

const listed = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([column, type]) => `${column} ${type}`)
    .join(", ")

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const types = typesOf(sql)
  const bigint = sql.literal(types.bigint)
  const bytes = sql.literal(types.bytes)
  const uuid = sql.literal(types.uuid)
  const name = sql.literal(types.name)
  const short = sql.literal(types.short)
  const appended = sql.literal(types.appended)
  const inline = sql.literal(types.inline)
  const clustered = sql.literal(types.clustered)

  yield* sql`CREATE TABLE projects (
    project_id INTEGER NOT NULL PRIMARY KEY,
    project_name ${name} NOT NULL UNIQUE,
    agents INTEGER NOT NULL DEFAULT 0,
    people INTEGER NOT NULL DEFAULT 0,
    sessions INTEGER NOT NULL DEFAULT 0,
    erased_to ${uuid}
  )`

  yield* sql`CREATE TABLE api_keys (
    project_id INTEGER NOT NULL,
    key_id ${short} NOT NULL,
    key_hash ${short} NOT NULL,
    key_name ${name} NOT NULL,
    scopes ${short} NOT NULL,
    created_at ${bigint} NOT NULL,
    expires_at ${bigint},
    revoked_at ${bigint},
    PRIMARY KEY (project_id, key_id)
  ) ${clustered}`
  yield* sql`CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (key_hash)`

  yield* sql`CREATE TABLE fingerprints (
    project_id INTEGER NOT NULL,
    fingerprint_id ${uuid} NOT NULL,
    created_at ${bigint} NOT NULL,
    fields TEXT NOT NULL,
    PRIMARY KEY (project_id, fingerprint_id)
  )`

  // No description, and no properties of a person: only events have named it. A version that was put without a description has `null`.
  yield* sql`CREATE TABLE agents (
    project_id INTEGER NOT NULL,
    agent_number INTEGER NOT NULL,
    agent_name ${name} NOT NULL,
    created_at ${bigint} NOT NULL,
    versions INTEGER NOT NULL DEFAULT 0,
    description TEXT,
    PRIMARY KEY (project_id, agent_number)
  )`
  yield* sql`CREATE UNIQUE INDEX agents_by_name ON agents (project_id, agent_name)`

  yield* sql`CREATE TABLE agent_versions (
    project_id INTEGER NOT NULL,
    agent_number INTEGER NOT NULL,
    agent_version_number INTEGER NOT NULL,
    agent_version_name ${name} NOT NULL,
    created_at ${bigint} NOT NULL,
    deprecated_at ${bigint},
    description TEXT,
    PRIMARY KEY (project_id, agent_number, agent_version_number)
  )`
  yield* sql`CREATE UNIQUE INDEX agent_versions_by_name
    ON agent_versions (project_id, agent_version_name, agent_number)`

  yield* sql`CREATE TABLE people (
    project_id INTEGER NOT NULL,
    person_number INTEGER NOT NULL,
    person_id ${name} NOT NULL,
    created_at ${bigint} NOT NULL,
    properties TEXT,
    PRIMARY KEY (project_id, person_number)
  )`
  yield* sql`CREATE UNIQUE INDEX people_by_id ON people (project_id, person_id)`

  yield* sql`CREATE TABLE sessions (
    project_id INTEGER NOT NULL,
    session_number INTEGER NOT NULL,
    session_id ${name} NOT NULL,
    generation ${bigint} NOT NULL DEFAULT 0,
    packs INTEGER NOT NULL DEFAULT 0,
    history ${bigint} NOT NULL DEFAULT 0,
    parts ${bigint} NOT NULL DEFAULT 0,
    erased_pieces ${bigint} NOT NULL DEFAULT 0,
    stored_bytes ${bigint} NOT NULL DEFAULT 0,
    ranked_bytes ${bigint} NOT NULL DEFAULT 0,
    pending_sweep INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, session_number)
  ) ${clustered}`
  // `ranked_bytes` follows `stored_bytes` by steps, so that the index seldom changes: see `space/SessionSizes`.
  yield* sql`CREATE INDEX sessions_by_size ON sessions (project_id, ranked_bytes)`
  yield* sql`CREATE UNIQUE INDEX sessions_by_id ON sessions (project_id, session_id)`
  yield* sql`CREATE INDEX sessions_pending_sweep ON sessions (project_id, session_number) WHERE pending_sweep > 0`

  yield* sql`CREATE TABLE events (
    ${sql.literal(listed(eventColumns(types)))},
    PRIMARY KEY (project_id, event_id) ${appended}
  ) ${clustered}`
  // `dialect/EventIndex` says why their last columns are ordered in another way than those of the primary key.
  const other = sql.literal(types.otherOrder)
  yield* sql`CREATE INDEX events_by_session
    ON events (project_id, session_number, agent_number ${other}, event_id ${other}) ${appended}`
  yield* sql`CREATE INDEX events_by_agent
    ON events (project_id, agent_number, agent_version_number ${other}, event_id ${other}) ${appended}`
  yield* sql`CREATE INDEX events_by_person
    ON events (project_id, person_number, agent_number ${other}, event_id ${other})
    ${appended} WHERE person_number IS NOT NULL`
  yield* sql`CREATE INDEX events_by_trace
    ON events (project_id, trace_id, event_id ${other}) ${appended} WHERE trace_id IS NOT NULL`

  yield* sql`CREATE TABLE event_kinds (
    ${sql.literal(listed(kindColumns(types)))},
    PRIMARY KEY (project_id, kind_number)
  ) ${clustered}`

  // `agent_number` is the agent of the pack's event, under which the pack's bytes are counted. `kept` is 0 when the event has
  // been erased.
  yield* sql`CREATE TABLE packs (
    project_id INTEGER NOT NULL,
    session_number INTEGER NOT NULL,
    pack_number INTEGER NOT NULL,
    agent_number INTEGER NOT NULL,
    kept SMALLINT NOT NULL DEFAULT 1,
    pack ${bytes} NOT NULL,
    PRIMARY KEY (project_id, session_number, pack_number)
  ) ${inline}`

  yield* sql`CREATE TABLE shared_pieces (
    project_id INTEGER NOT NULL,
    sha256 ${bytes} NOT NULL,
    size INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    piece ${bytes} NOT NULL,
    PRIMARY KEY (project_id, sha256)
  ) ${inline}`
  // Packs and pieces are compressed: keeps Postgres from trying again.
  yield* sql.onDialectOrElse({
    pg: () =>
      Effect.andThen(
        sql`ALTER TABLE packs ALTER COLUMN pack SET STORAGE EXTERNAL`,
        sql`ALTER TABLE shared_pieces ALTER COLUMN piece SET STORAGE EXTERNAL`
      ),
    orElse: () => Effect.void
  })

  yield* sql`CREATE TABLE shared_piece_owners (
    project_id INTEGER NOT NULL,
    session_number INTEGER NOT NULL,
    sha256 ${bytes} NOT NULL,
    PRIMARY KEY (project_id, session_number, sha256)
  ) ${clustered}`
  yield* sql`CREATE INDEX shared_piece_owners_by_piece ON shared_piece_owners (project_id, sha256)`

  // Counters of the space that payloads take. Session 0 and agent 0 stand for the project's shared pieces.
  yield* sql`CREATE TABLE storage_usage (
    project_id INTEGER NOT NULL,
    session_number INTEGER NOT NULL,
    agent_number INTEGER NOT NULL,
    entries ${bigint} NOT NULL,
    sent_bytes ${bigint} NOT NULL,
    new_bytes ${bigint} NOT NULL,
    stored_bytes ${bigint} NOT NULL,
    PRIMARY KEY (project_id, session_number, agent_number)
  ) ${clustered}`

  // The sums of `storage_usage` over the sessions of each agent, by the rules of its events and in stripes: see
  // `dialect/Dialect`. What was erased of packs is taken from the rows with empty rules.
  yield* sql`CREATE TABLE agent_usage (
    project_id INTEGER NOT NULL,
    agent_number INTEGER NOT NULL,
    rules ${short} NOT NULL,
    stripe SMALLINT NOT NULL,
    entries ${bigint} NOT NULL,
    sent_bytes ${bigint} NOT NULL,
    new_bytes ${bigint} NOT NULL,
    stored_bytes ${bigint} NOT NULL,
    PRIMARY KEY (project_id, agent_number, rules, stripe)
  ) ${clustered}`

  // What events add up to, derived from them: `rollup/Rollups` says what the rows are. Numbers that a row does not have are 0.
  yield* sql`CREATE TABLE rollups (
    last_event ${uuid},
    project_id INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    session_number INTEGER NOT NULL,
    agent_number INTEGER NOT NULL,
    agent_version_number INTEGER NOT NULL,
    person_number INTEGER NOT NULL,
    series SMALLINT NOT NULL,
    api SMALLINT NOT NULL,
    model ${name} NOT NULL,
    response_model ${name} NOT NULL,
    sums ${bytes} NOT NULL,
    PRIMARY KEY (project_id, series, session_number, person_number, slot, agent_number, agent_version_number, api,
      model, response_model)
  ) ${clustered}`
  yield* sql`CREATE INDEX rollups_by_last_event ON rollups (project_id, last_event) WHERE series = 1`

  // The hashes are text: for a column of bytes, which has no bounded length, Postgres would create a TOAST table. `key_hash` is
  // that of the session's name and the key, which is unique within its session.
  yield* sql`CREATE TABLE idempotency_keys (
    project_id INTEGER NOT NULL,
    event_id ${uuid} NOT NULL,
    key_hash ${short} NOT NULL,
    body_hash ${short} NOT NULL,
    PRIMARY KEY (project_id, key_hash)
  ) ${clustered}`
  yield* sql`CREATE INDEX idempotency_keys_by_event ON idempotency_keys (project_id, event_id)`

  yield* sql`CREATE TABLE leases (
    lease_name ${name} NOT NULL PRIMARY KEY,
    holder ${short} NOT NULL,
    expires_at ${bigint} NOT NULL
  ) ${clustered}`
})
