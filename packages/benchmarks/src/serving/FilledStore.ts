/** Stores with many events, written directly to the storage in large batches. */
import {
  type AgentName,
  type AppendEvent,
  Bucket,
  checksumOfSummary,
  type EventId,
  EventSummary,
  MemoryStorage,
  type PersonId,
  type SessionId,
  Storage
} from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { agents, people } from "../harness/Bodies.ts"
import type * as Databases from "../harness/Databases.ts"
import * as Recording from "../harness/Recording.ts"
import { integer, progress } from "../harness/Table.ts"

const eventsPerSession = 50
const sessionsPerBatch = 20
const eventsPerBatch = eventsPerSession * sessionsPerBatch

/** A session whose events are spread over the whole store. */
export const listed = { session: "listed", events: 500 }

const body = (n: number, fingerprintId: string) =>
  Buffer.from(
    JSON.stringify({
      event_name: "llm",
      fingerprint_id: fingerprintId,
      session: "one of many",
      agent: "short",
      agent_version: "1.0.0",
      person: "p",
      properties: {
        api: "provider2-messages",
        inputs: {
          model: "m-1",
          max_tokens: 64,
          messages: [{ role: "user", content: `What is ${n} times 7, in words?` }]
        },
        output: {
          role: "assistant",
          content: [{ type: "text", text: `It is ${7 * n}.` }],
          model: "m-1",
          stop_reason: "end_turn",
          usage: { input_tokens: 20, output_tokens: 8 }
        }
      }
    })
  )

/** The arguments of `appendEvents` for the events of one session. */
const appendsOf = async (events: number): Promise<ReadonlyArray<AppendEvent>> => {
  const appends: Array<AppendEvent> = []
  const capturing = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => ({
      ...storage,
      appendEvents: (batch: ReadonlyArray<AppendEvent>) => {
        appends.push(...batch)
        return storage.appendEvents(batch)
      }
    }))
  ).pipe(Layer.provide(MemoryStorage.layer))
  const recording = await Recording.open(capturing)
  const fingerprintId = await Recording.fingerprintId()
  for (let n = 0; n < events; n++) await recording.record(body(n, fingerprintId))
  await recording.close()
  return appends
}

/** A UUIDv7 with the given time, for an event of this session. */
const idAt = (timeMs: number, session: string): EventId => {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0")
  const time = hex(timeMs, 12)
  const random = hex(Math.floor(Math.random() * 2 ** 40), 10)
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${random}${hex(Bucket.ofSession(session), 2)}` as EventId
}

/** Appends at least `events` events: sessions of 50, and the `listed` session. */
const fill = async (database: Databases.Database, events: number): Promise<void> => {
  const template = await appendsOf(eventsPerSession)
  const listedTemplate = await appendsOf(listed.events)
  const batches = Math.max(1, Math.ceil((events - listed.events) / eventsPerBatch))
  let written = 0
  let listedNumber: number | undefined

  const copyOf = ({ pack, ...append }: AppendEvent, timeMs: number, session: string, number?: number): AppendEvent => {
    const n = written++
    const summary = new EventSummary(
      {
        ...append.summary,
        id: idAt(timeMs, session),
        receivedAt: DateTime.makeUnsafe(timeMs),
        session: session as SessionId,
        agent: `agent ${n % agents}` as AgentName,
        person: `person ${n % people}` as PersonId
      },
      { disableChecks: true }
    )
    return {
      ...append,
      summary,
      checksums: { ...append.checksums, summary: checksumOfSummary(append.project, summary) },
      pack: { ...pack, session: number === undefined ? undefined : { number, generation: 0 } }
    }
  }

  /** How many of the `listed` events the first `n` batches have. */
  const share = (n: number) => Math.floor((listed.events * n) / batches)

  const appendsAt = (batch: number, timeMs: number): ReadonlyArray<AppendEvent> => [
    ...listedTemplate
      .slice(share(batch), share(batch + 1))
      .map((append) => copyOf(append, timeMs, listed.session, listedNumber)),
    ...Array.from({ length: sessionsPerBatch }, (_, n) =>
      template.map((append) => copyOf(append, timeMs, `session ${batch * sessionsPerBatch + n}`))
    ).flat()
  ]

  const work = Effect.gen(function* () {
    const storage = yield* Storage
    // A large batch may take longer than new ids may be old.
    const append = (batch: number, timeMs: number): ReturnType<typeof storage.appendEvents> =>
      Effect.catchTag(storage.appendEvents(appendsAt(batch, timeMs)), "stale-ids", ({ notBefore }) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => append(batch, Math.max(notBefore, nowMs)))
      )
    for (let batch = 0; batch < batches; batch++) {
      const numbers = yield* append(batch, yield* Clock.currentTimeMillis)
      if (share(batch + 1) > share(batch)) listedNumber = numbers[0]
      if ((batch + 1) % 100 === 0)
        progress(`filling ${database.kind}: ${integer((batch + 1) * eventsPerBatch)} of ${integer(events)} events`)
    }
  })
  // Registers the fingerprint that all events name.
  await (await Recording.open(database.storage)).close()
  await Effect.runPromise(Effect.provide(work, database.storage))
  // Runs the maintenance that would otherwise run in the background during the measurement.
  if (database.kind === "Postgres") {
    await database.query((sql) => Effect.andThen(sql`VACUUM ANALYZE`, sql`CHECKPOINT`))
  }
}

const filled = new Map<string, Databases.Database>()

/** Returns a store with `events` events. It is filled once and then reused. */
export const open = async (make: () => Databases.Database, events: number): Promise<Databases.Database> => {
  const database = make()
  const key = `${database.kind} ${events}`
  const existing = filled.get(key)
  if (existing !== undefined) {
    await database.remove()
    return existing
  }
  filled.set(key, database)
  progress(`filling ${database.kind} with ${integer(events)} events`)
  await fill(database, events)
  return database
}

export const removeAll = async (): Promise<void> => {
  for (const database of filled.values()) await database.remove()
}
