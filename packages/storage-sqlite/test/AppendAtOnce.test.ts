import {
  type AppendEvent,
  type Errors,
  firstIdOf,
  IdempotencyKey,
  ProjectId,
  SessionId,
  Storage
} from "@tachograph/core"
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

  const stored = eventOf(1)
  const { pack, summary } = stored
  /** Another event of the stored session, whose number is 2. */
  const following = (changed: object = {}) => ({
    ...eventOf(3),
    summary: { ...eventOf(3).summary, session: summary.session },
    pack: { ...pack, number: 2, session: { number: 2, generation: 0 }, ...changed }
  })
  const named = (names: object) => ({ ...eventOf(3), summary: { ...eventOf(3).summary, ...names } })

  it.each<[string, () => ReadonlyArray<AppendEvent>]>([
    ["a key that is taken", () => [eventOf(4), { ...following(), idempotency: stored.idempotency }]],
    ["a session that exists", () => [{ ...following(), pack }]],
    ["a pack that is not the next one", () => [following({ number: 3 })]],
    ["a session that was swept", () => [following({ session: { number: 2, generation: 1 } })]],
    ["an agent that is not known", () => [named({ agent: "another" })]],
    ["a person that is not known", () => [named({ person: "nobody" })]],
    ["a new shared piece", () => [{ ...eventOf(3), pack: { ...pack, shared: [Samples.sharedPiece("shared")] } }]],
    ["an id below the newest", () => [{ ...named({ id: firstIdOf(0) }) }]],
    ["an id that was not given for this", () => [{ ...eventOf(3), hasNewId: false }]],
    ["two projects", () => [eventOf(3), { ...eventOf(4), project: ProjectId.make("another") }]]
  ])("leaves %s to others, and changes nothing", (_, events) => {
    const file = temporaryFile()
    return withNames(file, (storage) =>
      Effect.sync(() => {
        expect(storage.appendAtOnce!(events())).toBeUndefined()
        expect(eventsIn(file)).toBe(2)
        expect(storage.appendAtOnce!([following()])).toEqual(Exit.succeed([2]))
        expect(storage.appendAtOnce!([eventOf(8)])).toEqual(Exit.succeed([3]))
      })
    )
  })

  it("waits for nobody", () => {
    const file = temporaryFile()
    return withNames(file, (storage) =>
      Effect.sync(() => {
        const another = new DatabaseSync(file)
        another.exec("BEGIN IMMEDIATE")
        expect(storage.appendAtOnce!([eventOf(7)])).toBeUndefined()
        another.exec("ROLLBACK")
        another.close()
        expect(storage.appendAtOnce!([eventOf(8)])).toEqual(Exit.succeed([3]))
      })
    )
  })
})
