import { type Errors, firstIdOf, IdempotencyKey, SessionId, Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Effect, Exit } from "effect"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { sqlite } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

/** A new event that starts a session of its own. */
const eventOf = (n: number) => {
  const event = Samples.appendEvent(firstIdOf(Date.parse("2026-01-02T03:04:05.678Z") + n))
  return {
    ...event,
    summary: { ...event.summary, session: SessionId.make(`s${n}`) },
    hasNewId: true,
    idempotency: { key: IdempotencyKey.make(`k${n}`), bodyHash: new Uint8Array(32) }
  }
}

const eventsIn = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare("SELECT count(*) AS events FROM events").get()!["events"]
  } finally {
    database.close()
  }
}

/** Runs the body when the names of all events but their sessions are known: the second event reads what the first created. */
const withNames = (
  file: string,
  body: (storage: Storage["Service"]) => Effect.Effect<void, Errors.StorageUnavailable>
) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* storage.appendEvents([eventOf(0)])
      yield* storage.appendEvents([eventOf(1)])
      yield* body(storage)
    }).pipe(Effect.provide(sqlite(file)))
  )

/** How an append ends that was tried at once. */
const ending = (appended: Effect.Effect<ReadonlyArray<number>, Errors.StorageUnavailable> | undefined) =>
  appended === undefined ? Effect.succeed("not tried" as const) : Effect.exit(appended)

describe("appendAtOnce", () => {
  it("appends events of known names, in sessions that it creates and with idempotency keys", () => {
    const file = temporaryFile()
    return withNames(file, (storage) =>
      Effect.gen(function* () {
        // On the disk when it returns.
        expect(storage.appendAtOnce!([eventOf(2)])).toEqual(Exit.succeed([3]))
        expect(yield* ending(storage.appendAtOnce!([eventOf(3), eventOf(4)]))).toEqual(Exit.succeed([4, 5]))
        expect(eventsIn(file)).toBe(5)
      })
    )
  })

  it("leaves to others, and changes nothing, what conflicts, is not known, or has to wait", () => {
    const file = temporaryFile()
    return withNames(file, (storage) =>
      Effect.sync(() => {
        const taken = { ...eventOf(5), idempotency: eventOf(1).idempotency, summary: eventOf(1).summary }
        expect(storage.appendAtOnce!([eventOf(4), taken])).toBeUndefined()
        const { summary, ...other } = eventOf(6)
        const agent = "another" as typeof summary.agent
        expect(storage.appendAtOnce!([{ ...other, summary: { ...summary, agent } }])).toBeUndefined()
        const another = new DatabaseSync(file)
        another.exec("BEGIN IMMEDIATE")
        expect(storage.appendAtOnce!([eventOf(7)])).toBeUndefined()
        another.exec("ROLLBACK")
        another.close()
        expect(eventsIn(file)).toBe(2)
        expect(storage.appendAtOnce!([eventOf(8)])).toEqual(Exit.succeed([3]))
      })
    )
  })
})
