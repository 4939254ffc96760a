/**
 * Generates model calls of people who share sessions: common conversations, private texts, and texts that everyone sends. Each
 * private text contains its person's mark. Deterministic for a seed.
 */
import {
  DeriveInBackground,
  AgentName,
  type Api,
  CurrentProject,
  type EventId,
  EventJson,
  IdempotencyKey,
  type FingerprintId,
  JsonText,
  PersonId,
  type ProjectId,
  ReadFacts,
  Recorder,
  SessionId,
  Storage
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { createHash } from "node:crypto"

export interface Call {
  readonly session: string
  readonly person: string
  readonly inputs: string
  readonly output: string
  /** `aisdk` by default. */
  readonly api?: Api
  /** One for each length of the person's name by default. */
  readonly agent?: string
  /** The idempotency key of the request. */
  readonly key?: string | undefined
  readonly occurredAt?: DateTime.Utc | null
}

/** Occurs in every private text of a person, and nowhere else. */
export const markOf = (person: string): string => `planted by ${person};`

/** Returns a generator of whole numbers below a limit. */
export const random = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Text that does not compress. Deterministic for a seed. */
export const noise = (seed: number, length: number): string =>
  createHash("shake256", { outputLength: Math.ceil(0.75 * length) })
    .update(String(seed))
    .digest("base64")
    .slice(0, length)

const text = (value: string) => ({ type: "text", text: value })
const message = (role: string, value: string) => ({ role, content: [text(value)] })

/** Texts that everyone sends, each large enough to become a shared piece. */
const prompt = `Be brief. ${noise(1, 2_000)}`
const tools = [1, 2].map((n) => ({
  name: `tool ${n}`,
  description: noise(10 + n, 800),
  input_schema: { type: "object" }
}))
const documents = [3, 4].map((seed) => noise(seed, 6_000))

/** A longer conversation is started again. */
const maxMessages = 24

/** Generates the calls of one session, without end. */
export const calls = function* (
  session: string,
  people: ReadonlyArray<string>,
  seed: number
): Generator<Call, never, void> {
  const next = random(seed)
  let common: Array<object> = []
  const privateMessages = new Map<string, Array<object>>()
  for (let n = 1; ; n++) {
    const person = people[next(people.length)]!
    const call = (inputs: object, output: object) => ({
      session,
      person,
      inputs: JSON.stringify(inputs),
      output: JSON.stringify(output)
    })
    const secret = (length: number) => `${markOf(person)} ${session} ${n} ${noise(seed * 1_000 + n, length)}`
    if (common.length > maxMessages) common = []
    switch (next(6)) {
      // The common conversation, with a private message.
      case 0:
        yield call(
          { model: "m", system: prompt, messages: [...common, message("user", secret(next(2) === 0 ? 40 : 400))] },
          { role: "assistant", content: [text(secret(300))], usage: { input_tokens: n } }
        )
        break
      // A private conversation, with a private prompt.
      case 1: {
        const messages = privateMessages.get(person) ?? []
        privateMessages.set(person, messages.length > maxMessages ? [] : messages)
        const answer = message("assistant", secret(next(2) === 0 ? 200 : 5_000))
        messages.push(message("user", secret(next(3) === 0 ? 5_000 : 100)))
        yield call({ model: "m", system: `${markOf(person)} ${noise(seed, 1_500)}`, messages }, answer)
        messages.push(answer)
        break
      }
      // A common document, next to a private one.
      case 2:
        yield call(
          { tools, messages: [message("user", documents[next(2)]!), { role: "user", content: secret(4_500) }] },
          { content: documents[next(2)] }
        )
        break
      // A very small call.
      case 3:
        yield call({ prompt: markOf(person) }, {})
        break
      // The common conversation continues.
      default: {
        const answer = message("assistant", `answer ${n} ${noise(seed + n, 150)}`)
        common.push(message("user", `question ${n} ${noise(seed - n, next(2) === 0 ? 30 : 200)}`))
        yield call({ model: "m", system: prompt, tools, messages: common }, answer)
        common.push(answer)
      }
    }
  }
}

export const take = <A>(from: Generator<A, never, void>, count: number): ReadonlyArray<A> =>
  Array.from({ length: count }, () => from.next().value)

/** The fingerprint of all generated events. */
export const fingerprintId = "22222222-2222-4222-8222-222222222222" as FingerprintId

/** A recorder over a storage with its own session cache, as in another process. */
export const recorderOver = (storage: Storage["Service"]) =>
  Layer.fresh(
    Recorder.layer.pipe(
      // Its statements would be counted.
      Layer.provide(Layer.succeed(DeriveInBackground, false)),
      Layer.provide(Layer.succeed(Storage, storage))
    )
  )

/** Stores the fingerprint, which a project needs before its first event. */
export const putFingerprint = (storage: Storage["Service"], project: ProjectId) =>
  Effect.flatMap(DateTime.now, (createdAt) =>
    storage.putFingerprint(project, { id: fingerprintId, fields: JsonText.unsafe("{}"), createdAt })
  )

/**
 * Records a call as a server does, which skips known prefixes when it parses the text. Retries while the storage is overloaded;
 * a rejected attempt must store nothing.
 */
export const record = (recorder: Recorder["Service"], call: Call) =>
  Effect.retry(recordOnce(recorder, call), {
    while: ({ _tag }) => _tag === "overloaded",
    schedule: Schedule.spaced("100 millis")
  })

export const recordOnce = Effect.fnUntraced(function* (recorder: Recorder["Service"], call: Call) {
  const project = yield* CurrentProject
  const {
    agent = `agent ${call.person.length}`,
    api = "aisdk",
    inputs,
    key,
    occurredAt = null,
    output,
    person,
    session
  } = call
  const body = `{"session":${JSON.stringify(session)},"properties":{"inputs":${inputs},"output":${output}}}`
  const event = EventJson.open(Buffer.from(body), (named) => recorder.knownPrefixesOf(project, named))
  const bodyHash = createHash("sha256").update(body).digest()
  const { id } = yield* recorder.createEvent({
    idempotency: key === undefined ? undefined : { key: IdempotencyKey.make(key), bodyHash },
    api,
    fingerprintId,
    session: SessionId.make(session),
    agent: AgentName.make(agent),
    person: PersonId.make(person),
    occurredAt,
    payload: event!.payload,
    facts: ReadFacts.read(api, {}, {})
  })
  return id
})

/** Whether an event is returned as it was sent. */
export const isAsSent = Effect.fnUntraced(function* (recorder: Recorder["Service"], id: EventId, call: Call) {
  const { payload } = yield* recorder.getEvent(id)
  return Buffer.from(call.inputs).equals(payload.inputs) && Buffer.from(call.output).equals(payload.output)
})
