import { formats, type Json, type Message } from "@tachograph/formats"
import { RandomJson, StorageSuite, TestSeed } from "@tachograph/testkit"
import { Effect, Logger, References } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { AgentName } from "../../src/domain/Agent.ts"
import type { Event, EventId } from "../../src/domain/Event.ts"
import { PersonId } from "../../src/domain/Person.ts"
import { defaultProject } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as ReadFacts from "../../src/facts/ReadFacts.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import * as PieceScanner from "../../src/payload/scan/PieceScanner.ts"
import { Recorder } from "../../src/Recorder.ts"
import type { TextQuery } from "../../src/search/TextSearch.ts"
import type { SearchPlace } from "../../src/search/Search.ts"
import * as Snippet from "../../src/search/Snippet.ts"
import { Storage } from "../../src/Storage.ts"
import { noise } from "../payload/Conversations.ts"
import { type Call, recording, type Service } from "../Recording.ts"

const { Calls } = StorageSuite

type Service_ = Recorder["Service"]

/** A text of which part is searched for. The lengths are on both sides of the limits of `PiecePolicy`. */
interface Words {
  readonly seed: number
  readonly length: number
  readonly needle: string
}

const needles = ["", "", "grün", "GRÜN", "grun", 'a "b"\n', "\\", "ς", "Σ", "ﬀ", "😀", "4711", "ß"]

const words: fc.Arbitrary<Words> = fc.record({
  seed: fc.nat(3),
  length: fc.constantFrom(0, 5, 300, 700, 1_500, 9_000),
  needle: fc.constantFrom(...needles)
})

const textOf = ({ length, needle, seed }: Words): string =>
  `${noise(seed, length)} ${needle} ${noise(seed + 1, Math.min(length, 90))}`

type Said =
  | { readonly kind: "user" | "system" | "blocks"; readonly words: Words }
  | { readonly kind: "call"; readonly words: Words; readonly number: number }
  | { readonly kind: "result"; readonly words: Words; readonly isJson: boolean }

const said: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ kind: fc.constantFrom("user", "system", "blocks"), words }),
  fc.record({ kind: fc.constant("call"), words, number: fc.constantFrom(1, 4711, 147_110, 0.5) }),
  fc.record({ kind: fc.constant("result"), words, isJson: fc.boolean() })
)

interface Step {
  readonly session: number
  /** Conversations of a session take turns. */
  readonly thread: number
  readonly person: string
  readonly isAnthropic: boolean
  /** How many messages of the conversation so far are left out, from its end. */
  readonly dropped: number
  readonly said: ReadonlyArray<Said>
  readonly answer: Words
  /** How the JSON is written. */
  readonly style: number
  readonly instructions: Words | undefined
}

const step: fc.Arbitrary<Step> = fc.record({
  session: fc.nat(1),
  thread: fc.nat(1),
  person: fc.constantFrom("alice", "bob", "carol"),
  isAnthropic: fc.boolean(),
  dropped: fc.oneof({ arbitrary: fc.constant(0), weight: 4 }, { arbitrary: fc.nat(4), weight: 1 }),
  said: fc.array(said, { maxLength: 3 }),
  answer: words,
  style: fc.nat(4),
  instructions: fc.option(words, { nil: undefined })
})

const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Each is the same JSON. */
const styles: ReadonlyArray<(value: unknown) => string> = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value).replaceAll(/[^\0-\x7f]/g, escape),
  (value) =>
    JSON.stringify(value)
      .replaceAll(/[<>&'\u2028]/g, escape)
      .replaceAll("/", "\\/"),
  (value) => JSON.stringify(value, null, 1),
  (value) => JSON.stringify(value).replaceAll(/(?<=[^\\"]{8})[g-tv-z](?=[^\\"]{8})/g, escape)
]

const openAi = (each: Said, write: (value: unknown) => string): object => {
  const text = textOf(each.words)
  switch (each.kind) {
    case "call": {
      const args = write({ note: text, n: each.number })
      return {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: args } }]
      }
    }
    case "result":
      return { role: "tool", tool_call_id: "c", content: each.isJson ? write({ found: [text] }) : text }
    case "blocks":
      return {
        role: "user",
        content: [
          { type: "text", text },
          { type: "text", text: "and" }
        ]
      }
    default:
      return { role: each.kind, content: text }
  }
}

