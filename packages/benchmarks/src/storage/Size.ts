/** Size of a stored workload, with all tables and indexes, and what the bytes are used for. */
import { defaultProject, derive, Storage, Throttle } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Databases from "../harness/Databases.ts"
import type { Options } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import { decimal, integer, megabytes, print, progress } from "../harness/Table.ts"
import type { Workload } from "../harness/Workload.ts"
import * as StoredBytes from "./StoredBytes.ts"

const record = async (database: Databases.Database, { bodies, name }: Workload): Promise<StoredBytes.StoredBytes> => {
  progress(`${name}: ${bodies.length} events into ${database.kind}`)
  try {
    await Recording.recordAll(database.storage, bodies)
    // What a server does in the background.
    await Effect.runPromise(
      Effect.provide(
        Effect.flatMap(Storage, (storage) => derive(storage, defaultProject, Throttle.unthrottled)),
        database.storage
      )
    )
    return await StoredBytes.measure(database)
  } finally {
    await database.remove()
  }
}

/** A store without events. */
const empty: Workload = { name: "(empty)", bodies: [], bytes: 0 }

const printParts = ({ name }: Workload, { contents, database, parts, total }: StoredBytes.StoredBytes) => {
  const sorted = parts.filter(({ bytes }) => bytes > 0).toSorted((a, b) => b.bytes - a.bytes)
  const rows = sorted.filter(({ bytes }) => bytes >= total / 50)
  const small = sorted.slice(rows.length)
  const sum = (key: "bytes" | "overhead") => small.reduce((total, part) => total + part[key], 0)
  if (small.length > 0) {
    rows.push({ name: `${small.length} others`, bytes: sum("bytes"), overhead: sum("overhead") })
  }
  print({
    title: `${name} in ${database}`,
    columns: [
      "table or index",
      "bytes",
      "share",
      database === "SQLite" ? "unused space in pages" : "free space and visibility maps"
    ],
    rows: rows.map(({ bytes, name: part, overhead }) => [
      part,
      integer(bytes),
      `${decimal((100 * bytes) / total, 1)} %`,
      integer(overhead)
    ]),
    notes: [
      `${integer(contents.packs)} packs hold ${integer(contents.packBytes)} bytes, ${integer(contents.pieces)} shared pieces ${integer(contents.pieceBytes)}: ` +
        `of ${integer(total)} bytes, ${decimal((100 * (contents.packBytes + contents.pieceBytes)) / total, 1)} % are compressed text ` +
        `(${integer(contents.newBytes)} bytes uncompressed). The rest are other rows, indexes and unused space in pages. ` +
        `${integer(contents.sessions)} sessions with ${integer(contents.owners)} references to shared pieces.`
    ]
  })
}

export const size = async ({ postgres, workloads }: Options): Promise<void> => {
  const measured: Array<{ readonly workload: Workload; readonly stored: StoredBytes.StoredBytes }> = []
  for (const workload of [empty, ...workloads]) {
    measured.push({ workload, stored: await record(Databases.sqlite(), workload) })
    if (postgres !== undefined)
      measured.push({ workload, stored: await record(Databases.postgres(postgres.url), workload) })
  }
  print({
    title: "Size",
    columns: ["file", "events", "MB sent", "storage", "MB stored", "sent ÷ stored", "MB of packs and pieces"],
    rows: measured.map(({ stored: { contents, database, total }, workload: { bodies, bytes, name } }) => [
      name,
      integer(bodies.length),
      megabytes(bytes, 1),
      database,
      megabytes(total),
      bytes === 0 ? "" : decimal(bytes / total, 1),
      megabytes(contents.packBytes + contents.pieceBytes)
    ]),
    notes: [
      "SQLite: the file after a checkpoint. Postgres: all relations with their indexes and TOAST after CHECKPOINT, without " +
        "a manual VACUUM. Both include empty tables."
    ]
  })
  for (const { stored, workload } of measured.slice(postgres === undefined ? 1 : 2)) printParts(workload, stored)
}
