/** A short run of `npm run fuzz -- conversations`, and that it reports a server which loses or changes events. */
import { RandomJson, TestSeed } from "@tachograph/testkit"
import { expect, it } from "vitest"
import * as Book from "../src/fuzz/Book.ts"
import * as ConversationRun from "../src/fuzz/ConversationRun.ts"
import { Conversation, Pool } from "../src/fuzz/Conversation.ts"
import * as Random from "../src/harness/Random.ts"
import * as ShortRun from "./ShortRun.ts"

const { seed } = TestSeed
const progress = () => {}

it(`reads every event of random conversations as it was sent, seed ${seed}`, { timeout: 240_000 }, async () => {
  const events = RandomJson.runs(400)
  const tally = await ConversationRun.overSqlite({ seed, events, command: ShortRun.command(), progress })
  expect(tally.wrong).toEqual([])
  expect(tally.of("events")).toBeGreaterThanOrEqual(events)
  expect(tally.of("reads")).toBeGreaterThan(events)
})

it("reports a server that loses events", { timeout: 240_000 }, async () => {
  // The option overrides the environment variable: the server stores events in memory only.
  const command = `/bin/sh -c 'exec ${ShortRun.command()} "$@" --storage memory:' lossy`
  const { wrong } = await ConversationRun.overSqlite({ seed: 1, events: 20, command, progress })
  expect(wrong.map(({ text }) => text)).toContainEqual(expect.stringMatching(/is not (listed|found)$/))
})

/** A book with two events, and what a server answers for them. */
const booked = (answers: (ids: ReadonlyArray<string>, body: string) => Partial<Book.Reader>) => {
  const call = { inputs: '{"messages":[1]}', output: '{"a":1}' }
  const what = Book.sent(call, { session: "s", person: "p", label: "call" })
  const book = new Book.Book()
  book.add("1", what)
  book.add("2", what)
  const body = Book.bodyOf(call, what, "f")
  const reader = { list: async () => ["1", "2"], read: async () => body, close: () => {}, ...answers(["1", "2"], body) }
  return { book, reader }
}

it.each([
  [
    "a changed byte",
    (_: ReadonlyArray<string>, body: string) => ({ read: async () => body.replace("[1]", "[2]") }),
    /read as something else/
  ],
  [
    "another session",
    (_: ReadonlyArray<string>, body: string) => ({ read: async () => body.replace('"s"', '"t"') }),
    /read as something else/
  ],
  ["a missing event", () => ({ read: async () => undefined }), /is not found/],
  ["an event that is not listed", () => ({ list: async () => ["1"] }), /2, is not listed/],
  ["an event that is listed twice", () => ({ list: async () => ["1", "1", "2"] }), /has an event twice/],
  ["an event that was not sent", () => ({ list: async () => ["1", "2", "3"] }), /3 was not sent/]
] as const)("detects %s", async (_, answers, expected) => {
  const { book, reader } = booked(answers)
  expect(await book.checkSession(reader, "s")).toContainEqual(expect.stringMatching(expected))
})

it("accepts what was sent, and detects what was erased", async () => {
  const { book, reader } = booked(() => ({}))
  expect(await book.checkSession(reader, "s")).toEqual([])
  const erased = book.erase({ person: "p" })
  expect(erased).toHaveLength(2)
  expect(await book.checkErased(reader, erased[0]!)).toMatch(/was erased, and is read/)
})

it("generates valid JSON, the same for the same seed", () => {
  const calls = (number: number) => {
    const conversation = new Conversation(Random.of(1, number), new Pool())
    return Array.from({ length: 60 }, () => conversation.next())
  }
  for (let number = 0; number < RandomJson.runs(16); number++) {
    const generated = calls(number)
    for (const { inputs, output } of generated) {
      expect(JSON.parse(inputs)).toBeTypeOf("object")
      expect(JSON.parse(output)).toBeTypeOf("object")
    }
    expect(calls(number)).toEqual(generated)
  }
})