const anthropic = (each: Said, write: (value: unknown) => string): object => {
  const text = textOf(each.words)
  switch (each.kind) {
    case "call":
      return {
        role: "assistant",
        content: [{ type: "tool_use", id: "c", name: "f", input: { note: text, n: each.number } }]
      }
    case "result": {
      const content = each.isJson ? write({ found: [text] }) : [{ type: "text", text }]
      return { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content }] }
    }
    case "blocks":
      return { role: "user", content: [{ type: "text", text, cache_control: { type: "ephemeral" } }] }
    default:
      return { role: "user", content: text }
  }
}

/** The calls of conversations that grow, are cut, take turns and repeat themselves. */
const callsOf = (steps: ReadonlyArray<Step>): ReadonlyArray<Call> => {
  const threads = new Map<string, Array<object>>()
  return steps.map(({ answer, dropped, instructions, isAnthropic, person, said, session, style, thread }) => {
    const key = `${session} ${thread} ${isAnthropic}`
    const messages = threads.get(key) ?? []
    threads.set(key, messages)
    messages.splice(Math.max(0, messages.length - dropped), dropped)
    const write = styles[style]!
    for (const each of said) messages.push((isAnthropic ? anthropic : openAi)(each, write))
    const text = textOf(answer)
    const own = instructions === undefined ? {} : { system: textOf(instructions) }
    const inputs = isAnthropic ? { model: "m", ...own, messages } : { model: "m", messages }
    const output = isAnthropic
      ? { role: "assistant", content: [{ type: "text", text }] }
      : { choices: [{ message: { role: "assistant", content: text } }] }
    const call: Call = {
      api: isAnthropic ? "provider2-messages" : "provider1-chat-completions",
      session: `s${session}`,
      person,
      inputs: write(inputs),
      output: write(output)
    }
    messages.push(
      isAnthropic ? { role: "assistant", content: [{ type: "text", text }] } : { role: "assistant", content: text }
    )
    return call
  })
}

/** What a result must say. */
interface Expected extends Snippet.Snippet {
  readonly id: EventId
  readonly role: string
}

const isContainer = (value: Json): boolean => typeof value === "object" && value !== null

/** What a value holds that can be said, one by one. */
const leaves = (value: Json | undefined): ReadonlyArray<string> => {
  if (typeof value === "string") return value === "" ? [] : [value]
  if (typeof value === "number") return [String(value)]
  if (Array.isArray(value)) return value.flatMap(leaves)
  if (value === undefined || value === null || typeof value === "boolean") return []
  return Object.entries(value).flatMap(([key, item]) => [key, ...leaves(item)])
}

const inner = (text: string): ReadonlyArray<string> | undefined => {
  try {
    const value = JSON.parse(text) as Json
    return isContainer(value) ? leaves(value) : undefined
  } catch {
    return undefined
  }
}

const textsOf = ({ parts }: Pick<Message, "parts">, has: (text: string) => boolean): ReadonlyArray<string> =>
  parts.flatMap((part) => {
    if (part.type === "tool_call") return leaves(part["arguments"])
    if (part.type === "text") return leaves(part["content"])
    const response = part["response"]
    const texts = Array.isArray(response) ? response.map((block) => (block as { text: string }).text) : leaves(response)
    return texts.flatMap((text) => (has(text) ? [text] : (inner(text) ?? [text])))
  })

/** An event as it was sent. */
interface Read {
  readonly event: Event
  readonly messages: ReadonlyArray<Pick<Message, "parts" | "role">>
}

