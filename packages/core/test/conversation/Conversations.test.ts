/** Sessions as messages and calls, of the providers' formats. */
import { type Api, formats } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { RandomJson, StorageSuite, TestSeed } from "@tachograph/testkit"
import { DateTime, Effect } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { SessionCall } from "../../src/conversation/SessionCalls.ts"
import type { SessionMessage } from "../../src/conversation/SessionMessages.ts"
import { type EventId } from "../../src/domain/Event.ts"
import { PersonId } from "../../src/domain/Person.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import type { Recorder } from "../../src/Recorder.ts"
import type { StoredPack } from "../../src/payload/format/Pack.ts"
import { Storage } from "../../src/Storage.ts"
import { recording, type Service } from "../Recording.ts"

const { Calls } = StorageSuite

const session = SessionId.make("s")

interface Sent {
  readonly api?: Api
  readonly inputs: object
  readonly output: object
  readonly person?: string
  readonly occurredAt?: string
}

const over = <A, E>(body: (recorder: Recorder["Service"], storage: Service) => Effect.Effect<A, E>) =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(Storage, (storage) => recording(storage, (recorder) => body(recorder, storage))),
      MemoryStorage.layer
    )
  )

const record = (
  recorder: Recorder["Service"],
  { api = "provider1-chat-completions", inputs, occurredAt, output, person = "p" }: Sent
) =>
  Calls.record(
    {
      ...recorder,
      createEvent: (event) =>
        recorder.createEvent({ ...event, ...(occurredAt && { occurredAt: DateTime.makeUnsafe(occurredAt) }) })
    },
    { api, session, person, inputs: JSON.stringify(inputs), output: JSON.stringify(output) }
  )

const all = <Row>(
  list: (
    after: number | undefined
  ) => Effect.Effect<{ readonly rows: ReadonlyArray<Row>; readonly next: number | undefined }, unknown>
) =>
  Effect.gen(function* () {
    const rows: Array<Row> = []
    for (let after: number | undefined; ;) {
      const page: { readonly rows: ReadonlyArray<Row>; readonly next: number | undefined } = yield* list(after)
      rows.push(...page.rows)
      if (page.next === undefined) return rows
      after = page.next
    }
  })

const messagesOf = (recorder: Recorder["Service"], limit = 1_000) =>
  all((after) => recorder.listMessages(session, { after, limit, order: "asc", isVerbatim: true }))
const callsOf = (recorder: Recorder["Service"], limit = 1_000) =>
  all((after) => recorder.listCalls(session, { after, limit, order: "asc" }))

/** What a message says, in short. */
const saidIn = ({ from, message, number }: SessionMessage): string =>
  `${number} ${from} ${message!.role}: ${message!.parts.map((part) => part["content"] ?? part["name"] ?? part["response"] ?? part.type).join(" ")}`

/** A call by its place among all: its parent, what it kept of it, what is new and gone, what it answered. */
const shortOf = (calls: ReadonlyArray<SessionCall>) => {
  const place = (id: EventId | null) => (id === null ? null : calls.findIndex((call) => call.id === id) + 1)
  return calls.map((call) => [
    place(call.parentEventId),
    call.keptMessages,
    call.newMessages,
    call.goneMessages,
    call.output
  ])
}

const read = (...sent: ReadonlyArray<Sent>) =>
  over((recorder) =>
    Effect.gen(function* () {
      for (const each of sent) yield* record(recorder, each)
      const calls = yield* callsOf(recorder)
      const messages = yield* messagesOf(recorder)
      return { said: messages.map(saidIn), calls: shortOf(calls), all: calls, messages }
    })
  )

const user = (content: string) => ({ role: "user", content })
const assistant = (content: string) => ({ role: "assistant", content })
const system = (content: string) => ({ role: "system", content })
const answer = (...contents: ReadonlyArray<string>) => ({
  choices: contents.map((content, index) => ({ index, message: assistant(content), finish_reason: "stop" }))
})
const chat = (messages: ReadonlyArray<object>, ...answers: ReadonlyArray<string>): Sent => ({
  inputs: { model: "m", messages },
  output: answers.length === 0 ? { error: { message: "no", type: "overloaded" } } : answer(...answers)
})

