/** What a whole file of events takes, with all tables and indexes, and what the bytes are. */
import * as Databases from "../harness/Databases.ts"
import type { Options } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import * as Stored from "./Stored.ts"
import { decimal, integer, megabytes, print, progress } from "../harness/Table.ts"
import type { Workload } from "../harness/Workload.ts"

const record = async (database: Databases.Database, { bodies, name }: Workload): Promise<Stored.Stored> => {
  progress(`${name}: ${bodies.length} events into ${database.kind}`)
  try {
    await Recording.recordAll(database.storage, bodies)
    return await Stored.measure(database)
  } finally {
    await database.remove()
  }
}

/** A store in which nothing was recorded yet. */
const empty: Workload = { name: "(nothing)", bodies: [], bytes: 0 }

const printParts = ({ name }: Workload, { contents: held, database, parts, total }: Stored.Stored) => {
  const sorted = parts.filter(({ bytes }) => bytes > 0).toSorted((a, b) => b.bytes - a.bytes)
  const rows = sorted.filter(({ bytes }) => bytes >= total / 50)
  const small = sorted.slice(rows.length)
  const sum = (of: (part: Stored.Part) => number) => small.reduce((all, part) => all + of(part), 0)
  if (small.length > 0) {
    rows.push({ name: `${small.length} others`, bytes: sum((_) => _.bytes), overhead: sum((_) => _.overhead) })
  }
  print({
    title: `What ${name} takes in ${database}`,
    columns: [
      "table or index",
      "bytes",
      "of all",
      database === "SQLite" ? "of it empty space in pages" : "of it maps of free space and of what is visible"
    ],
    rows: rows.map(({ bytes, name: part, overhead }) => [
      part,
      integer(bytes),
      `${decimal((100 * bytes) / total, 1)} %`,
      integer(overhead)
    ]),
    notes: [
      `${integer(held.packs)} packs hold ${integer(held.packBytes)} bytes, ${integer(held.pieces)} shared pieces ${integer(held.pieceBytes)}: ` +
        `of ${integer(total)} bytes, ${decimal((100 * (held.packBytes + held.pieceBytes)) / total, 1)} % are text, compressed ` +
        `(${integer(held.newBytes)} before). The rest are rows about events, indexes, and empty space in pages. ` +
        `${integer(held.sessions)} sessions, which own shared pieces ${integer(held.owners)} times.`
    ]
  })
}

export const size = async ({ postgres, workloads }: Options): Promise<void> => {
  const measured: Array<{ readonly workload: Workload; readonly stored: Stored.Stored }> = []
  for (const workload of [empty, ...workloads]) {
    measured.push({ workload, stored: await record(Databases.sqlite(), workload) })
    if (postgres !== undefined)
      measured.push({ workload, stored: await record(Databases.postgres(postgres.url), workload) })
  }
  print({
    title: "Size",
    columns: ["file", "events", "MB sent", "in", "MB stored", "sent ÷ stored", "MB of packs and pieces"],
    rows: measured.map(({ stored: { contents: held, database, total }, workload: { bodies, bytes, name } }) => [
      name,
      integer(bodies.length),
      megabytes(bytes, 1),
      database,
      megabytes(total),
      bytes === 0 ? "" : decimal(bytes / total, 1),
      megabytes(held.packBytes + held.pieceBytes)
    ]),
    notes: [
      "SQLite: the file after a checkpoint. Postgres: all relations with their indexes and TOAST after CHECKPOINT, as " +
        "they are found, nothing vacuumed by hand. Both with every table, the empty ones too."
    ]
  })
  for (const { stored, workload } of measured.slice(postgres === undefined ? 1 : 2)) printParts(workload, stored)
}