const readAll = Effect.fnUntraced(function* (recorder: Service_) {
  const { events } = yield* recorder.listEvents({ order: "asc", limit: 1_000 })
  return yield* Effect.forEach(events, ({ id }) =>
    Effect.map(recorder.getEvent(id), (event): Read => {
      const [inputs, output] = [event.payload.inputs, event.payload.output].map((text): unknown =>
        JSON.parse(Buffer.from(text).toString())
      )
      const conversation = formats[event.api].messages(inputs, output)
      const instructions = { role: "system", parts: conversation.instructions }
      // What a tool answers is the tool's, also in a message of the user.
      const messages = [instructions, ...conversation.input, ...conversation.output].flatMap(({ parts, role }) =>
        parts.map((part) => ({ role: part.type === "tool_call_response" ? "tool" : role, parts: [part] }))
      )
      return { event, messages }
    })
  )
})

/** Looks at every text of all events. */
const naive = (
  read: ReadonlyArray<Read>,
  pattern: RegExp,
  roles: TextQuery["roles"],
  isWanted: (event: { readonly session: string; readonly person: string | null; readonly agent: string }) => boolean
): ReadonlyArray<Expected> => {
  const seen = new Set<string>()
  const found: Array<Expected> = []
  for (const { event, messages } of read) {
    for (const message of messages) {
      const isSought =
        roles === undefined ? message.role !== "system" : roles === "any" || roles.some((role) => role === message.role)
      if (!isSought) continue
      for (const text of textsOf(message, (text) => pattern.test(text))) {
        const match = pattern.exec(text)
        if (match === null || seen.has(JSON.stringify([event.session, text]))) continue
        seen.add(JSON.stringify([event.session, text]))
        if (!isWanted(event)) continue
        const hit = { start: match.index, end: match.index + match[0].length }
        found.unshift({ id: event.id, role: message.role, ...Snippet.of(text, hit) })
      }
    }
  }
  return found
}

const searchAll = Effect.fnUntraced(function* (recorder: Service_, query: Omit<TextQuery, "after">) {
  const found: Array<Expected> = []
  let after: SearchPlace | undefined
  do {
    const { damaged, next, results } = yield* recorder.search({ ...query, after })
    expect(damaged).toBe(0)
    expect(results.length).toBeLessThanOrEqual(query.limit)
    for (const { event, ...rest } of results) found.push({ id: event.id, ...rest })
    after = next
  } while (after !== undefined)
  return found
})

const query = fc.record({
  text: fc.constantFrom(
    "grün",
    "GRÜN",
    "grun",
    'A "b"\n',
    "\\",
    "σ",
    "ﬀ",
    "😀",
    "4711",
    "711",
    "ß",
    "note",
    "role",
    "a"
  ),
  isCaseSensitive: fc.boolean(),
  roles: fc.constantFrom<TextQuery["roles"]>(
    undefined,
    "any",
    "any",
    ["user"],
    ["tool"],
    ["system"],
    ["user", "assistant"]
  ),
  filter: fc.constantFrom(
    {},
    { session: SessionId.make("s1") },
    { person: PersonId.make("bob") },
    { agent: AgentName.make("agent 5") }
  ),
  limit: fc.constantFrom(1, 2, 7, 1_000)
})

const withRecorder = <A>(body: (recorder: Service_, storage: Service) => Effect.Effect<A, unknown>) =>
  Effect.runPromise(
    Effect.flatMap(Storage, (storage) => recording(storage, (recorder) => body(recorder, storage))).pipe(
      Effect.provide(MemoryStorage.layer)
    )
  )