describe("Sessions as conversations", () => {
  it("have the same words said twice as two messages", async () => {
    const { said, calls } = await read(
      chat([user("yes")], "ok"),
      chat([user("yes"), assistant("ok"), user("yes")], "ok"),
      chat([user("yes"), assistant("ok"), user("yes"), assistant("ok"), user("yes")], "ok")
    )
    expect(said).toEqual([
      "1 input user: yes",
      "2 output assistant: ok",
      "3 input user: yes",
      "4 output assistant: ok",
      "5 input user: yes",
      "6 output assistant: ok"
    ])
    expect(calls).toEqual([
      [null, 0, [1], [], [2]],
      [1, 2, [3], [], [4]],
      [2, 4, [5], [], [6]]
    ])
  })

  it("have a call that is made again as one with the same messages", async () => {
    const { calls, said } = await read(chat([user("a")]), chat([user("a")], "b"), chat([user("a")], "c"))
    expect(said).toEqual(["1 input user: a", "2 output assistant: b", "3 output assistant: c"])
    expect(calls).toEqual([
      [null, 0, [1], [], []],
      [1, 1, [], [], [2]],
      [2, 1, [], [], [3]]
    ])
  })

  it("go on after an error, and after one of several choices", async () => {
    const { all, calls } = await read(
      chat([user("a")]),
      chat([user("a"), user("b")], "c", "d"),
      chat([user("a"), user("b"), assistant("d"), user("e")], "f")
    )
    expect(calls).toEqual([
      [null, 0, [1], [], []],
      [1, 1, [2], [], [3, 4]],
      [2, 3, [5], [], [6]]
    ])
    expect(all[2]!.carried).toEqual({ kept: 2, runs: [[4, 5]] })
  })

  it("branch where the last message is another one", async () => {
    const begin = [user("a"), assistant("b")]
    const { calls } = await read(
      chat([user("a")], "b"),
      chat([...begin, user("c")], "d"),
      chat([...begin, user("e")], "f"),
      chat([...begin, user("c"), assistant("d"), user("g")], "h")
    )
    expect(calls.map(([parent, , , gone]) => [parent, gone])).toEqual([
      [null, []],
      [1, []],
      [1, []],
      [2, []]
    ])
  })

  it("go on when the system message changes with each call", async () => {
    const at = (time: number, ...rest: ReadonlyArray<object>) => [system(`It is ${time}.`), user("a"), ...rest]
    const { all, calls, said } = await read(
      chat(at(1), "b"),
      chat(at(2, assistant("b"), user("c")), "d"),
      chat(at(3, assistant("b"), user("c"), assistant("d"), user("e")), "f")
    )
    expect(said).toHaveLength(9)
    expect(calls).toEqual([
      [null, 0, [1, 2], [], [3]],
      [1, 2, [4, 5], [], [6]],
      [2, 4, [7, 8], [], [9]]
    ])
    expect(all.map(({ instructionsChanged }) => instructionsChanged)).toEqual([false, true, true])
  })

  it("have a changed system message at the beginning as changed instructions, and one further on as a message", async () => {
    const { all } = await read(
      chat([system("s"), user("a")], "b"),
      chat([system("s"), { role: "developer", content: "d" }, user("a"), assistant("b"), user("c")], "d"),
      chat([user("a"), assistant("b"), user("c"), assistant("d"), system("later"), user("e")], "f"),
      chat([
        user("a"),
        assistant("b"),
        user("c"),
        assistant("d"),
        system("other"),
        user("e"),
        assistant("f"),
        user("g")
      ])
    )
    expect(all.map((call) => [call.instructionsChanged, call.goneMessages])).toEqual([
      [false, []],
      [true, []],
      [true, []],
      [false, [7]]
    ])
  })

  it("do not take the same question to two agents for one conversation", async () => {
    const { calls } = await read(chat([system("A"), user("q")], "a"), chat([system("B"), user("q")], "b"))
    expect(calls).toEqual([
      [null, 0, [1, 2], [], [3]],
      [null, 0, [4, 5], [], [6]]
    ])
  })

  it("do not take what a client puts before the words of two agents for the beginning of one conversation", async () => {
    const rules = user("# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>")
    const context = [system("A"), rules, user("<environment_context>\n  <cwd>/work</cwd>\n</environment_context>")]
    const { calls } = await read(
      chat([...context, user("q")], "a"),
      chat([...context, user("task")], "b"),
      chat([...context, user("task")], "c"),
      chat([...context, user("q"), assistant("a"), user("r")], "d"),
      chat([...context, user("task"), assistant("b"), user("more")], "e")
    )
    expect(calls.map(([parent, , , gone]) => [parent, gone])).toEqual([
      [null, []],
      [null, []],
      [2, []],
      [1, []],
      [2, []]
    ])
  })

  it("have the same messages when calls are recorded out of order", async () => {
    const messages = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]
    const calls = [1, 3, 5].map((end, index) => ({
      ...chat(messages.slice(0, end), "bdf"[index]!),
      occurredAt: `2026-01-02T03:04:0${index}Z`
    }))
    const { all, said } = await read(calls[0]!, calls[2]!, calls[1]!)
    const ordered = await read(...calls)
    const wordsOf = (lines: ReadonlyArray<string>) => lines.map((line) => line.replace(/^\d+ \w+ /, "")).sort()
    expect(wordsOf(said)).toEqual(wordsOf(ordered.said))
    // The last call happened before the second one that was recorded.
    expect(all[2]!.parentEventId).toBe(all[0]!.id)
  })

  it("go on by ids where the provider keeps the conversation", async () => {
    const api = "provider1-responses"
    const output = (id: string, text: string) => ({
      id,
      status: "completed",
      output: [{ type: "message", id: `m${id}`, role: "assistant", content: [{ type: "output_text", text }] }]
    })
    const { all, calls, said } = await read(
      { api, inputs: { input: "a" }, output: output("r1", "b") },
      { api, inputs: { input: "c", previous_response_id: "r1" }, output: output("r2", "d") },
      { api, inputs: { input: "e", previous_response_id: "r1" }, output: output("r3", "f") },
      { api, inputs: { input: [user("g")], previous_response_id: "r2" }, output: output("r4", "h") },
      { api, inputs: { input: "x", conversation: { id: "k" } }, output: output("r5", "y") },
      { api, inputs: { input: "z", conversation: "k" }, output: output("r6", "z") }
    )
    expect(said).toHaveLength(12)
    expect(calls).toEqual([
      [null, 0, [1], [], [2]],
      [1, 2, [3], [], [4]],
      [1, 2, [5], [], [6]],
      [2, 4, [7], [], [8]],
      [null, 0, [9], [], [10]],
      [5, 2, [11], [], [12]]
    ])
    expect(all.some(({ parametersChanged }) => parametersChanged)).toBe(false)
    const interactions = await read(
      ...[undefined, "i1"].map((previous, index) => ({
        api: "provider3-interactions" as const,
        inputs: { model: "m", input: "a", previous_interaction_id: previous },
        output: {
          id: `i${index + 1}`,
          status: "completed",
          steps: [{ type: "model_output", content: [{ type: "text", text: "b" }] }]
        }
      }))
    )
    expect(interactions.calls).toEqual([
      [null, 0, [1], [], [2]],
      [1, 2, [3], [], [4]]
    ])
  })

  it("have an answer once, also where it is sent back in another form", async () => {
    const api = "provider2-messages"
    const text = { type: "text", text: "b" }
    const marked = { type: "text", text: "a", cache_control: { type: "ephemeral" } }
    const { calls } = await read(
      {
        api,
        inputs: { messages: [{ role: "user", content: [marked] }] },
        output: {
          role: "assistant",
          content: [{ type: "thinking", thinking: "hm", signature: "x" }, text],
          stop_reason: "end_turn",
          usage: {}
        }
      },
      {
        api,
        inputs: { messages: [user("a"), { role: "assistant", content: "b" }, user("c")] },
        output: { role: "assistant", content: [text] }
      }
    )
    expect(calls).toEqual([
      [null, 0, [1], [], [2]],
      [1, 2, [3], [], [4]]
    ])
    const reasoning = { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "hm" }] }
    const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "b" }] }
    const responses = await read(
      { api: "provider1-responses", inputs: { input: [user("a")] }, output: { output: [reasoning, said] } },
      { api: "provider1-responses", inputs: { input: [user("a"), said, user("c")] }, output: { output: [said] } }
    )
    // Reasoning that is not sent back is gone.
    expect(responses.calls).toEqual([
      [null, 0, [1], [], [2, 3]],
      [1, 2, [4], [2], [5]]
    ])
  })

  it.each<readonly [attribute: string, inputs: (...messages: ReadonlyArray<object>) => object, areElements: boolean]>([
    ["gen_ai.input.messages", (...messages) => messages, true],
    ["langfuse.observation.input", (...messages) => ({ tools: [], messages }), true],
    // Its conversation is one of a list.
    ["input.value", (...messages) => ({ messages: [messages] }), false]
  ])("go on where an attribute of a span has the messages: %s", async (attribute, inputs, areElements) => {
    const long = "a".repeat(300)
    const span = (messages: ReadonlyArray<object>, said: string): Sent => ({
      api: "aisdk",
      inputs: { "otel.scope.name": "x", [attribute]: inputs(...messages) },
      output: { "otel.scope.name": "x", "gen_ai.output.messages": [assistant(said)] }
    })
    const { calls, messages } = await read(
      span([user(long)], "b"),
      span([user(long), assistant("b"), user("c")], "d"),
      span([user(long), assistant("b"), user("c"), assistant("d"), user("e")], "f")
    )
    expect(calls).toEqual([
      [null, 0, [1], [], [2]],
      [1, 2, [3], [], [4]],
      [2, 4, [5], [], [6]]
    ])
    const sent = messages.filter(({ from }) => from === "input").map(({ verbatim }) => verbatim)
    expect(areElements ? sent : []).toEqual(
      areElements ? [user(long), user("c"), user("e")].map((message) => JSON.stringify(message)) : []
    )
  })

  it("are empty where there are no messages, and take inputs of any kind", async () => {
    const { calls, said } = await read(
      chat([]),
      { inputs: {}, output: {} },
      { inputs: { messages: 5 }, output: { choices: 5 } },
      chat([system("s")], "a"),
      chat([system("s"), assistant("a"), user("b")], "c")
    )
    // What is no message is kept as one that is not known.
    expect(said).toHaveLength(2 + 4)
    expect(said[0]).toBe("1 input unknown: 5")
    expect(calls.map(([parent]) => parent)).toEqual([null, null, null, null, 4])
  })

  it.each([
    [
      "provider3-models",
      { contents: [{ role: "user", parts: [{ text: "a" }] }] },
      { candidates: [{ content: { role: "model", parts: [{ text: "b" }] } }] },
      '{"role":"model","parts":[{"text":"b"}]}'
    ],
    [
      "provider3-models",
      { contents: "a" },
      { candidates: [{ content: { parts: [{ text: "b" }] } }] },
      '{"parts":[{"text":"b"}]}'
    ],
    ["aisdk", { prompt: "a" }, { text: "b" }, null],
    [
      "aisdk",
      { messages: [user("a")] },
      { text: "b", responseMessages: [assistant("b")] },
      '{"role":"assistant","content":"b"}'
    ],
    [
      "provider2-beta-messages",
      { messages: [user("a")] },
      { content: [{ type: "text", text: "b" }] },
      '{"content":[{"type":"text","text":"b"}]}'
    ],
    [
      "provider3-interactions",
      { input: [{ type: "text", text: "a" }] },
      { outputs: [{ type: "text", text: "b" }] },
      '{"type":"text","text":"b"}'
    ]
  ] as const)("read %s, %j", async (api, inputs, output, verbatim) => {
    const { messages, said } = await read({ api, inputs, output })
    expect(said).toEqual(["1 input user: a", "2 output assistant: b"])
    const [asked] = Object.values(inputs)
    expect(messages.map((each) => each.verbatim)).toEqual([
      JSON.stringify(Array.isArray(asked) ? asked[0] : asked),
      verbatim
    ])
  })
})

