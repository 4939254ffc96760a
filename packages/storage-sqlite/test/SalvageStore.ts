/** A store in which a session and a person with planted words are erased after a page was damaged. */
import {
  AgentName,
  CurrentProject,
  Eraser,
  type ErasureReceipt,
  EventTime,
  type EventId,
  IdempotencyKey,
  JsonText,
  PersonId,
  PieceScanner,
  type Recorder,
  SessionId,
  Storage,
  Throttle,
  derive
} from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Exit, Layer, Logger } from "effect"
import { copyFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { SqliteStorage } from "../src/index.ts"
import { foundIn } from "./RawFiles.ts"
import { withRecorder } from "./WithRecorder.ts"

const { Calls, PlantedWords } = StorageSuite
const { words } = PlantedWords

export const tables = ["packs", "events", "sessions", "people", "shared_pieces", "idempotency_keys"]

/** Each damaged event is logged. */
export const quietly = Effect.provide(Logger.layer([]))

interface Known {
  readonly session: string
  readonly person: string | null
  readonly inputs: Buffer
  readonly output: Buffer
}

export interface Store {
  readonly file: string
  readonly events: ReadonlyMap<EventId, Known>
  /** Events before it are old. */
  readonly cut: EventId
}

const say = (recorder: Recorder["Service"], session: SessionId, person: PersonId, texts: ReadonlyArray<string>) =>
  recorder.createEvent({
    ...{ api: "aisdk" as const, fingerprintId: Calls.fingerprintId, session, person },
    agent: AgentName.make("agent"),
    payload: PieceScanner.ofTexts(
      JSON.stringify({ messages: texts.map((content) => ({ role: "user", content })) }),
      "{}"
    ),
    facts: recorder.readFacts("aisdk", {}, {}),
    metadata: JsonText.unsafe("{}"),
    idempotency: { key: IdempotencyKey.make(`${session} ${texts[0]!.slice(0, 10)}`), bodyHash: Buffer.alloc(32, 1) }
  })

const others = 120

/** Records everything. */
export const fill = (file: string): Promise<Store> =>
  withRecorder(file, (recorder) =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const project = yield* CurrentProject
      yield* PlantedWords.putPerson(storage, project, words.person)
      yield* PlantedWords.recordAll(recorder, Calls.fingerprintId, 0, 14)
      const sizes = [[6_000, 7_000], [9_000]]
      for (const word of [words.session, words.person, words.kept]) {
        const session = word === words.session ? PlantedWords.sessionOf(word) : SessionId.make("shared")
        for (const [n, lengths] of sizes.entries()) {
          const texts = lengths.map((length) => `${n} ${word} ${Calls.noise(length + word.length, length)}`)
          const person = word === words.session ? words.kept : word
          yield* say(recorder, session, PlantedWords.personOf(person), texts)
        }
      }
      yield* Effect.sleep(2)
      const cut = EventTime.firstIdOf(Date.now())
      const name = (kind: string, n: number) => `${kind} ${(n * 37) % others} ${Calls.noise(n, 60)}`
      for (let n = 0; n < others; n++) {
        const texts = [`of ${n}`, Calls.noise(n, n % 20 === 0 ? 6_000 : 100)]
        yield* say(recorder, SessionId.make(name("session", n)), PersonId.make(name("person", n)), texts)
      }
      yield* derive(storage, project, Throttle.unthrottled)
      const events = new Map<EventId, Known>()
      for (const { id } of yield* storage.listEvents(project, { order: "asc", limit: 10_000 })) {
        const event = yield* recorder.getEvent(id)
        const inputs = Buffer.from(event.payload.inputs)
        events.set(id, {
          session: event.session,
          person: event.person,
          inputs,
          output: Buffer.from(event.payload.output)
        })
      }
      return { file, events, cut }
    })
  ).then((store) => {
    const database = new DatabaseSync(file)
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return store
  })

export const operations = ["session", "person", "retention"] as const
export type Operation = (typeof operations)[number]

const erase = (operation: Operation, { cut }: Store) =>
  Effect.gen(function* () {
    const eraser = yield* Eraser
    const project = yield* CurrentProject
    switch (operation) {
      case "session":
        return yield* eraser.eraseSession(project, PlantedWords.sessionOf(words.session))
      case "person":
        return yield* eraser.erasePerson(project, PlantedWords.personOf(words.person))
      default:
        return yield* eraser.eraseOlder(project, cut, Throttle.unthrottled)
    }
  }).pipe(Effect.provide(Eraser.layer))

