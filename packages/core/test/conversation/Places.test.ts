/**
 * Each message has one place, and each call the parent that it has most in common with: compared with a model that knows conversations
 * only as lists of words.
 */
import { RandomJson, StorageSuite, TestSeed } from "@tachograph/testkit"
import { Effect } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { SessionCall } from "../../src/conversation/SessionCalls.ts"
import { PersonId } from "../../src/domain/Person.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import type { Recorder } from "../../src/Recorder.ts"
import { Storage } from "../../src/Storage.ts"
import { recording } from "../Recording.ts"

const { Calls } = StorageSuite

const session = SessionId.make("s")
const people = ["alice", "bob"]

/** A call as words. Users say those that begin with a `u`, and the model the others. */
interface Spoken {
  readonly sent: ReadonlyArray<string>
  readonly answered: string | undefined
  readonly person: string
}

/** What differs in the JSON of a message and does not change what it says. */
const dressed = (word: string, dress: number): object => {
  const role = word.startsWith("u") ? "user" : "assistant"
  if (dress === 0) return { role, content: word }
  const mark = dress === 1 ? {} : { cache_control: { type: "ephemeral", ...(dress === 3 ? { ttl: "1h" } : {}) } }
  return { role, content: [{ type: "text", text: word, ...mark }] }
}

const record = (recorder: Recorder["Service"], { answered, person, sent }: Spoken, dress: number) => {
  const messages = sent.map((word, index) => dressed(word, (dress * (index + 1)) % 4))
  const error = { type: "error", error: { type: "overloaded_error", message: "no" } }
  const output = answered === undefined ? error : { role: "assistant", content: [{ type: "text", text: answered }] }
  return Calls.record(recorder, {
    ...{ api: "provider2-messages", session, person },
    inputs: JSON.stringify({ model: "m", messages }),
    output: JSON.stringify(output)
  })
}

const over = <A, E>(body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(Storage, (storage) => recording(storage, body)),
      MemoryStorage.layer
    )
  )

const callsOf = (recorder: Recorder["Service"]) =>
  Effect.map(recorder.listCalls(session, { after: undefined, limit: 1_000, order: "asc" }), ({ rows }) => rows)

/** The numbers of the messages that each call carried and answered. */
const numbersOf = (calls: ReadonlyArray<SessionCall>) => {
  const conversations = new Map<string, ReadonlyArray<number>>()
  return calls.map(({ carried: { kept, runs }, id, output, parentEventId }) => {
    const before = parentEventId === null ? [] : conversations.get(parentEventId)!
    const own = runs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n))
    const numbers = [...before.slice(0, kept), ...own, ...output]
    conversations.set(id, numbers)
    return numbers
  })
}

const wordsOf = ({ answered, sent }: Spoken) => (answered === undefined ? sent : [...sent, answered])

const common = (one: ReadonlyArray<string>, other: ReadonlyArray<string>) => {
  let length = 0
  while (length < one.length && length < other.length && one[length] === other[length]) length++
  return length
}

/** Where each call stands in its conversation is what the model says. `areUnique`: no word is said at two places. */
const expectAtPlaces = (spoken: ReadonlyArray<Spoken>, calls: ReadonlyArray<SessionCall>, areUnique: boolean) => {
  const numberAt = new Map<string, number>()
  const placeOf = new Map<number, string>()
  const numbers = numbersOf(calls)
  for (const [index, call] of calls.entries()) {
    const words = wordsOf(spoken[index]!)
    const own = numbers[index]!
    expect(own).toHaveLength(words.length)
    expect(new Set(own).size).toBe(own.length)
    for (const [at, number] of own.entries()) {
      const place = JSON.stringify(words.slice(0, at + 1))
      expect(numberAt.get(place) ?? number, place).toBe(number)
      numberAt.set(place, number)
      if (areUnique) expect(placeOf.get(number) ?? place).toBe(place)
      placeOf.set(number, place)
    }
    const lengths = spoken.slice(0, index).map((earlier) => common(wordsOf(earlier), spoken[index]!.sent))
    const parent = calls.findIndex(({ id }) => id === call.parentEventId)
    const longest = Math.max(0, ...lengths)
    if (longest > 0) expect(lengths[parent], `the parent of call ${index}`).toBe(longest)
    if (longest > 0 && areUnique) expect(call.keptMessages).toBe(longest)
    if (areUnique && longest === 0) expect(call.parentEventId).toBeNull()
  }
  // In the order in which they were carried first.
  expect([...placeOf.keys()]).toEqual([...placeOf.keys()].sort((a, b) => a - b))
}

