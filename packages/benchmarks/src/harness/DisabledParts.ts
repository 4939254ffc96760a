/** Replacements that disable one part of the server, to measure that part. */
import {
  defaultCommitLimits,
  EventId,
  PieceScanner,
  MemoryStorage,
  Recorder,
  Storage,
  type CommitLimits
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { randomUUID } from "node:crypto"
import type * as Databases from "./Databases.ts"

/** Removes all piece candidates, so the payload is compressed as a whole. */
const whole = (value: PieceScanner.ScannedValue): PieceScanner.ScannedValue => ({
  ...value,
  candidates: [],
  conversations: []
})

const modified = (change: (recorder: Recorder["Service"]) => Partial<Recorder["Service"]>) =>
  Layer.effect(
    Recorder,
    Effect.map(Recorder, (recorder) => ({ ...recorder, ...change(recorder) }))
  ).pipe(Layer.provide(Recorder.layer))

/** A recorder without deduplication. */
export const recorderWithoutPieces = modified((recorder) => ({
  knownPrefixesOf: () => PieceScanner.noKnownPrefixes,
  createEvent: (event) => {
    const { inputs, output, text } = event.payload
    const payload = { text, inputs: whole(inputs), output: whole(output), knownPrefixes: PieceScanner.noKnownPrefixes }
    return recorder.createEvent({ ...event, payload })
  }
}))

/** A recorder that discards each event after the route has decoded, validated and scanned it. */
export const discardingRecorder = modified(() => ({
  createEvent: () =>
    Effect.map(DateTime.now, (receivedAt) => ({ id: EventId.make(randomUUID()), receivedAt, isReplay: false }))
}))

/** A storage that discards each batch: recorder, group commit and session cache work as usual. */
export const discardingStorage = Layer.effect(
  Storage,
  Effect.map(Storage, (memory) => {
    const numbers = new Map<string, number>()
    return Storage.of({
      ...memory,
      appendEvents: (events) =>
        Effect.sync(() =>
          events.map(({ summary: { session } }) => {
            const number = numbers.get(session) ?? numbers.size + 1
            numbers.set(session, number)
            return number
          })
        )
    })
  })
).pipe(Layer.provide(MemoryStorage.layer))

export const batchesOfOne: (typeof CommitLimits)["Service"] = {
  ...defaultCommitLimits,
  // A long wait limit, so that no event is refused although this is slow.
  queue: { ...defaultCommitLimits.queue, waitMs: 60_000 },
  batch: { ...defaultCommitLimits.batch, events: 1 }
}

/** Connections of the Postgres pool. SQLite has one writer. */
const connections = { Postgres: 10, SQLite: 1 } as const

/** As many concurrent transactions as connections, for a fair comparison without group commit. */
export const oneTransactionPerConnection = ({ kind, storage }: Pick<Databases.Database, "kind" | "storage">) =>
  Layer.effect(
    Storage,
    Effect.map(Storage, (base) => Storage.of({ ...base, appendConcurrency: connections[kind] }))
  ).pipe(Layer.provide(storage))