describe("Search", () => {
  it("finds what reading every event finds", { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 14 }),
        fc.array(query, { minLength: 2, maxLength: 7 }),
        fc.option(fc.constantFrom("alice", "bob", "carol")),
        (steps, queries, erased) =>
          withRecorder(
            Effect.fnUntraced(function* (recorder) {
              for (const call of callsOf(steps)) yield* Calls.record(recorder, call)
              if (erased !== null && steps.some(({ person }) => person === erased)) {
                yield* recorder.erasePerson(PersonId.make(erased))
              }
              const read = yield* readAll(recorder)
              for (const { filter, isCaseSensitive, limit, roles, text } of queries) {
                const escaped = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")
                const isWanted = (event: object) =>
                  Object.entries(filter).every(([name, value]) => (event as Record<string, unknown>)[name] === value)
                const expected = naive(read, new RegExp(escaped, isCaseSensitive ? "u" : "iu"), roles, isWanted)
                expect(yield* searchAll(recorder, { ...filter, text, isCaseSensitive, roles, limit }), text).toEqual(
                  expected
                )
              }
            })
          )
      ),
      { numRuns: RandomJson.runs(300), seed: TestSeed.seed }
    )
  )

  it("finds a text once that an erased person said first, and that was then spelled in other ways", () =>
    withRecorder(
      Effect.fnUntraced(function* (recorder) {
        const messages: Array<object> = []
        for (const [person, style] of [
          ["carol", 0],
          ["alice", 0],
          ["alice", 1],
          ["alice", 0]
        ] as const) {
          messages.push({ role: "user", content: `${"And this? ".repeat(messages.length)} A smile: 😀.`.slice(-20) })
          const inputs = styles[style]!({ model: "m", messages })
          yield* Calls.record(recorder, {
            api: "provider1-chat-completions",
            session: "s",
            person,
            inputs,
            output: "{}"
          })
        }
        yield* recorder.erasePerson(PersonId.make("carol"))
        const expected = naive(yield* readAll(recorder), /😀/u, undefined, () => true)
        for (const limit of [1, 2, 10]) {
          expect(yield* searchAll(recorder, { text: "😀", isCaseSensitive: true, limit })).toEqual(expected)
        }
      })
    ))

  it("finds every long text of messages and answers, wherever a provider puts it", () => {
    const said = fc.string({ unit: "grapheme-ascii", minLength: 20, maxLength: 60 })
    const field = fc.oneof(
      said.map((text) => ({ audio: { id: "audio_1", data: "AAAA", transcript: text } })),
      said.map((text) => ({ reasoning_details: [{ type: "reasoning.text", text, signature: null }] })),
      said.map((text) => ({ reasoning_details: [{ type: "reasoning.summary", summary: text }] })),
      said.map((title) => ({ annotations: [{ type: "url_citation", url_citation: { title } }] })),
      said.map((reasoning_content) => ({ reasoning_content })),
      said.map((refusal) => ({ refusal })),
      said.map((text) => ({ content: [{ type: "text", text }] })),
      said.map((detail) => ({ content: [{ type: "image_url", image_url: { url: "https://a.example", detail } }] })),
      said.map((note) => ({ a_field_of_tomorrow: { note } }))
    )
    const messages = fc.array(
      fc.tuple(field, field).map((fields) => Object.assign({ role: "assistant", content: "So." }, ...fields)),
      { minLength: 1, maxLength: 5 }
    )
    return fc.assert(
      fc.asyncProperty(messages, messages, (sent, answers) =>
        withRecorder(
          Effect.fnUntraced(function* (recorder) {
            yield* Calls.record(recorder, {
              api: "provider1-chat-completions",
              session: "s",
              person: "alice",
              inputs: JSON.stringify({ model: "m", messages: sent }),
              output: JSON.stringify({ choices: answers.map((message) => ({ message })) })
            })
            const texts = [...sent, ...answers].flatMap((message) => leaves(message as unknown as Json))
            for (const text of texts.filter(({ length }) => length >= 20)) {
              const found = yield* searchAll(recorder, { text, isCaseSensitive: true, limit: 10 })
              expect(found.length, text).toBeGreaterThan(0)
            }
          })
        )
      ),
      { numRuns: RandomJson.runs(50), seed: TestSeed.seed }
    )
  })

  it("counts texts that are no JSON, logs nothing of them, and goes on", () =>
    withRecorder(
      Effect.fnUntraced(function* (recorder) {
        const texts = [
          '{"prompt":"a needle"}',
          '{"prompt":"a secret needle","x":tru}',
          '{"prompt":"another needle"}',
          "[needle]",
          "{}"
        ]
        for (const inputs of texts) {
          yield* recorder.createEvent({
            api: "aisdk",
            fingerprintId: Calls.fingerprintId,
            session: SessionId.make("s"),
            payload: PieceScanner.ofTexts(inputs, "{}"),
            facts: ReadFacts.read("aisdk", {}, {})
          })
        }
        const logged: Array<unknown> = []
        const logger = Logger.make(({ fiber, message }) => {
          logged.push(message, fiber.getRef(References.CurrentLogAnnotations))
        })
        const page = yield* recorder
          .search({ text: "needle", isCaseSensitive: true, after: undefined, limit: 10 })
          .pipe(Effect.provide(Logger.layer([logger])))
        expect(page.results.map(({ snippet }) => snippet)).toEqual(["another needle", "a needle"])
        expect([page.damaged, page.next]).toEqual([2, undefined])
        const { rows } = yield* recorder.listSessions({ order: "asc", limit: 10 })
        expect(rows.map(({ events, title }) => [events, title])).toEqual([[5, "a needle"]])
        expect(logged).toHaveLength(4)
        expect(JSON.stringify(logged)).not.toContain("secret")
      })
    ))

  it("answers whatever byte of a pack is damaged, and finds the rest", () =>
    withRecorder(
      Effect.fnUntraced(function* (recorder, storage) {
        const call = (session: string, word: string) =>
          Calls.record(recorder, {
            ...{ session, person: "alice", api: "provider2-messages", output: "{}" },
            inputs: JSON.stringify({ messages: [{ role: "user", content: `${word} needle` }] })
          })
        for (const [n, word] of ["a", "b", "c"].entries()) yield* call("damaged", `${word} ${n}`)
        yield* call("whole", "d")
        const number = (yield* storage.getSession(defaultProject, SessionId.make("damaged")))!.number
        const length = (yield* storage.readPacks(defaultProject, number, [{ from: 1, to: 3 }])).map(
          ({ bytes }) => bytes.length
        )
        let damagedEvents = 0
        for (let pack = 1; pack <= 3; pack++) {
          for (let at = 0; at < length[pack - 1]!; at++) {
            const damage = <P extends { readonly number: number; readonly bytes: Uint8Array | undefined }>(
              each: P
            ): P => {
              if (each.number !== pack || each.bytes === undefined) return each
              const bytes = Uint8Array.from(each.bytes)
              bytes[at]! ^= 1 << (at % 8)
              return { ...each, bytes }
            }
            const damaged: Service = {
              ...storage,
              readPacks: (project, session, ...rest) =>
                Effect.map(storage.readPacks(project, session, ...rest), (packs) =>
                  session === number ? packs.map(damage) : packs
                ),
              readPackRanges: (...args) =>
                Effect.map(storage.readPackRanges(...args), (packs) =>
                  packs.map((each) => (each.session === number ? damage(each) : each))
                )
            }
            const query = { text: "needle", isCaseSensitive: true, after: undefined, limit: 10 }
            const page = yield* Effect.provide(
              Effect.flatMap(Recorder, ({ search }) => search(query)),
              Calls.recorderOver(damaged)
            ).pipe(Effect.provide(Logger.layer([])))
            expect(page.results[0]).toMatchObject({ snippet: "d needle" })
            expect(page.results.length + page.damaged).toBe(4)
            damagedEvents += page.damaged
          }
        }
        // Few bytes are not needed to read what a pack holds.
        expect(damagedEvents).toBeGreaterThan(length.reduce((sum, each) => sum + each))
      })
    ))
})
