/** The server with a part of it switched off, for what is said of that part. */
import {
  defaultCommitLimits,
  EventId,
  PieceScanner,
  MemoryStorage,
  Recorder,
  Storage,
  type CommitLimits
} from "@tachograph/core"
import { DateTime, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import type * as Databases from "./Databases.ts"

/** Nothing is marked, and so nothing is a piece: every payload is compressed whole. */
const whole = (value: PieceScanner.ScannedValue): PieceScanner.ScannedValue => ({
  ...value,
  candidates: [],
  conversations: []
})

const changed = (change: (recorder: Recorder["Service"]) => Partial<Recorder["Service"]>) =>
  Layer.effect(
    Recorder,
    Effect.map(Recorder, (recorder) => ({ ...recorder, ...change(recorder) }))
  ).pipe(Layer.provide(Recorder.layer))

/** The same recorder, but for pieces. */
export const pieces = changed((recorder) => ({
  knownPrefixesOf: () => PieceScanner.noKnownPrefixes,
  createEvent: (event) => {
    const { inputs, output, text } = event.payload
    const payload = { text, inputs: whole(inputs), output: whole(output), knownPrefixes: PieceScanner.noKnownPrefixes }
    return recorder.createEvent({ ...event, payload })
  }
}))

/** Every event is decoded, checked and marked by the route before it comes here, and is thrown away. */
export const recorder = changed(() => ({
  createEvent: () =>
    Effect.map(DateTime.now, (receivedAt) => ({ id: EventId.make(randomUUID()), receivedAt, isReplay: false }))
}))

/** Takes every batch, and keeps nothing of it; below the recorder, the writer and what it remembers of sessions. */
export const storage = Layer.effect(
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
  // Slow as it is, nobody is refused for having waited.
  queue: { ...defaultCommitLimits.queue, waitMs: 60_000 },
  maxBodyBytes: defaultCommitLimits.maxBodyBytes,
  batch: { ...defaultCommitLimits.batch, events: 1 }
}

/** Connections of the pool that Postgres is reached by; to SQLite there is one that writes. */
const connections = { Postgres: 10, SQLite: 1 } as const

/** As many transactions at once as there are connections: without group commit, nothing else would be fair. */
export const oneAtATime = ({ kind, storage }: Pick<Databases.Database, "kind" | "storage">) =>
  Layer.effect(
    Storage,
    Effect.map(Storage, (kept) => ({ ...kept, appendConcurrency: connections[kind] }))
  ).pipe(Layer.provide(storage))
