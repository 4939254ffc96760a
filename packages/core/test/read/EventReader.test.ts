import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Cause, Effect, Exit, Logger } from "effect"
import { EventDamaged } from "../../src/domain/Errors.ts"
import type { EventId, EventSummary } from "../../src/domain/Event.ts"
import { PersonId } from "../../src/domain/Person.ts"
import { defaultProject, ProjectId } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as DamageLog from "../../src/read/DamageLog.ts"
import * as EventReader from "../../src/read/EventReader.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import type { Damage } from "../../src/payload/format/Damage.ts"
import type { StoredPack } from "../../src/payload/format/Pack.ts"
import * as SharedPiece from "../../src/payload/format/SharedPiece.ts"
import { Recorder } from "../../src/Recorder.ts"
import { Storage } from "../../src/Storage.ts"
import type { StoredEvent } from "../../src/storage/Stored.ts"

const { Calls } = StorageSuite

type Service = Storage["Service"]
type Packs = ReadonlyArray<StoredPack>
type Shared = ReadonlyArray<{ readonly sha256: Uint8Array; readonly bytes: Uint8Array }>

/** A pack with one other bit in its middle. */
const flipped = ({ bytes, number }: StoredPack): StoredPack => {
  const other = Buffer.from(bytes)
  other[other.length >>> 1]! ^= 1
  return { number, bytes: other }
}

/** Another text of the same length, stored as the same kind of piece. */
const otherText = (stored: Uint8Array): Buffer => {
  const text = Buffer.from(SharedPiece.textOf(stored))
  text[5]! ^= 1
  return SharedPiece.make(Buffer.alloc(32), text).bytes()
}

const recording = <A, E>(storage: Service, body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.andThen(
    Calls.putFingerprint(storage, defaultProject),
    Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))
  )

/** Runs `other` after each of the first `times` calls of a storage operation. */
const afterTrip = (
  storage: Service,
  trip: "getEvent" | "readPacks",
  times: number,
  other: Effect.Effect<unknown, unknown>
): Service => {
  let timesLeft = times
  const then = Effect.suspend(() => (timesLeft-- > 0 ? Effect.orDie(other) : Effect.void))
  return {
    ...storage,
    [trip]: (...args: ReadonlyArray<never>) =>
      Effect.tap(
        (storage[trip] as unknown as (...args: ReadonlyArray<never>) => Effect.Effect<unknown>)(...args),
        () => then
      )
  }
}

