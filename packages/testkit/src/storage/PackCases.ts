/** Reading packs and shared pieces. */
import { type NewPack, type PackRanges, SessionId, type SessionRange, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import { expect } from "vitest"
import { append, appendEvent, eventId, maxPack, project, sharedPiece } from "../Samples.ts"
import { other, type Test } from "./Cases.ts"

const s1 = SessionId.make("s1")

/** Around the length from which the storage in Postgres reads a column in slices, and around multiples of a slice. */
const longLengths = [65_529, 65_530, 65_531, 65_535, 65_536, 65_537, 81_920, 81_921, 300_000]

const bytesOf = (text: string) => Buffer.from(text)

/** Ten packs of 10, 20, … 100 bytes, interleaved with those of another session. */
const tenPacks = Effect.fnUntraced(function* (storage: Storage["Service"]) {
  for (let n = 1; n <= 10; n++) {
    const event = appendEvent(eventId(n))
    yield* append(storage, [
      { ...event, pack: { ...event.pack, bytes: new Uint8Array(10 * n).fill(n) } },
      appendEvent(eventId(100 + n), { session: SessionId.make("s2") })
    ])
  }
  return (yield* storage.getSession(project, s1))!.number
})

export const define = (test: Test) => {
  test("reads the packs of ranges in order, each pack once", (storage) =>
    Effect.gen(function* () {
      const session = yield* tenPacks(storage)
      const read = Effect.fnUntraced(function* (ranges: PackRanges.PackRanges, newestBytes?: number) {
        const packs = yield* storage.readPacks(project, session, ranges, newestBytes)
        for (const { bytes, number } of packs) expect(Array.from(bytes)).toEqual(Array(10 * number).fill(number))
        return packs.map(({ number }) => number)
      })
      expect(yield* read([])).toEqual([])
      expect(yield* read([{ from: 3, to: 3 }])).toEqual([3])
      expect(yield* read([{ from: 1, to: 10 }])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      expect(yield* read([{ from: 9, to: maxPack }])).toEqual([9, 10])
      expect(yield* read([{ from: 11, to: 12 }])).toEqual([])
      const apart = [
        { from: 1, to: 2 },
        { from: 5, to: 5 },
        { from: 8, to: 20 }
      ]
      expect(yield* read(apart)).toEqual([1, 2, 5, 8, 9, 10])
      const overlapping = [
        { from: 6, to: 7 },
        { from: 2, to: 4 },
        { from: 3, to: 6 },
        { from: 4, to: 4 }
      ]
      expect(yield* read(overlapping)).toEqual([2, 3, 4, 5, 6, 7])

      // The newest packs, 10 and 9, have 190 bytes.
      const all = [{ from: 1, to: 10 }]
      expect(yield* read(all, 550)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      expect(yield* read(all, 190)).toEqual([9, 10])
      expect(yield* read(all, 189)).toEqual([10])
      expect(yield* read(all, 100)).toEqual([10])
      // Older packs are not added, although they would fit.
      expect(yield* read(all, 99)).toEqual([])
      expect(yield* read(apart, 190 + 80 + 50 - 1)).toEqual([8, 9, 10])
      expect(yield* read(apart, 190 + 80 + 50)).toEqual([5, 8, 9, 10])
      expect(yield* read([], 100)).toEqual([])

      expect(yield* storage.readPacks(other, session, all)).toEqual([])
      expect(yield* storage.readPacks(project, 99, all)).toEqual([])
    }))

  test("reads long packs and long shared pieces byte for byte, beside short ones", (storage) =>
    Effect.gen(function* () {
      const texts = longLengths.map((length, n) => String.fromCharCode(97 + n).repeat(length))
      for (const [n, text] of texts.entries()) {
        const event = appendEvent(eventId(n + 1))
        yield* append(storage, [
          { ...event, pack: { ...event.pack, bytes: bytesOf(text), shared: [sharedPiece(text), sharedPiece(`${n}`)] } }
        ])
      }
      const session = (yield* storage.getSession(project, s1))!.number
      const packs = yield* storage.readPacks(project, session, [{ from: 1, to: maxPack }])
      expect(packs.map(({ number }) => number)).toEqual(texts.map((_, n) => n + 1))
      for (const [n, { bytes }] of packs.entries()) expect(bytesOf(texts[n]!).equals(bytes)).toBe(true)

      const shared = texts.flatMap((text, n) => [sharedPiece(text), sharedPiece(`${n}`)])
      const names = shared.map(({ sha256 }) => sha256)
      const read = yield* storage.readShared(project, [...names, sharedPiece("none").sha256])
      const byName = new Map(read.map(({ bytes, sha256 }) => [Hex.encode(sha256), bytes]))
      expect(byName.size).toBe(shared.length)
      for (const { bytes, sha256 } of shared) expect(bytes().equals(byName.get(Hex.encode(sha256))!)).toBe(true)
      expect(yield* storage.readShared(other, names)).toEqual([])
    }))

  test("reads the packs of several sessions, the large ones without their bytes", (storage) =>
    Effect.gen(function* () {
      const session = yield* tenPacks(storage)
      const second = (yield* storage.getSession(project, SessionId.make("s2")))!.number
      const read = Effect.fnUntraced(function* (ranges: ReadonlyArray<SessionRange>, maxPackBytes = 1_000) {
        const packs = yield* storage.readPackRanges(project, ranges, maxPackBytes)
        return packs.map(({ bytes, number, session }) => [session, number, bytes?.length])
      })
      expect(yield* read([])).toEqual([])
      expect(yield* read([{ session, from: 3, to: 5 }])).toEqual([3, 4, 5].map((n) => [session, n, 10 * n]))
      const ofBoth = [
        { session: second, from: 9, to: maxPack },
        { session, from: 4, to: 4 },
        { session, from: 1, to: 2 },
        { session: 99_999, from: 1, to: 2 }
      ]
      const expected = [...[1, 2, 4].map((n) => [session, n, 10 * n]), ...[9, 10].map((n) => [second, n, 3])].sort(
        ([a], [b]) => a! - b!
      )
      expect(yield* read(ofBoth)).toEqual(expected)
      expect(yield* read([{ session, from: 3, to: 5 }], 40)).toEqual([
        [session, 3, 30],
        [session, 4, 40],
        [session, 5, undefined]
      ])
      expect(yield* storage.readPackRanges(other, ofBoth, 1_000)).toEqual([])
    }))

  test("says of packs whether their events exist, and whether any of their session was erased", (storage) =>
    Effect.gen(function* () {
      const session = yield* tenPacks(storage)
      const range = { session, from: 1, to: 3 }
      const read = Effect.map(storage.readPackRanges(project, [range], 1_000), (packs) =>
        packs.map(({ isKept, isOfErased }) => [isKept, isOfErased])
      )
      expect(yield* read).toEqual([1, 2, 3].map(() => [true, false]))
      yield* storage.eraseEvents(project, { before: eventId(3) }, 10)
      const erased = [
        [false, true],
        [false, true],
        [true, true]
      ]
      expect(yield* read).toEqual(erased)
      yield* storage.sweepPacks(project, session, { to: 0, limit: 1, above: 10 }, ({ pendingSweep }) => ({
        packs: [],
        pieces: 0,
        done: { owned: [], pendingSweep, remaining: 0 },
        value: undefined
      }))
      expect(yield* read).toEqual(erased)
    }))

  test("reads the packs of many ranges", (storage) =>
    Effect.gen(function* () {
      const session = yield* tenPacks(storage)
      const ranges = Array.from({ length: 3_000 }, (_, n) => ({ from: 2 * n + 2, to: 2 * n + 2 }))
      const numbers = (packs: ReadonlyArray<{ readonly number: number }>) => packs.map(({ number }) => number)
      expect(numbers(yield* storage.readPacks(project, session, ranges))).toEqual([2, 4, 6, 8, 10])
      expect(numbers(yield* storage.readPacks(project, session, ranges, 180))).toEqual([8, 10])
    }))

  test("has no session without an event", (storage) =>
    Effect.gen(function* () {
      expect(yield* storage.getSession(project, s1)).toBeUndefined()
      yield* append(storage, [appendEvent(eventId(1))])
      expect(yield* storage.getSession(other, s1)).toBeUndefined()
      expect(yield* storage.getSession(project, SessionId.make("S1"))).toBeUndefined()
      const s2 = SessionId.make("s2")
      yield* append(storage, [appendEvent(eventId(2), { session: s2 })])
      const states = new Map([
        [s2, yield* storage.getSession(project, s2)],
        [s1, yield* storage.getSession(project, s1)]
      ])
      const names = [s2, SessionId.make("S1"), s1]
      expect(yield* storage.getSessions(project, names)).toEqual(states)
      expect(yield* storage.getSessions(other, names)).toEqual(new Map())
    }))

  test("stores a shared piece once per project", (storage) =>
    Effect.gen(function* () {
      const withShared = (n: number, session: string, texts: ReadonlyArray<string>, inProject = project) => {
        const event = appendEvent(eventId(n), { session: SessionId.make(session) }, inProject)
        const shared: NewPack["shared"] = texts.map(sharedPiece)
        return { ...event, pack: { ...event.pack, shared } }
      }
      const namesOf = (texts: ReadonlyArray<string>) => texts.map((text) => sharedPiece(text).sha256)
      const read = Effect.fnUntraced(function* (texts: ReadonlyArray<string>, inProject = project) {
        const found = yield* storage.readShared(inProject, namesOf(texts))
        return texts.filter((text) => {
          const { bytes, sha256 } = sharedPiece(text)
          const piece = found.find((each) => sha256.equals(each.sha256))
          if (piece !== undefined) expect(bytes().equals(piece.bytes)).toBe(true)
          return piece !== undefined
        })
      })
      expect(yield* read(["a"])).toEqual([])
      // The same piece twice in a batch, and twice in an event.
      yield* append(storage, [withShared(1, "s1", ["a", "b", "a"]), withShared(2, "s2", ["b", "c"])])
      const usage = yield* storage.usage(project, 9)
      expect(usage.shared).toMatchObject({ pieces: 3, newBytes: 3 })
      yield* append(storage, [withShared(3, "s1", ["c", "a"])])
      yield* append(storage, [withShared(4, "s3", ["a", "b", "c"])])
      expect((yield* storage.usage(project, 9)).shared).toEqual(usage.shared)
      expect(yield* read(["a", "x", "b", "c", "y"])).toEqual(["a", "b", "c"])
      expect(yield* storage.readShared(project, [])).toEqual([])
      const { sha256, size } = sharedPiece("a")
      expect(yield* storage.sharedTextBytes(project, sha256)).toBe(size)
      expect(yield* storage.sharedTextBytes(project, sharedPiece("x").sha256)).toBeUndefined()
      expect(yield* storage.sharedTextBytes(other, sha256)).toBeUndefined()
      expect(yield* read(["a", "b"], other)).toEqual([])
      yield* append(storage, [withShared(5, "s1", ["b"], other)])
      expect(yield* read(["a", "b"], other)).toEqual(["b"])

      const many = Array.from({ length: 1_200 }, (_, n) => `piece ${n}`)
      yield* append(storage, [withShared(6, "s4", many)])
      expect((yield* read(many)).length).toBe(1_200)
    }))

  test("compresses a shared piece only if it is not stored yet", (storage) =>
    Effect.gen(function* () {
      let asked = 0
      const piece = sharedPiece("a")
      const shared = [{ ...piece, bytes: () => (asked++, piece.bytes()) }]
      const event = (n: number, session: string) => {
        const appended = appendEvent(eventId(n), { session: SessionId.make(session) })
        return { ...appended, pack: { ...appended.pack, shared } }
      }
      yield* append(storage, [event(1, "s1")])
      expect(asked).toBeGreaterThan(0)
      asked = 0
      yield* append(storage, [event(2, "s1"), event(3, "s2")])
      expect(asked).toBe(0)
    }))
}
