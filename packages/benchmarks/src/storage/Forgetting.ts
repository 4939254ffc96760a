/** Whether a process that remembers nothing stores what one stores that remembers all, and reads it back. */
import { SessionCacheBytes } from "@tachograph/core"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import * as Databases from "../harness/Databases.ts"
import type { Options } from "../harness/Options.ts"
import * as Recording from "../harness/Recording.ts"
import * as Stored from "./Stored.ts"
import { decimal, integer, print, progress, times } from "../harness/Table.ts"
import type { Workload } from "../harness/Workload.ts"

/** A hash over all that is stored of payloads, in order. */
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

/** The end of the text that an answer must hold as it was sent: both halves, as `JSON.stringify` wrote them. */
const payloadOf = (body: Buffer): string => {
  const { properties } = JSON.parse(body.toString()) as {
    readonly properties: { readonly inputs: unknown; readonly output: unknown }
  }
  return `"inputs":${JSON.stringify(properties.inputs)},"output":${JSON.stringify(properties.output)}`
}

const record = async ({ bodies }: Workload, memory: number | undefined) => {
  const database = Databases.sqlite()
  const bound = memory === undefined ? Layer.empty : Layer.succeed(SessionCacheBytes, memory)
  try {
    const recording = await Recording.open(Layer.merge(database.storage, bound))
    const ids: Array<string> = []
    const started = performance.now()
    for (const body of bodies) ids.push(await recording.record(body))
    const seconds = (performance.now() - started) / 1_000
    let different = 0
    for (const [index, id] of ids.entries()) {
      const text = await (await recording.get(`/api/v1/events/${id}`)).text()
      const body = bodies[index]!
      const payload = payloadOf(body)
      if (!body.includes(payload)) throw new Error("A body was not written by JSON.stringify, inputs before output")
      if (!text.includes(payload)) different++
    }
    await recording.close()
    return { seconds, different, hash: await hashOf(database), stored: await Stored.measure(database) }
  } finally {
    await database.remove()
  }
}

export const forgetting = async ({ workloads }: Options): Promise<void> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const workload of workloads) {
    progress(`forgetting: ${workload.name} with the usual memory`)
    const usual = await record(workload, undefined)
    progress(`forgetting: ${workload.name} with none`)
    const none = await record(workload, 0)
    for (const [memory, run] of [
      ["as it comes", usual],
      ["0 bytes", none]
    ] as const) {
      const { contents } = run.stored
      rows.push([
        workload.name,
        memory,
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
    title: "A process that has forgotten everything",
    columns: [
      "file",
      "memory of sessions",
      "packs and pieces",
      "ratio",
      "the same bytes",
      "events read back differently",
      "ms an event"
    ],
    rows,
    notes: ["In SQLite. With 0 bytes, every call reads its session anew from the database, as after a restart."]
  })
}