const recordShared = Effect.fnUntraced(function* (storage: Service) {
  const calls = Calls.take(Calls.calls("s", ["alice", "bob"], 1), 60)
  const ids = yield* recording(storage, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
  return calls.map((call, index) => ({ call, id: ids[index]! }))
})

describe("EventReader", () => {
  it.effect.each(["getEvent", "readPacks"] as const)(
    "reads an event whose packs are rewritten after %s",
    Effect.fnUntraced(function* (trip) {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const erase = recording(storage, (recorder) => recorder.erasePerson(PersonId.make("alice")))
      // The last of the remaining events depends on the most packs.
      const { call, id } = recorded.findLast(({ call }) => call.person === "bob" && call.inputs.length > 4_000)!
      const event = yield* EventReader.read(afterTrip(storage, trip, 1, erase), defaultProject, id)
      assert.strictEqual(Buffer.from(event.payload.inputs).toString(), call.inputs)
      assert.strictEqual(Buffer.from(event.payload.output).toString(), call.output)
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect.each(["getEvent", "readPacks"] as const)(
    "finds no event that is erased after %s, or reads all of it",
    Effect.fnUntraced(function* (trip) {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const [one, two] = recorded.filter(({ call }) => call.person === "bob").slice(-2)
      const erasures: ReadonlyArray<(recorder: Recorder["Service"]) => Effect.Effect<unknown, unknown>> = [
        (recorder) => recorder.erasePerson(PersonId.make("bob")),
        (recorder) => recorder.eraseSession(SessionId.make("s"))
      ]
      for (const [index, { call, id }] of [one!, two!].entries()) {
        const erase = recording(storage, erasures[index]!)
        const exit = yield* Effect.exit(EventReader.read(afterTrip(storage, trip, 1, erase), defaultProject, id))
        if (exit._tag === "Success") assert.strictEqual(Buffer.from(exit.value.payload.inputs).toString(), call.inputs)
        else assert.include(String(exit.cause), "event-not-found")
        yield* recording(storage, (recorder) => Effect.forEach(recorded, ({ call }) => Calls.record(recorder, call)))
      }
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect("finds no event whose pack is left only because of other events", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const messages = [1, 2, 3].map((n) => `{"role":"user","content":"${Calls.noise(n, 200)}"}`)
      const calls = ["bob", "alice", "bob"].map((person, n) => ({
        session: "s",
        person,
        inputs: `{"messages":[${messages.slice(0, n + 1).join()}]}`,
        output: "{}"
      }))
      const ids = yield* recording(storage, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
      const erase = recording(storage, (recorder) => recorder.erasePerson(PersonId.make("alice")))
      const read = EventReader.read(afterTrip(storage, "getEvent", 1, erase), defaultProject, ids[1]!)
      assert.strictEqual((yield* Effect.flip(read))._tag, "event-not-found")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("finds no event if its packs are deleted between two round trips", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const { id } = recorded.at(-1)!
      const erase = recording(storage, (recorder) => recorder.eraseSession(SessionId.make("s")))
      const read = EventReader.read(afterTrip(storage, "getEvent", 1, erase), defaultProject, id)
      assert.strictEqual((yield* Effect.flip(read))._tag, "event-not-found")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  /** Reads an event that is damaged, twice. Returns what was logged, and how often it was looked at. */
  const readDamaged = Effect.fnUntraced(function* (storage: Service, id: EventId) {
    const lines: Array<unknown> = []
    let looks = 0
    const counting: Service = {
      ...storage,
      getEvent: (...args) => Effect.tap(storage.getEvent(...args), () => Effect.sync(() => looks++))
    }
    const logger = Logger.map(Logger.formatStructured, (line) => void lines.push(line))
    const logDamage = DamageLog.make()
    const onDamage = (damage: Damage) => logDamage(id, damage)
    const read = Effect.flip(EventReader.read(counting, defaultProject, id, { onDamage }))
    const errors = yield* Effect.all([read, read]).pipe(Effect.provide(Logger.layer([logger])))
    for (const error of errors) assert.deepStrictEqual({ ...error }, { ...new EventDamaged({ eventId: id }) })
    return { lines: lines.map((line) => JSON.stringify(line)), looks }
  })

  it.effect.each([
    ["the start of its chain is missing", (packs: Packs) => packs.slice(-1), /The chain of pack \d+ has no start/],
    ["its pack is missing", (packs: Packs) => packs.slice(0, -1), /Pack \d+ is missing/],
    [
      "its pack is of another format",
      (packs: Packs) => packs.with(-1, { ...packs.at(-1)!, bytes: Buffer.of(9) }),
      /Pack \d+ has format 9/
    ],
    [
      "one bit of its pack is different",
      (packs: Packs) => packs.with(-1, flipped(packs.at(-1)!)),
      /Pack|checksum|invalid/
    ],
    [
      "one bit of another pack is different",
      (packs: Packs) => packs.with(0, flipped(packs[0]!)),
      /missing|no start|differs|invalid|unexpected/
    ]
  ] as const)(
    "fails with event-damaged, after a few attempts and with one line in the log, if %s",
    Effect.fnUntraced(function* ([, damaged, message]) {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const broken: Service = {
        ...storage,
        readPacks: (...args) => Effect.map(storage.readPacks(...args), damaged)
      }
      const { lines, looks } = yield* readDamaged(broken, recorded.at(-1)!.id)
      assert.lengthOf(lines, 1)
      assert.match(lines[0]!, message)
      assert.isBelow(looks, 20)
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect.each([
    ["shared pieces are missing", () => [], /Shared piece [0-9a-f]{64} is missing/],
    [
      "a shared piece is damaged",
      (pieces: Shared) => pieces.map(({ bytes, sha256 }) => ({ sha256, bytes: flipped({ number: 1, bytes }).bytes })),
      /./
    ],
    [
      "a shared piece has another text",
      (pieces: Shared) => pieces.map(({ bytes, sha256 }) => ({ sha256, bytes: otherText(bytes) })),
      /texts/
    ]
  ] as const)(
    "fails with event-damaged if %s",
    Effect.fnUntraced(function* ([, damaged, message]) {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const { id } = recorded.findLast(({ call }) => call.inputs.length > 4_000)!
      const broken: Service = {
        ...storage,
        readShared: (...args) => Effect.map(storage.readShared(...args), damaged)
      }
      const { lines } = yield* readDamaged(broken, id)
      assert.match(lines[0]!, message)
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect.each([
    [
      "a field has another value",
      (event) => ({ ...event, summary: { ...event.summary!, inputTokens: 7 } as EventSummary })
    ],
    ["a field cannot be decoded", (event) => ({ ...event, summary: undefined })],
    ["the row belongs to another project", undefined],
    ["its row names no pack", (event) => ({ ...event, pack: { number: event.pack.number + 1_000, bytes: undefined } })],
    ["a checksum has another value", (event) => ({ ...event, checksums: { ...event.checksums, texts: 0 } })]
  ] as ReadonlyArray<readonly [string, ((event: StoredEvent) => StoredEvent) | undefined]>)(
    "fails with event-damaged if %s",
    Effect.fnUntraced(function* ([, damaged]) {
      const storage = yield* Storage
      const { id } = (yield* recordShared(storage)).at(-1)!
      const other = ProjectId.make("another")
      const broken: Service = {
        ...storage,
        getEvent: (_, event) =>
          Effect.map(storage.getEvent(defaultProject, event), (found) =>
            damaged === undefined ? found : damaged(found)
          ),
        listEvents: (_, query) => storage.listEvents(defaultProject, query)
      }
      const project = damaged === undefined ? other : defaultProject
      const read = Effect.flip(EventReader.read(broken, project, id))
      assert.deepStrictEqual({ ...(yield* read) }, { ...new EventDamaged({ eventId: id }) })
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect("lists no event whose fields are damaged", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const { id } = recorded[3]!
      const broken: Service = {
        ...storage,
        listEvents: (...args) =>
          Effect.map(storage.listEvents(...args), (found) =>
            found.map((each) =>
              each.id === id
                ? { ...each, summary: { ...each.summary!, session: SessionId.make("t") } as EventSummary }
                : each
            )
          )
      }
      yield* recording(broken, (recorder) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(recorder.listEvents({ order: "asc", limit: 10 }))
          assert.deepStrictEqual({ ...error }, { ...new EventDamaged({ eventId: id }) })
          const rest = yield* recorder.listEvents({ order: "asc", limit: 100, after: id })
          assert.lengthOf(rest.events, recorded.length - 4)
        })
      )
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("admits an event by the size of its payload before it reads anything large", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      // Its pack stays large: random numbers do not compress, and are no shared piece.
      const numbers = Array.from({ length: 50_000 }, (_, n) =>
        ((n * 0.618_033_988_749_895) % 1).toString().replace("0.", "1")
      )
      const inputs = `{"numbers":[${numbers.join(",")}]}`
      const call = { session: "s", person: "alice", inputs, output: "{}" }
      const id = yield* recording(storage, (recorder) => Calls.record(recorder, call))
      const { pack } = yield* storage.getEvent(defaultProject, id)
      assert.isAbove(pack.bytes!.length, 64 * 1024)
      const calls: Array<string> = []
      const watched: Service = {
        ...storage,
        getEvent: (...args) =>
          Effect.tap(storage.getEvent(...args), ({ pack }) =>
            Effect.sync(() => calls.push(`getEvent ${pack.bytes?.length ?? "without its pack"}`))
          ),
        readPacks: (...args) =>
          Effect.andThen(
            Effect.sync(() => calls.push("readPacks")),
            storage.readPacks(...args)
          )
      }
      const read = (isAdmitted: boolean) =>
        EventReader.read(watched, defaultProject, id, {
          admit: ({ inputsBytes, outputBytes }) => {
            calls.push(`admit ${inputsBytes + outputBytes}`)
            return isAdmitted ? Effect.void : Effect.fail("refused" as const)
          }
        })
      assert.strictEqual(yield* Effect.flip(read(false)), "refused")
      const size = `admit ${inputs.length + 2}`
      assert.deepStrictEqual(calls, ["getEvent without its pack", size])
      calls.length = 0
      const { payload } = yield* read(true)
      assert.isTrue(Buffer.from(inputs).equals(payload.inputs))
      assert.deepStrictEqual(calls, ["getEvent without its pack", size, "readPacks"])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("still dies of a fault of the program", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const broken: Service = { ...storage, readPacks: () => Effect.die(new TypeError("a fault")) }
      const exit = yield* Effect.exit(EventReader.read(broken, defaultProject, recorded.at(-1)!.id))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause) && !Cause.hasFails(exit.cause))
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("reads an event that needs nothing of a damaged pack", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      // The first pack that stands alone or starts a chain is not needed by an event before it.
      const { call, id } = recorded[0]!
      const damaged: Service = {
        ...storage,
        readPacks: (...args) =>
          Effect.map(storage.readPacks(...args), (packs) =>
            packs.map((pack) => (pack.number > 1 ? flipped(pack) : pack))
          )
      }
      const { payload } = yield* EventReader.read(damaged, defaultProject, id)
      assert.strictEqual(Buffer.from(payload.inputs).toString(), call.inputs)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