interface Turn {
  readonly thread: number
  /** Messages of the thread that are left out at its end. */
  readonly dropped: number
  /** Messages at its beginning for which one stands. */
  readonly compacted: number
  /** A message that is cut. */
  readonly edited: number | undefined
  readonly system: number
  readonly said: ReadonlyArray<Words>
  /** How many choices there are, of which the last one is sent back. */
  readonly answers: number
  /** Whether the last message has a mark for a cache. */
  readonly isMarked: boolean
}

interface Words {
  readonly words: number
  readonly length: number
}

const turn: fc.Arbitrary<Turn> = fc.record({
  thread: fc.nat(2),
  dropped: fc.oneof({ arbitrary: fc.constant(0), weight: 5 }, { arbitrary: fc.nat(3), weight: 1 }),
  compacted: fc.oneof({ arbitrary: fc.constant(0), weight: 6 }, { arbitrary: fc.nat(6), weight: 1 }),
  edited: fc.option(fc.nat(8), { nil: undefined, freq: 6 }),
  system: fc.nat(6),
  said: fc.array(fc.record({ words: fc.nat(5), length: fc.constantFrom(1, 1, 30, 300, 9_000) }), { maxLength: 3 }),
  answers: fc.nat(2),
  isMarked: fc.boolean()
})

