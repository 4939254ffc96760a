/** Checks that the bytes written per call do not grow with the history that the call repeats. */
import * as Effect from "effect/Effect"
import * as Databases from "../harness/Databases.ts"
import { largest, type Options } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import { decimal, integer, print, progress, times } from "../harness/Table.ts"

interface Call {
  /** Difference of the body's length to the previous body's. */
  readonly addedBytes: number
  /** New bytes, by the store's own counters. */
  readonly newBytes: number
  /** Size of packs and shared pieces. */
  readonly storedBytes: number
  /** Bytes written to the write-ahead log. */
  readonly logBytes: number
}

interface Counters {
  readonly newBytes: number
  readonly storedBytes: number
  readonly logBytes: number
}

/** Reads the counters. Truncates SQLite's log, so that it contains the writes of one call at a time. */
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
      return { newBytes: Number(row!.fresh), storedBytes: Number(row!.stored), logBytes: log }
    })
  )

const record = async (database: Databases.Database, bodies: ReadonlyArray<Buffer>): Promise<ReadonlyArray<Call>> => {
  const recording = await Recording.open(database.storage)
  const calls: Array<Call> = []
  let before = await read(database, 0)
  let length = 0
  for (const body of bodies) {
    await recording.record(body)
    const after = await read(database, before.logBytes)
    calls.push({
      addedBytes: Math.max(0, body.length - length),
      newBytes: after.newBytes - before.newBytes,
      storedBytes: after.storedBytes - before.storedBytes,
      logBytes: after.logBytes - before.logBytes
    })
    before = after
    length = body.length
  }
  await recording.close()
  return calls
}

/** Calls in each of the two compared windows. */
const window = 50

export const growth = async (options: Options): Promise<void> => {
  const { bodies, name } = largest(options)
  if (bodies.length < 3 * window) return progress(`growth: skipped, ${name} has fewer than ${3 * window} events`)
  const databases = [Databases.sqlite(), ...(options.postgres ? [Databases.postgres(options.postgres.url)] : [])]
  for (const database of databases) {
    progress(`growth: ${name} into ${database.kind}, call by call`)
    const calls = await record(database, bodies).finally(database.remove)
    const windows = [
      [`${window + 1} to ${2 * window}`, calls.slice(window, 2 * window)],
      [`the last ${window}`, calls.slice(-window)]
    ] as const
    const sums = windows.map(([label, windowCalls]) => {
      const sum = (key: keyof Call) => windowCalls.reduce((total, call) => total + call[key], 0)
      return {
        label,
        addedBytes: sum("addedBytes"),
        newBytes: sum("newBytes"),
        storedBytes: sum("storedBytes"),
        logBytes: sum("logBytes")
      }
    })
    const perByte = (key: "storedBytes" | "logBytes", base: "newBytes" | "addedBytes") =>
      sums.map((each) => each[key] / each[base])
    const ratio = ([early = NaN, late = NaN]: ReadonlyArray<number>) => late / early
    print({
      title: `Bytes written per call, ${name} in ${database.kind}`,
      columns: [
        "calls",
        "bytes longer than the previous call",
        "new bytes",
        "packs and pieces",
        "per new byte",
        "log",
        "per new byte"
      ],
      rows: sums.map((each) => [
        each.label,
        integer(each.addedBytes),
        integer(each.newBytes),
        integer(each.storedBytes),
        decimal(each.storedBytes / each.newBytes, 3),
        integer(each.logBytes),
        decimal(each.logBytes / each.newBytes, 2)
      ]),
      notes: [
        `The last ${window} calls compared with calls ${window + 1} to ${2 * window}, per new byte: packs and pieces ${times(ratio(perByte("storedBytes", "newBytes")))}, ` +
          `log ${times(ratio(perByte("logBytes", "newBytes")))}. Per byte that a body is longer than the previous one: ` +
          `${times(ratio(perByte("storedBytes", "addedBytes")))} and ${times(ratio(perByte("logBytes", "addedBytes")))}. ` +
          (database.kind === "SQLite"
            ? "The log is the size of the WAL after a call; it is truncated before each call."
            : "The log is the growth of the whole server's WAL.")
      ]
    })
  }
}
