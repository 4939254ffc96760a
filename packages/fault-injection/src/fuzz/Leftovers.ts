/** Looks in the rows and the file of a closed store for what was erased from it. */
import { VerifySuite } from "@tachograph/testkit"
import { Uuid } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"
import { existsSync, readFileSync } from "node:fs"
import type { Known } from "./DamagePlan.ts"
import type { Erased } from "./DamageRound.ts"

const { Rows } = VerifySuite
type Row = VerifySuite.Rows.Row

/** The packs of the store before the damage, and the names that they belong to. */
export interface StoredPacks {
  readonly packs: ReadonlyArray<{
    /** Its project, session and number. */
    readonly key: string
    readonly session: string
    readonly event: string | undefined
    readonly bytes: Buffer
  }>
  readonly sessions: ReadonlyMap<string, Row>
}

const idOf = (stored: unknown): string => (typeof stored === "string" ? stored : Uuid.fromBytes(stored as Uint8Array))

const packKey = (row: Row) => `${row["project_id"]} ${row["session_number"]} ${row["pack_number"]}`

export const storedPacks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sessions = yield* Rows.select(sql, "sessions")
  const names = new Map(
    sessions.map((row) => [`${row["project_id"]} ${row["session_number"]}`, String(row["session_id"])])
  )
  const events = new Map((yield* Rows.select(sql, "events")).map((row) => [packKey(row), idOf(row["event_id"])]))
  return {
    packs: (yield* Rows.select(sql, "packs")).map((row) => ({
      key: packKey(row),
      session: names.get(`${row["project_id"]} ${row["session_number"]}`)!,
      event: events.get(packKey(row)),
      bytes: Buffer.from(row["pack"] as Uint8Array)
    })),
    sessions: new Map(sessions.map((row) => [String(row["session_id"]), row]))
  } satisfies StoredPacks
})

const tablesOfSessions = ["sessions", "events", "steps", "packs", "shared_piece_owners", "storage_usage"] as const

/** Describes the rows that remain. */
const rowsLeft = Effect.fnUntraced(function* (
  stored: StoredPacks,
  { person, session }: Erased,
  packs: ReadonlyArray<Buffer>
) {
  const sql = yield* SqlClient.SqlClient
  const left: Array<string> = []
  const row = session === undefined ? undefined : stored.sessions.get(session)
  for (const table of row === undefined ? [] : tablesOfSessions) {
    const found = yield* sql`SELECT 1 FROM ${sql(table)}
      WHERE project_id = ${row!["project_id"]} AND session_number = ${row!["session_number"]} LIMIT 1`
    if (found.length > 0) left.push(`${table} has rows of the session`)
  }
  const people = person === undefined ? [] : yield* sql`SELECT 1 FROM people WHERE person_id = ${person}`
  if (people.length > 0) left.push("people has the person")
  const erased = new Set(packs.map((bytes) => bytes.toString("latin1")))
  const all = yield* Rows.select(sql, "packs")
  // A short event that was recorded after the damage may have the same pack as an erased one.
  const before = new Set(stored.packs.map(({ event }) => event))
  const later = new Set(
    (yield* Rows.select(sql, "events")).filter((each) => !before.has(idOf(each["event_id"]))).map(packKey)
  )
  const bytesBefore = new Map(stored.packs.map(({ bytes, key }) => [key, bytes]))
  const isLeft = (each: Row) => {
    const bytes = Buffer.from(each["pack"] as Uint8Array)
    if (!erased.has(bytes.toString("latin1")) || later.has(packKey(each))) return false
    // A sweep takes texts out of a pack of another session, which may make it the same as an erased one.
    return bytesBefore.get(packKey(each))?.equals(bytes) !== false
  }
  if (all.some(isLeft)) {
    left.push("packs has the texts of an erased event")
  }
  const values = [
    ...all.map((each) => each["pack"]),
    ...(yield* Rows.select(sql, "shared_pieces")).map((each) => each["piece"])
  ]
  return { left, values: values.map((bytes) => Buffer.from(bytes as Uint8Array)) }
})

/** Bytes from the middle of a pack, enough to occur by chance nowhere. */
const sampleBytes = 24

const sampleOf = (bytes: Buffer): Buffer => {
  const at = Math.max(0, Math.floor((bytes.length - sampleBytes) / 2))
  return bytes.subarray(at, at + sampleBytes)
}

/** Describes what remains. `file` is the file of the database, if there is one. */
export const find = Effect.fnUntraced(function* (
  stored: StoredPacks,
  erased: Erased,
  gone: ReadonlyArray<Known>,
  file: string | undefined
) {
  const ids = new Set<string>(gone.map(({ id }) => id))
  const isErased = ({ event, session }: StoredPacks["packs"][number]) =>
    session === erased.session || (event !== undefined && ids.has(event))
  const remaining = new Set(stored.packs.filter((each) => !isErased(each)).map(({ bytes }) => bytes.toString("latin1")))
  // Short events may have the same pack as others.
  const packs = stored.packs
    .filter((each) => isErased(each) && !remaining.has(each.bytes.toString("latin1")))
    .map(({ bytes }) => bytes)
  const { left, values } = yield* rowsLeft(stored, erased, packs)
  if (file === undefined) return left
  for (const path of [file, `${file}-wal`]) {
    if (!existsSync(path)) continue
    const content = readFileSync(path)
    for (const name of [erased.session, erased.person]) {
      if (name !== undefined && content.includes(name)) left.push(`the file has the name ${name}`)
    }
    // Other packs may have the same bytes.
    const samples = packs.map(sampleOf).filter((sample) => !values.some((value) => value.includes(sample)))
    if (samples.some((sample) => content.includes(sample))) left.push("the file has the texts of an erased event")
  }
  return left
})