interface Step {
  /** Which of the conversations before it goes on, and how many of its messages. */
  readonly from: number
  readonly kept: number
  /** How many messages are added to it. */
  readonly added: number
  readonly word: number
  readonly hasAnswer: boolean
  readonly person: number
  readonly dress: number
}

const step: fc.Arbitrary<Step> = fc.record({
  from: fc.nat(6),
  kept: fc.oneof({ arbitrary: fc.constant(99), weight: 3 }, { arbitrary: fc.nat(8), weight: 1 }),
  added: fc.integer({ min: 1, max: 3 }),
  word: fc.nat(2),
  hasAnswer: fc.boolean(),
  person: fc.nat(1),
  dress: fc.nat(3)
})

const spokenOf = (steps: ReadonlyArray<Step>, areUnique: boolean): ReadonlyArray<Spoken> => {
  const spoken: Array<Spoken> = []
  let words = 0
  const next = (who: string, word: number) => `${who} ${areUnique ? words++ : word}`
  for (const { added, from, hasAnswer, kept, person, word } of steps) {
    const before = from < spoken.length ? wordsOf(spoken.at(-1 - from)!).slice(0, kept) : []
    const sent = [
      ...before,
      ...Array.from({ length: added }, (_, n) => next(n === 1 ? "model" : "user", (word + n) % 3))
    ]
    spoken.push({ sent, answered: hasAnswer ? next("model", word) : undefined, person: people[person]! })
  }
  return spoken
}

describe("Messages of a session", () => {
  it.each([
    ["that says nothing twice", true],
    ["that says the same again and again", false]
  ])(
    "have one place each in a conversation %s, whatever order it is recorded in and whichever person is erased",
    (_, areUnique) =>
      fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 12 }),
          fc.constantFrom("in order", "reversed", "shuffled"),
          fc.nat(2),
          (steps, order, erased) =>
            over(
              Effect.fnUntraced(function* (recorder) {
                const inOrder = spokenOf(steps, areUnique).map((spoken, index) => ({
                  spoken,
                  dress: steps[index]!.dress
                }))
                const keys = {
                  "in order": (index: number) => index,
                  reversed: (index: number) => -index,
                  shuffled: (index: number) => (index * 7) % 5
                }
                const key = keys[order]
                const recorded = inOrder
                  .map((each, index) => ({ ...each, key: key(index) }))
                  .sort((a, b) => a.key - b.key)
                for (const { dress, spoken } of recorded) yield* record(recorder, spoken, dress)
                const spoken = recorded.map((each) => each.spoken)
                expectAtPlaces(spoken, yield* callsOf(recorder), areUnique)
                const person = people[erased]
                const left = spoken.filter((each) => each.person !== person)
                if (person === undefined || left.length === 0 || left.length === spoken.length) return
                yield* recorder.erasePerson(PersonId.make(person))
                expectAtPlaces(left, yield* callsOf(recorder), areUnique)
              })
            )
        ),
        { seed: TestSeed.seed, numRuns: RandomJson.runs(60) }
      )
  )

  it("are 10,000 where a call says the same 10,000 times", () =>
    over(
      Effect.fnUntraced(function* (recorder) {
        const sent = (count: number) => Array.from({ length: count }, () => "u")
        for (const count of [10_000, 10_001, 5_001, 10_003]) {
          yield* record(recorder, { sent: sent(count), answered: "a", person: "alice" }, 0)
        }
        const calls = yield* callsOf(recorder)
        expect(calls.map(({ carried, newMessages, output }) => [newMessages.length, carried, output])).toEqual([
          [10_000, { kept: 0, runs: [[1, 10_000]] }, [10_001]],
          [1, { kept: 10_000, runs: [[10_002, 10_002]] }, [10_003]],
          [0, { kept: 5_001, runs: [] }, [10_004]],
          [2, { kept: 10_001, runs: [[10_005, 10_006]] }, [10_007]]
        ])
      })
    ))
})
