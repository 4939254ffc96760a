/** Checks that a process without a session cache stores and returns the same bytes, and measures the cost. */
import { SessionCacheBytes } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import * as Databases from "../harness/Databases.ts"
import type { Options } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import { decimal, integer, print, progress, times } from "../harness/Table.ts"
import type { Workload } from "../harness/Workload.ts"
import * as StoredBytes from "./StoredBytes.ts"

/** A hash of all packs and shared pieces, in order. */
const hashOf = (database: Databases.Database) =>
  database.query((sql) =>
    Effect.gen(function* () {
      const packs = yield* sql<{
        bytes: Uint8Array
      }>`SELECT pack AS bytes FROM packs ORDER BY session_number, pack_number`
      const pieces = yield* sql<{ bytes: Uint8Array }>`SELECT piece AS bytes FROM shared_pieces ORDER BY sha256`
      const hash = createHash("sha256")
      for (const { bytes } of [...packs, ...pieces]) hash.update(`${bytes.length}:`).update(bytes)
      return hash.digest("hex")
    })
  )

/** The part of an event's text that must be returned as sent: inputs and output, as `JSON.stringify` wrote them. */
const payloadOf = (body: Buffer): string => {
  const { properties } = JSON.parse(body.toString()) as {
    readonly properties: { readonly inputs: unknown; readonly output: unknown }
  }
  return `"inputs":${JSON.stringify(properties.inputs)},"output":${JSON.stringify(properties.output)}`
}

const record = async ({ bodies }: Workload, cacheBytes: number | undefined) => {
  const database = Databases.sqlite()
  const limit = cacheBytes === undefined ? Layer.empty : Layer.succeed(SessionCacheBytes, cacheBytes)
  try {
    const recording = await Recording.open(Layer.merge(database.storage, limit))
    const ids: Array<string> = []
    const startedAt = performance.now()
    for (const body of bodies) ids.push(await recording.record(body))
    const seconds = (performance.now() - startedAt) / 1_000
    let different = 0
    for (const [index, id] of ids.entries()) {
      const text = await (await recording.get(`/api/v1/events/${id}`)).text()
      const body = bodies[index]!
      const payload = payloadOf(body)
      if (!body.includes(payload))
        throw new Error("Expected a body written by JSON.stringify, with inputs before output")
      if (!text.includes(payload)) different++
    }
    await recording.close()
    return { seconds, different, hash: await hashOf(database), stored: await StoredBytes.measure(database) }
  } finally {
    await database.remove()
  }
}

export const sessionCache = async ({ workloads }: Options): Promise<void> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const workload of workloads) {
    progress(`session-cache: ${workload.name} with the default cache`)
    const usual = await record(workload, undefined)
    progress(`session-cache: ${workload.name} without a cache`)
    const none = await record(workload, 0)
    for (const [cache, run] of [
      ["default", usual],
      ["0 bytes", none]
    ] as const) {
      const { contents } = run.stored
      rows.push([
        workload.name,
        cache,
        integer(contents.packBytes + contents.pieceBytes),
        times(
          (contents.packBytes + contents.pieceBytes) /
            (usual.stored.contents.packBytes + usual.stored.contents.pieceBytes)
        ),
        run.hash === usual.hash ? "yes" : "no",
        integer(run.different),
        decimal((1_000 * run.seconds) / workload.bodies.length, 1)
      ])
    }
  }
  print({
    title: "Recording without a session cache",
    columns: [
      "file",
      "session cache",
      "packs and pieces",
      "ratio",
      "same bytes",
      "events read back differently",
      "ms per event"
    ],
    rows,
    notes: ["SQLite. With 0 bytes, each call reads its session from the database, as after a restart."]
  })
}