const isErased = (operation: Operation, id: EventId, { person, session }: Known, { cut }: Store): boolean => {
  if (operation === "session") return session === PlantedWords.sessionOf(words.session)
  return operation === "person" ? person === PlantedWords.personOf(words.person) : id < cut
}

export interface Outcome {
  /** The receipt, or why nothing was erased. */
  readonly receipt: ErasureReceipt | { readonly refused: string; readonly rebuilt?: undefined }
  /** What should not be. */
  readonly wrong: ReadonlyArray<string>
  /** What SQLite does to pages that it does not find malformed: it loses or keeps rows. */
  readonly unnoticed: ReadonlyArray<string>
  readonly counts: { readonly before: number; readonly after: number }
  readonly canRecord: boolean
}

const isTyped = (said: string) => /event-damaged|event-not-found|storage-unavailable/.test(said)

/** Erases in a copy of a store, and looks at every other event, or a sample of them, before and after. */
export const eraseIn = async (store: Store, file: string, operation: Operation, sample = 1): Promise<Outcome> => {
  const others = Array.from(store.events).filter(
    ([id, event], n) => n % sample === 0 && !isErased(operation, id, event, store)
  )
  const wrong: Array<string> = []
  const readable = (recorder: Recorder["Service"]) =>
    Effect.gen(function* () {
      const found = new Set<EventId>()
      for (const [id, known] of others) {
        const exit = yield* Effect.exit(recorder.getEvent(id))
        if (Exit.isFailure(exit)) {
          if (!isTyped(String(exit.cause))) wrong.push(`a read fails: ${String(exit.cause)}`)
        } else {
          const { payload, person, session } = exit.value
          const isAsSent = known.inputs.equals(payload.inputs) && known.output.equals(payload.output)
          if (isAsSent && person === known.person && session === known.session) found.add(id)
          else wrong.push(`${id} is read with other bytes`)
        }
      }
      return found
    })
  const record = (recorder: Recorder["Service"]) =>
    Effect.map(
      Effect.exit(
        Effect.all([
          say(recorder, SessionId.make("shared"), PlantedWords.personOf(words.kept), ["more"]),
          say(recorder, SessionId.make("new"), PersonId.make("new"), ["more"])
        ])
      ),
      (exit) => {
        if (Exit.isFailure(exit) && !isTyped(String(exit.cause))) wrong.push(`recording: ${String(exit.cause)}`)
        return Exit.isSuccess(exit)
      }
    )
  const before = await withRecorder(file, (recorder) => quietly(readable(recorder)))
  const { after, canRecord, left, receipt } = await withRecorder(file, (recorder) =>
    quietly(
      Effect.gen(function* () {
        const receipt = yield* Effect.catchTag(erase(operation, store), "storage-unavailable", ({ cause }) =>
          Effect.succeed({ refused: String(cause) })
        )
        const after = yield* readable(recorder)
        const canRecord = yield* record(recorder)
        const left: Array<string> = []
        for (const [id, event] of store.events) {
          if (!isErased(operation, id, event, store)) continue
          if (Exit.isSuccess(yield* Effect.exit(recorder.getEvent(id)))) left.push(`${id} is not erased`)
        }
        return { receipt, after, canRecord, left }
      })
    )
  )
  const word = operation === "person" ? words.person : words.session
  const { bytes, texts } = PlantedWords.tracesOf(word)
  left.push(...foundIn(file, [...bytes, ...texts]).map((found) => `left in ${found}`))
  const lost = Array.from(before).flatMap((id) => (after.has(id) ? [] : [`${id} could be read before`]))
  const counts = { before: before.size, after: after.size }
  if ("refused" in receipt) return { receipt, wrong: [...wrong, ...lost], unnoticed: [], counts, canRecord }
  return receipt.rebuilt === undefined
    ? { receipt, wrong, unnoticed: [...lost, ...left], counts, canRecord }
    : { receipt, wrong: [...wrong, ...lost, ...left], unnoticed: [], counts, canRecord }
}

export const copyOf = (store: Store, name: string): string => {
  const file = `${store.file}.${name}.db`
  copyFileSync(store.file, file)
  return file
}

export const verify = (file: string) =>
  Effect.runPromise(
    Effect.flatMap(Storage, StorageSuite.Verifying.verify).pipe(
      Effect.provide(Layer.fresh(SqliteStorage.layer({ filename: file }))),
      quietly
    )
  )
