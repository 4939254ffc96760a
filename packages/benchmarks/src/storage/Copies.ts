/**
 * What shared pieces would take in a distributed database if each part of it had copies of those that its sessions use. They are
 * spread by their names instead, each once: `docs/scale.md`.
 */
import { Bucket } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Databases from "../harness/Databases.ts"
import type { Options } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import { integer, print, progress, times } from "../harness/Table.ts"
import type { Workload } from "../harness/Workload.ts"

/** Into how many parts the buckets are divided. */
const parts = [16, 64, Bucket.count]

interface Use {
  readonly session: string
  readonly piece: string
  readonly bytes: number
}

const usesIn = async ({ bodies, name }: Workload) => {
  const database = Databases.sqlite()
  progress(`${name}: ${bodies.length} events into ${database.kind}`)
  try {
    await Recording.recordAll(database.storage, bodies)
    return await database.query((sql) =>
      Effect.gen(function* () {
        const uses = yield* sql<Use>`SELECT session_id AS session, hex(sha256) AS piece, length(piece) AS bytes
          FROM shared_piece_owners JOIN shared_pieces USING (project_id, sha256)
          JOIN sessions USING (project_id, session_number)`
        const [packs] = yield* sql<{ readonly bytes: number }>`SELECT sum(length(pack)) AS bytes FROM packs`
        return { uses, packBytes: packs!.bytes }
      })
    )
  } finally {
    await database.remove()
  }
}

/** The copies, and their bytes, if each part of the buckets has its own. */
const copiesIn = (uses: ReadonlyArray<Use>, count: number) => {
  const copies = new Map(
    uses.map(({ bytes, piece, session }) => [
      `${Math.floor((Bucket.ofSession(session) * count) / Bucket.count)} ${piece}`,
      bytes
    ])
  )
  return { copies: copies.size, bytes: Array.from(copies.values()).reduce((sum, bytes) => sum + bytes, 0) }
}

export const copies = async ({ workloads }: Options): Promise<void> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const workload of workloads) {
    const { packBytes, uses } = await usesIn(workload)
    const once = copiesIn(uses, 1)
    for (const count of [1, ...parts]) {
      const { bytes, copies } = copiesIn(uses, count)
      rows.push([
        workload.name,
        integer(count),
        integer(copies),
        integer(bytes),
        times(bytes / once.bytes),
        times((packBytes + bytes) / (packBytes + once.bytes))
      ])
    }
  }
  print({
    title: "Copies of shared pieces",
    columns: ["file", "parts", "copies", "bytes", "÷ one copy", "packs and pieces, ÷ with one copy"],
    rows,
    notes: ["One copy of a piece in each part of the buckets that has a session with the piece."]
  })
}
