/** Whether what a call writes grows with the history that it carries. */
import { Effect } from "effect"
import * as Databases from "../harness/Databases.ts"
import { longest, type Options } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import { decimal, integer, print, progress, times } from "../harness/Table.ts"

interface Call {
  /** Bytes by which the body is longer than the one before. */
  readonly longer: number
  /** Bytes of what is new, by the store's own counters. */
  readonly fresh: number
  /** Bytes of packs and shared pieces. */
  readonly stored: number
  /** Bytes of the write-ahead log. */
  readonly log: number
}

interface Counters {
  readonly fresh: number
  readonly stored: number
  readonly log: number
}

/** The counters as they stand. SQLite's log is emptied, so that it holds one call's writes at a time. */
const read = (database: Databases.Database, logBefore: number): Promise<Counters> =>
  database.query((sql) =>
    Effect.gen(function* () {
      let log = logBefore
      if (database.kind === "SQLite") {
        log += Databases.sizeOf(`${Databases.fileOf(database)}-wal`)
        yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
      } else {
        const [row] = yield* sql<{ log: string }>`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS log`
        log = Number(row!.log)
      }
      const [row] = yield* sql<{ fresh: number | string; stored: number | string }>`
        SELECT coalesce(sum(new_bytes), 0) AS fresh, coalesce(sum(stored_bytes), 0) AS stored FROM storage_usage`
      return { fresh: Number(row!.fresh), stored: Number(row!.stored), log }
    })
  )

const record = async (database: Databases.Database, bodies: ReadonlyArray<Buffer>): Promise<ReadonlyArray<Call>> => {
  const recording = await Recording.open(database.storage)
  const calls: Array<Call> = []
  let before = await read(database, 0)
  let length = 0
  for (const body of bodies) {
    await recording.record(body)
    const after = await read(database, before.log)
    calls.push({
      longer: Math.max(0, body.length - length),
      fresh: after.fresh - before.fresh,
      stored: after.stored - before.stored,
      log: after.log - before.log
    })
    before = after
    length = body.length
  }
  await recording.close()
  return calls
}

/** Calls in each of the two windows. */
const window = 50

export const growth = async (options: Options): Promise<void> => {
  const { bodies, name } = longest(options)
  if (bodies.length < 3 * window) return progress(`growth: ${name} has fewer than ${3 * window} events; left out`)
  const databases = [Databases.sqlite(), ...(options.postgres ? [Databases.postgres(options.postgres.url)] : [])]
  for (const database of databases) {
    progress(`growth: ${name} into ${database.kind}, call by call`)
    const calls = await record(database, bodies).finally(database.remove)
    const windows = [
      [`${window + 1} to ${2 * window}`, calls.slice(window, 2 * window)],
      [`the last ${window}`, calls.slice(-window)]
    ] as const
    const sums = windows.map(([label, of]) => {
      const sum = (key: keyof Call) => of.reduce((total, call) => total + call[key], 0)
      return { label, longer: sum("longer"), fresh: sum("fresh"), stored: sum("stored"), log: sum("log") }
    })
    const perByte = (key: "stored" | "log", of: "fresh" | "longer") => sums.map((each) => each[key] / each[of])
    const ratio = ([early = NaN, late = NaN]: ReadonlyArray<number>) => late / early
    print({
      title: `Bytes written per call, ${name} in ${database.kind}`,
      columns: [
        "calls",
        "bytes longer than the call before",
        "new bytes",
        "packs and pieces",
        "per new byte",
        "log",
        "per new byte"
      ],
      rows: sums.map((each) => [
        each.label,
        integer(each.longer),
        integer(each.fresh),
        integer(each.stored),
        decimal(each.stored / each.fresh, 3),
        integer(each.log),
        decimal(each.log / each.fresh, 2)
      ]),
      notes: [
        `The last ${window} calls against the earlier ones, per new byte: packs and pieces ${times(ratio(perByte("stored", "fresh")))}, ` +
          `log ${times(ratio(perByte("log", "fresh")))}. Per byte that a body is longer than the one before: ` +
          `${times(ratio(perByte("stored", "longer")))} and ${times(ratio(perByte("log", "longer")))}. ` +
          (database.kind === "SQLite"
            ? "The log is what stands in the WAL after a call, emptied before each."
            : "The log is how far the whole server's WAL has moved.")
      ]
    })
  }
}
