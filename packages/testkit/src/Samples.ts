/** Events to append in tests that do not depend on their content. */
import {
  AgentName,
  AgentVersionName,
  type AppendEvent,
  checksumOfSummary,
  type Errors,
  EventId,
  EventSummary,
  EventTime,
  FingerprintId,
  ProjectId,
  SessionId,
  type SharedPiece,
  type Storage
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { createHash } from "node:crypto"

/** The project of the samples, unless a case names another. */
export const project = ProjectId.make("default")

/** The highest pack number that the storage port allows. */
export const maxPack = 2 ** 31 - 1

/** An event id that sorts by `seed`, then by `n`. `seed` is below 10,000, `n` below 100,000,000. */
export const eventId = (n: number, seed = 0): EventId =>
  EventId.make(`01900000-0000-7000-8000-${String(seed).padStart(4, "0")}${String(n).padStart(8, "0")}`)

/** Every field as null. The constructor of `EventSummary` rejects those that must not be null, so samples give them values. */
const nulls = Object.fromEntries(
  Object.keys(EventSummary.fields).map((field) => [field, null])
) as unknown as EventSummary

export const appendEvent = (
  id: EventId,
  fields: Partial<EventSummary> = {},
  inProject: ProjectId = project
): AppendEvent => {
  const summary = new EventSummary({
    ...nulls,
    id,
    receivedAt: DateTime.makeUnsafe(EventTime.of(id)),
    api: "aisdk",
    fingerprintId: FingerprintId.make("11111111-1111-4111-8111-111111111111"),
    agent: AgentName.make("bot"),
    agentVersion: AgentVersionName.make("v1"),
    session: SessionId.make("s1"),
    inputsBytes: 2,
    outputBytes: 2,
    ...fields
  })
  return {
    project: inProject,
    summary,
    checksums: { summary: checksumOfSummary(inProject, summary), texts: 2 ** 31 - 1 },
    rules: "the rules of the samples",
    pack: {
      session: undefined,
      number: 1,
      bytes: Uint8Array.of(0, Number.parseInt(id.slice(-2), 16), 255),
      history: 0,
      parts: 0,
      newBytes: 5,
      shared: []
    }
  }
}

/** A piece that is stored once per project. Its stored bytes are not compressed, and 6 bytes longer than its text. */
export const sharedPiece = (text: string): SharedPiece => ({
  sha256: createHash("sha256").update(text).digest(),
  size: Buffer.byteLength(text),
  bytes: () => Buffer.from(`piece ${text}`)
})

/** Pauses between retries: without them, most attempts of many concurrent appends to a session conflict with each other. */
const pauses = Schedule.jittered(Schedule.min([Schedule.exponential("5 millis"), Schedule.spaced("300 millis")]))

/** Appends events with the next pack numbers of their sessions, and retries after a session conflict. */
export const append = (
  storage: Storage["Service"],
  events: ReadonlyArray<AppendEvent>
): Effect.Effect<ReadonlyArray<number>, Errors.StorageUnavailable> =>
  Effect.retry(appendOnce(storage, events), {
    while: ({ _tag }) => _tag === "session-conflict",
    schedule: pauses
  }).pipe(
    // A test that appends events with idempotency keys or new ids handles the error itself.
    Effect.catchTag(["session-conflict", "key-conflict", "stale-ids"], Effect.die)
  )

/** The same without retries, with the errors of the storage. */
export const appendOnce = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  events: ReadonlyArray<AppendEvent>
) {
  const next = new Map<string, AppendEvent["pack"]>()
  const numbered: Array<AppendEvent> = []
  for (const event of events) {
    const key = JSON.stringify([event.project, event.summary.session])
    const last = next.get(key)
    const state = last === undefined ? yield* storage.getSession(event.project, event.summary.session) : undefined
    const pack = {
      ...event.pack,
      session: last === undefined ? state && { number: state.number, generation: state.generation } : last.session,
      number: (last?.number ?? state?.packs ?? 0) + 1
    }
    next.set(key, pack)
    numbered.push({ ...event, pack })
  }
  return yield* storage.appendEvents(numbered)
})
