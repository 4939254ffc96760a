/** Stores with any number of events in them, put there through the storage itself, many at a time. */
import {
  type AgentName,
  type AppendEvent,
  type EventId,
  EventSummary,
  MemoryStorage,
  type PersonId,
  type SessionId,
  Storage
} from "@tachograph/core"
import { DateTime, Effect, Layer } from "effect"
import { agents, people } from "../harness/Bodies.ts"
import type * as Databases from "../harness/Databases.ts"
import * as Recording from "../harness/Recording.ts"
import { integer, progress } from "../harness/Table.ts"

const eventsOfSession = 50
const sessionsAtOnce = 20
const atOnce = eventsOfSession * sessionsAtOnce

/** A session whose events stand among all the others, from the first to the last. */
export const listed = { session: "listed", events: 500 }

const body = (n: number, fingerprintId: string) =>
  Buffer.from(
    JSON.stringify({
      event_name: "llm",
      fingerprint_id: fingerprintId,
      session: "one of many",
      agent: "short",
      agent_version: "1.0.0",
      person: "somebody",
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

/** What the writer hands to the storage for one session's events. */
const appendsOf = async (events: number): Promise<ReadonlyArray<AppendEvent>> => {
  const appended: Array<AppendEvent> = []
  const seen = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => ({
      ...storage,
      appendEvents: (batch: ReadonlyArray<AppendEvent>) => {
        appended.push(...batch)
        return storage.appendEvents(batch)
      }
    }))
  ).pipe(Layer.provide(MemoryStorage.layer))
  const recording = await Recording.open(seen)
  const fingerprintId = await Recording.fingerprintId()
  for (let n = 0; n < events; n++) await recording.record(body(n, fingerprintId))
  await recording.close()
  return appended
}

/** A UUIDv7 of its own for every event, one for each millisecond. */
const idAt = (milliseconds: number): EventId => {
  const time = milliseconds.toString(16).padStart(12, "0")
  const random = Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${random}` as EventId
}

/** At least as many events as asked for, in sessions of 50, and those of the session that is listed. */
const fill = async (database: Databases.Database, events: number): Promise<void> => {
  const template = await appendsOf(eventsOfSession)
  const ofListed = await appendsOf(listed.events)
  const batches = Math.max(1, Math.ceil((events - listed.events) / atOnce))
  const start = Date.now() - events
  let written = 0
  let listedNumber: number | undefined

  const place = ({ pack, ...append }: AppendEvent, session: string, number?: number): AppendEvent => {
    const n = written++
    return {
      ...append,
      summary: new EventSummary(
        {
          ...append.summary,
          id: idAt(start + n),
          receivedAt: DateTime.makeUnsafe(start + n),
          session: session as SessionId,
          agent: `agent ${n % agents}` as AgentName,
          person: `person ${n % people}` as PersonId
        },
        { disableChecks: true }
      ),
      pack: { ...pack, session: number === undefined ? undefined : { number, generation: 0 } }
    }
  }

  const work = Effect.gen(function* () {
    const storage = yield* Storage
    for (let batch = 0; batch < batches; batch++) {
      const share = (n: number) => Math.floor((listed.events * n) / batches)
      const appends = [
        ...ofListed.slice(share(batch), share(batch + 1)).map((each) => place(each, listed.session, listedNumber)),
        ...Array.from({ length: sessionsAtOnce }, (_, n) =>
          template.map((each) => place(each, `session ${batch * sessionsAtOnce + n}`))
        ).flat()
      ]
      const numbers = yield* storage.appendEvents(appends)
      if (share(batch + 1) > share(batch)) listedNumber = numbers[0]
      if ((batch + 1) % 100 === 0)
        progress(`filling ${database.kind}: ${integer(written)} of ${integer(events)} events`)
    }
  })
  await Effect.runPromise(Effect.provide(work, database.storage))
  // As it would be after a while: nothing is left for the database to do in the background.
  if (database.kind === "Postgres") {
    await database.query((sql) => Effect.andThen(sql`VACUUM ANALYZE`, sql`CHECKPOINT`))
  }
}

const filled = new Map<string, Databases.Database>()

/** Filled when it is first asked for, and kept for whoever asks again. */
export const store = async (make: () => Databases.Database, events: number): Promise<Databases.Database> => {
  const database = make()
  const key = `${database.kind} ${events}`
  const found = filled.get(key)
  if (found !== undefined) {
    await database.remove()
    return found
  }
  filled.set(key, database)
  progress(`filling ${database.kind} with ${integer(events)} events`)
  await fill(database, events)
  return database
}

export const removeAll = async (): Promise<void> => {
  for (const database of filled.values()) await database.remove()
}
