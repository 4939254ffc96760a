/** What a page of a search does besides finding: it ends in time, skips what is damaged, and can be interrupted. */
import { describe, expect, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { defaultProject } from "../../src/domain/Project.ts"
import { PersonId } from "../../src/domain/Person.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import type { Recorder } from "../../src/Recorder.ts"
import type { SearchPage, SearchPlace } from "../../src/search/Search.ts"
import { Storage } from "../../src/Storage.ts"
import { noise } from "../payload/Conversations.ts"
import { type Call, recording, type Service } from "../Recording.ts"

const { Calls } = StorageSuite

/** Calls of sessions that take turns, each with texts of its own. */
const callsOf = (sessions: number, each: number, length: number): ReadonlyArray<Call> =>
  Array.from({ length: sessions * each }, (_, n) => {
    const messages = Array.from({ length: Math.floor(n / sessions) + 1 }, (_, turn) => ({
      role: "user",
      content: `needle ${n % sessions} ${turn} ${noise(100 * (n % sessions) + turn, length)}`
    }))
    return {
      api: "provider1-chat-completions",
      session: `s${n % sessions}`,
      person: "p",
      inputs: JSON.stringify({ messages }),
      output: "{}"
    }
  })

const filled = Effect.fnUntraced(function* (calls: ReadonlyArray<Call>) {
  const storage = yield* Storage
  yield* recording(storage, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
  return storage
}, Effect.provide(MemoryStorage.layer))

const query = { text: "NEEDLE", isCaseSensitive: false, after: undefined, limit: 1_000 }

const pagesOf = (storage: Service) =>
  recording(
    storage,
    Effect.fnUntraced(function* (recorder: Recorder["Service"]) {
      const pages: Array<SearchPage> = []
      let after: SearchPlace | undefined
      do {
        const page: SearchPage = yield* recorder.search({ ...query, after })
        pages.push(page)
        after = page.next
      } while (after !== undefined)
      return pages
    })
  )

const snippets = (pages: ReadonlyArray<SearchPage>) =>
  pages.flatMap(({ results }) => results.map(({ event, snippet }) => [event.id, snippet]))

describe("A page of a search", () => {
  it.effect("ends when its time is spent, and the next one goes on", () =>
    Effect.gen(function* () {
      const storage = yield* filled(callsOf(40, 3, 40))
      const whole = yield* pagesOf(storage)
      expect(whole.length).toBe(1)
      expect(whole[0]!.results.length).toBe(120)
      const slow = {
        ...storage,
        readPackRanges: (...args: Parameters<Service["readPackRanges"]>) =>
          Effect.andThen(TestClock.adjust("1 second"), storage.readPackRanges(...args))
      }
      const pages = yield* pagesOf(slow)
      expect(pages.length).toBeGreaterThan(3)
      expect(snippets(pages)).toEqual(snippets(whole))
    })
  )

  it.effect("may be empty although there are more", () =>
    Effect.gen(function* () {
      const others = callsOf(60, 1, 40).map((call) => ({ ...call, inputs: call.inputs.replaceAll("needle", "thread") }))
      const storage = yield* filled([...callsOf(1, 1, 40), ...others])
      const slow = {
        ...storage,
        readPackRanges: (...args: Parameters<Service["readPackRanges"]>) =>
          Effect.andThen(TestClock.adjust("1 second"), storage.readPackRanges(...args))
      }
      const pages = yield* pagesOf(slow)
      expect(pages[0]).toEqual({ results: [], damaged: 0, next: { event: expect.any(String), given: undefined } })
      expect(snippets(pages).length).toBe(1)
    })
  )

  it.effect("skips damaged packs, counts their events, and finds all others", () =>
    Effect.gen(function* () {
      for (const length of [40, 2_000, 40_000]) {
        const storage = yield* filled(callsOf(4, 12, length))
        const whole = snippets(yield* pagesOf(storage))
        expect(whole.length).toBe(48)
        const { number } = (yield* storage.getSession(defaultProject, SessionId.make("s2")))!
        yield* StorageSuite.DamagedPack.flipBits(storage, defaultProject, number, (pack) => pack === 7)
        const pages = yield* pagesOf(storage)
        const damaged = pages.reduce((sum, page) => sum + page.damaged, 0)
        const found = new Set(snippets(pages).map(String))
        expect(damaged).toBeGreaterThan(0)
        expect(damaged).toBeLessThanOrEqual(6)
        expect(found.size).toBe(48 - damaged)
        expect(whole.map(String).filter((each) => found.has(each)).length).toBe(found.size)
      }
    })
  )

  it.effect("counts events whose packs or shared pieces are missing", () =>
    Effect.gen(function* () {
      const storage = yield* filled(callsOf(1, 3, 20_000))
      const withoutShared = yield* pagesOf({ ...storage, readShared: () => Effect.succeed([]) })
      expect(withoutShared.map(({ damaged, results }) => [damaged, results.length])).toEqual([[3, 0]])
      const withoutPacks = yield* pagesOf({ ...storage, readPackRanges: () => Effect.succeed([]) })
      expect(withoutPacks.map(({ damaged, results }) => [damaged, results.length])).toEqual([[3, 0]])
    })
  )

  it.effect("finds an event although a sweep deletes a pack of an erased one meanwhile", () =>
    Effect.gen(function* () {
      const callOf = (person: string, session: string, text: string): Call => ({
        api: "provider1-chat-completions",
        session,
        person,
        inputs: JSON.stringify({ messages: [{ role: "user", content: `needle ${text}` }] }),
        output: "{}"
      })
      const storage = yield* filled([
        callOf("gone", "s", "first"),
        callOf("p", "s", "second"),
        callOf("other", "t", "")
      ])
      // Not swept yet.
      yield* storage.eraseEvents(defaultProject, { person: PersonId.make("gone") }, 10)
      let isSwept = false
      const sweeping = {
        ...storage,
        getEvent: (...args: Parameters<Service["getEvent"]>) =>
          Effect.suspend(() => {
            if (isSwept) return storage.getEvent(...args)
            isSwept = true
            return Effect.andThen(
              Effect.orDie(recording(storage, (recorder) => recorder.erasePerson(PersonId.make("other")))),
              storage.getEvent(...args)
            )
          })
      }
      const pages = yield* pagesOf(sweeping)
      expect((yield* storage.readPacks(defaultProject, 1, [{ from: 1, to: 9 }])).map(({ number }) => number)).toEqual([
        2
      ])
      expect(snippets(pages).map(([, snippet]) => snippet)).toEqual(["needle second"])
      expect(pages.map(({ damaged }) => damaged)).toEqual([0])
    })
  )

  it.effect("reads a bounded part of a session in which many calls have the text, and finds each once", () =>
    Effect.gen(function* () {
      const calls = Array.from({ length: 1_300 }, (_, n) => ({
        ...callsOf(1, 1, 40)[0]!,
        inputs: JSON.stringify({ messages: [{ role: "user", content: `needle ${n % 1_200}` }] })
      }))
      const storage = yield* filled(calls)
      let reads = 0
      const counted = {
        ...storage,
        getEvent: (...args: Parameters<Service["getEvent"]>) => {
          reads++
          return storage.getEvent(...args)
        }
      }
      yield* recording(counted, (recorder) => recorder.search({ ...query, limit: 1 }))
      expect(reads).toBeLessThanOrEqual(600)
      // What is said again within this part is found where it was said first.
      const near = calls.map((call, n) => (n % 400 === 399 ? calls[n - 300]! : call))
      const found = snippets(yield* pagesOf(yield* filled(near.slice(0, 1_200))))
      expect(found.map(([, snippet]) => snippet)).toEqual(
        Array.from({ length: 1_200 }, (_, n) => 1_199 - n)
          .filter((n) => n % 400 !== 399)
          .map((n) => `needle ${n}`)
      )
    })
  )

  it.effect("reads what is left of many erased events for a few events of a page", () =>
    Effect.gen(function* () {
      // More than a chain of packs has.
      const erased = 75
      const later = 30
      const messages = Array.from({ length: erased + later }, (_, n) => ({
        role: "user",
        content: `needle ${n} ${noise(n, 7_000)}`
      }))
      const calls = messages.map((_, n) => ({
        ...callsOf(1, 1, 40)[0]!,
        person: n < erased ? "gone" : "p",
        inputs: JSON.stringify({ messages: messages.slice(0, n + 1) })
      }))
      const storage = yield* filled(calls)
      yield* recording(storage, (recorder) => recorder.erasePerson(PersonId.make("gone")))
      let packs = 0
      const counted = {
        ...storage,
        readPacks: (...args: Parameters<Service["readPacks"]>) => {
          packs++
          return storage.readPacks(...args)
        }
      }
      const page = yield* recording(counted, (recorder) => recorder.search({ ...query, limit: 1 }))
      expect(page.results.length).toBe(1)
      expect(packs).toBeLessThanOrEqual(300)
      const found = snippets(yield* pagesOf(storage)).map(([, snippet]) => String(snippet).split(" ")[1])
      expect(found.length).toBe(erased + later)
      expect(new Set(found).size).toBe(erased + later)
    })
  )

  it.effect("stops between two steps when it is interrupted", () =>
    Effect.gen(function* () {
      const storage = yield* filled(callsOf(100, 1, 40))
      const isReading = yield* Deferred.make<void>()
      let reads = 0
      const counted = {
        ...storage,
        readPackRanges: (...args: Parameters<Service["readPackRanges"]>) => {
          reads++
          return Effect.andThen(Deferred.succeed(isReading, undefined), storage.readPackRanges(...args))
        }
      }
      yield* recording(counted, (recorder) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(recorder.search(query))
          yield* Deferred.await(isReading)
          yield* Fiber.interrupt(fiber)
        })
      )
      expect(reads).toBeLessThan(3)
      yield* pagesOf(counted)
      expect(reads).toBeGreaterThan(6)
    })
  )
})