describe("What is read of packs", () => {
  const textOf = ({ length, words }: Words) => `${words} ${Calls.noise(words, length)}`

  const mark = { cache_control: { type: "ephemeral" } }

  /** Calls of threads that drop, edit and compact their histories. */
  const sentOf = (turns: ReadonlyArray<Turn>): ReadonlyArray<Sent> => {
    const threads = new Map<number, ReadonlyArray<object>>()
    return turns.map(({ answers, compacted, dropped, edited, isMarked, said, system: number, thread }) => {
      const before = threads.get(thread) ?? []
      const left = before.slice(0, before.length - dropped)
      const kept = compacted > 0 ? [user(`In short: ${compacted}`), ...left.slice(compacted)] : left
      const cut = kept.map((message, index) => (index === edited ? { ...message, content: "[cut]" } : message))
      const messages = [...cut, ...said.map((each) => user(textOf(each)))]
      const instructions = thread === 0 ? [] : [system(thread === 1 ? "S" : `S ${number}`)]
      const marked = messages.map((message, index) =>
        isMarked && index === messages.length - 1 ? { ...message, ...mark } : message
      )
      const texts = Array.from({ length: answers }, (_, index) =>
        textOf({ words: messages.length + index, length: 100 * (thread + 1) })
      )
      threads.set(thread, [...messages, ...texts.slice(-1).map(assistant)])
      return chat([...instructions, ...marked], ...texts)
    })
  }

  it("is what the calls carried, however it is read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 14 }), fc.integer({ min: 1, max: 7 }), async (turns, limit) => {
        const sent = sentOf(turns)
        await over((recorder, storage) =>
          Effect.gen(function* () {
            for (const [index, each] of sent.entries()) {
              yield* record(recorder, each)
              // Read on from time to time.
              if (index % 4 === 1) yield* messagesOf(recorder, limit)
            }
            if (sent.length === 0) return
            const messages = yield* messagesOf(recorder, limit)
            const calls = yield* callsOf(recorder, limit)
            yield* recording(storage, (fresh) =>
              Effect.gen(function* () {
                expect(yield* messagesOf(fresh)).toEqual(messages)
                expect(yield* callsOf(fresh)).toEqual(calls)
              })
            )
            expect(messages.map(({ number }) => number)).toEqual(messages.map((_, index) => index + 1))
            expectToBeCarried(sent, messages, calls)
          })
        )
      }),
      { seed: TestSeed.seed, numRuns: RandomJson.runs(60) }
    )
  })

  /** The conversation of each call, from its parent's, is what was sent and answered. */
  const expectToBeCarried = (
    sent: ReadonlyArray<Sent>,
    messages: ReadonlyArray<SessionMessage>,
    calls: ReadonlyArray<SessionCall>
  ) => {
    const format = formats["provider1-chat-completions"]
    const identities = messages.map(({ message }) => identity(message!))
    const conversations = new Map<string, ReadonlyArray<number>>()
    for (const [index, call] of calls.entries()) {
      const before = call.parentEventId === null ? [] : conversations.get(call.parentEventId)!
      const runs = call.carried.runs.flatMap(([first, last]) =>
        Array.from({ length: last - first + 1 }, (_, n) => first + n)
      )
      const carried = [...before.slice(0, call.carried.kept), ...runs]
      const { input, output } = format.messages(sent[index]!.inputs, sent[index]!.output)
      expect(carried.map((number) => identities[number - 1])).toEqual(input.map(identity))
      expect(call.output.map((number) => identities[number - 1])).toEqual([...new Set(output.map(identity))])
      expect(call.newMessages).toEqual(carried.filter((number) => !before.includes(number)))
      expect(call.keptMessages).toBe(carried.filter((number) => before.includes(number)).length)
      for (const number of call.goneMessages) {
        expect(before).toContain(number)
        expect([...carried, ...call.output]).not.toContain(number)
      }
      conversations.set(call.id, [...carried, ...call.output])
    }
  }

  it("leaves out what was erased, and marks what is damaged", async () => {
    await over((recorder, storage) =>
      Effect.gen(function* () {
        const say = (person: string, word: string) =>
          record(recorder, { ...chat([user(`${person} ${word}`)], `${word}!`), person })
        for (const word of ["one", "two", "three"]) {
          yield* say("alice", word)
          yield* say("bob", word)
        }
        const texts = () =>
          Effect.map(messagesOf(recorder), (messages) => messages.map(({ message }) => message?.parts[0]?.["content"]))
        expect(yield* texts()).toHaveLength(12)
        yield* recorder.erasePerson(PersonId.make("alice"))
        expect(yield* texts()).toEqual(["bob one", "one!", "bob two", "two!", "bob three", "three!"])
        expect((yield* callsOf(recorder)).map(({ newMessages, person }) => [person, newMessages])).toEqual([
          ["bob", [1]],
          ["bob", [3]],
          ["bob", [5]]
        ])
        // The second of these packs, and those of its chain after it, cannot be read.
        const flip = (bytes: Uint8Array) => bytes.map((byte, at) => (at === bytes.length >>> 1 ? byte ^ 1 : byte))
        const damaged = <Pack extends StoredPack>(packs: ReadonlyArray<Pack>) =>
          packs.map((pack) => (pack.number === 4 ? { ...pack, bytes: flip(pack.bytes) } : pack))
        const broken: Service = {
          ...storage,
          listPacks: (...args) =>
            Effect.map(storage.listPacks(...args), (page) => ({ ...page, packs: damaged(page.packs) })),
          readPacks: (...args) => Effect.map(storage.readPacks(...args), damaged)
        }
        yield* recording(broken, (reader) =>
          Effect.gen(function* () {
            const calls = yield* callsOf(reader)
            expect(calls.map(({ isDamaged, newMessages }) => [isDamaged, newMessages])).toEqual([
              [false, [1]],
              [true, []],
              [true, []]
            ])
            expect((yield* messagesOf(reader)).map(({ message }) => message?.parts[0]?.["content"])).toEqual([
              "bob one",
              "one!"
            ])
            const damagedIn = (each: Recorder["Service"]) =>
              Effect.map(each.listMessages(session, { order: "asc", limit: 10 }), ({ damagedCalls }) => damagedCalls)
            expect([yield* damagedIn(reader), yield* damagedIn(recorder)]).toEqual([2, 0])
          })
        )
      })
    )
  })
})
