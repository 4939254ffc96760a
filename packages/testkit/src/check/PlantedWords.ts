/** Calls of which every text that a user chose has a word in it, to look for after an erasure. Names of agents have none: they remain. */
import {
  AgentName,
  type FingerprintId,
  IdempotencyKey,
  JsonText,
  PersonId,
  PieceScanner,
  type ProjectId,
  type Recorder,
  SessionId,
  type Storage,
  TraceId
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { noise } from "./Calls.ts"

const api = "provider1-chat-completions"

/** Part of every text. Long enough to occur nowhere by chance. */
const wordOf = (seed: number): string => noise(seed, 20).replaceAll(/[^a-zA-Z0-9]/g, "x")

/** The id of the trace of all calls with a word, as bytes in hexadecimal. */
const traceOf = (word: string): string => createHash("md5").update(word).digest("hex")

export const sessionOf = (word: string): SessionId => SessionId.make(`${word} session`)
export const personOf = (word: string): PersonId => PersonId.make(`${word} person`)

export const putPerson = (storage: Storage["Service"], project: ProjectId, word: string) =>
  Effect.flatMap(DateTime.now, (createdAt) => {
    const properties = JsonText.unsafe(JSON.stringify({ name: `${word} property` }))
    return storage.putPerson(project, { id: personOf(word), properties, createdAt })
  })

const hashOf = (word: string) => createHash("sha256").update(word).digest()

/** All that a storage may keep of calls with a word as it is: in bytes, and in text. */
export const tracesOf = (
  word: string
): { readonly bytes: ReadonlyArray<Buffer>; readonly texts: ReadonlyArray<string> } => {
  const trace = traceOf(word)
  const uuid = trace.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
  const hash = hashOf(word)
  return {
    bytes: [Buffer.from(word), Buffer.from(trace, "hex"), hash],
    texts: [word, trace, uuid, hash.toString("hex"), hash.toString("base64").slice(0, 40)]
  }
}

/** Calls of a session by one person and of a person in one session, and others of both that remain. */
export const words = { session: wordOf(1_001), person: wordOf(1_002), kept: wordOf(1_003) }

/** Records calls of all of them in turns, from one number to another. */
export const recordAll = (
  recorder: Recorder["Service"],
  fingerprintId: FingerprintId,
  from: number,
  to: number
): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const { kept, person, session } = words
    const shared = SessionId.make("shared")
    for (let n = from; n < to; n++) {
      const own = n % 2 === 0 ? sessionOf(person) : shared
      yield* record(recorder, fingerprintId, session, n, { session: sessionOf(session), person: personOf(kept) })
      yield* record(recorder, fingerprintId, person, n, { session: own, person: personOf(person) })
      yield* record(recorder, fingerprintId, kept, n, { session: shared, person: personOf(kept) })
    }
  })

interface Place {
  readonly session: SessionId
  readonly person: PersonId
}

/** Records the nth call with a word: every third is an error. */
const record = (recorder: Recorder["Service"], fingerprintId: FingerprintId, word: string, n: number, place: Place) => {
  const said = (what: string) => `${word} ${what} ${n}`
  const call = {
    id: said("call"),
    function: { name: `${word}_tool`, arguments: JSON.stringify({ a: said("argument") }) }
  }
  const message = { role: "assistant", content: said("answer"), tool_calls: [call] }
  const answer = {
    model: `${word} answering model`,
    choices: [{ index: 0, message, finish_reason: `${word} reason` }],
    usage: { prompt_tokens: 5, completion_tokens: n }
  }
  const output = n % 3 === 2 ? { error: { type: `${word} error`, message: said("error") } } : answer
  // Titles are made of the first; the long one is stored once per project.
  const messages = [said("title"), noise(n, 3_000) + word].map((content) => ({ role: "user", content }))
  const inputs = { model: `${word} asked model`, messages }
  return recorder.createEvent({
    ...{ api, fingerprintId, ...place },
    agent: AgentName.make("agent"),
    payload: PieceScanner.ofTexts(JSON.stringify(inputs), JSON.stringify(output)),
    facts: recorder.readFacts(api, inputs, output),
    metadata: JsonText.unsafe(JSON.stringify({ [said("key")]: said("value") })),
    recorded: { [said("mark")]: said("note") },
    traceId: TraceId.make(traceOf(word)),
    idempotency: { key: IdempotencyKey.make(said("idempotency")), bodyHash: hashOf(word) }
  })
}
