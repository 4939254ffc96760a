/** What a read unpacks is freed when it is not used any more, and not when V8 next collects garbage. */
import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Effect } from "effect"
import { defaultProject } from "../../src/domain/Project.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import { Damage } from "../../src/payload/format/Damage.ts"
import * as SharedPiece from "../../src/payload/format/SharedPiece.ts"
import * as Join from "../../src/payload/Join.ts"
import * as EventReader from "../../src/read/EventReader.ts"
import { UnpackedTexts } from "../../src/read/UnpackedTexts.ts"
import { Recorder } from "../../src/Recorder.ts"
import { Storage } from "../../src/Storage.ts"

const { Calls } = StorageSuite

const largeBytes = 300_000

/** Not a string: it stands in a pack of its own, which is large. */
const numbers = `{"role":"user","content":[${Array.from({ length: largeBytes / 6 }, (_, n) => 10_000 + n).join()}]}`

/** A string: it is stored as a shared piece. */
const text = `{"role":"user","content":"${Calls.noise(1, largeBytes)}"}`

const call = (...messages: ReadonlyArray<string>) => ({
  session: "s",
  person: "alice",
  inputs: `{"messages":[${messages.join()}]}`,
  output: `{"role":"assistant","content":"${Calls.noise(2, largeBytes)}"}`
})

/** A source that knows what was unpacked, and the memory that it takes. */
const watched = (source: EventReader.Source) => {
  const unpacked: Array<Buffer> = []
  const held = () => unpacked.reduce((sum, { length }) => sum + length, 0)
  const heldAtShared: Array<number> = []
  return {
    held,
    heldAtShared,
    unpacked,
    source: {
      ...source,
      openChain: (chain) => {
        const open = source.openChain(chain)
        unpacked.push(...open.packs.map(({ content }) => content))
        return open
      },
      sharedTexts: (...args) => {
        const texts = source.sharedTexts(...args)
        return {
          get: (key) => {
            const found = texts.get(key)
            if (found !== undefined) unpacked.push(found)
            return found
          },
          free: (each) => texts.free?.(each),
          load: (name) => {
            heldAtShared.push(held())
            return texts.load(name)
          },
          close: () => texts.close()
        }
      }
    } satisfies EventReader.Source
  }
}

describe("A read", () => {
  it.effect("frees the packs and texts of an event when they are copied into it", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* Calls.putFingerprint(storage, defaultProject)
      const calls = [call(numbers), call(numbers, text), call(numbers, text, numbers.replace("user", "assistant"))]
      const ids = yield* Effect.provide(
        Effect.flatMap(Recorder, (recorder) => Effect.forEach(calls, (each) => Calls.record(recorder, each))),
        Calls.recorderOver(storage)
      )
      for (const [index, { inputs, output }] of calls.entries()) {
        const { held, heldAtShared, source, unpacked } = watched(EventReader.sourceOf(storage))
        const event = yield* EventReader.readOnce(source, defaultProject, ids[index]!)
        assert.isTrue(Buffer.from(inputs).equals(event.payload.inputs))
        assert.isTrue(Buffer.from(output).equals(event.payload.output))
        assert.isAtLeast(unpacked.length, index + 2)
        assert.isBelow(held(), 10_000)
        // Only the event's own pack is held, where there are several large ones.
        assert.isBelow(heldAtShared[0]!, 1.5 * largeBytes)
      }
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("frees them if the event is damaged", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* Calls.putFingerprint(storage, defaultProject)
      const id = yield* Effect.provide(
        Effect.flatMap(Recorder, (recorder) => Calls.record(recorder, call(numbers))),
        Calls.recorderOver(storage)
      )
      const { held, source, unpacked } = watched({
        ...EventReader.sourceOf(storage),
        getEvent: (...args) =>
          Effect.map(storage.getEvent(...args), (event) => ({
            ...event,
            checksums: { ...event.checksums, texts: event.checksums.texts ^ 1 }
          }))
      })
      const exit = yield* Effect.exit(EventReader.readOnce(source, defaultProject, id))
      assert.strictEqual(exit._tag, "Failure")
      assert.isAtLeast(unpacked.length, 2)
      assert.isBelow(held(), 10_000)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})

describe("UnpackedTexts", () => {
  const stored = (length: number, n = 0, text = Buffer.alloc(length, `compressible ${n} `)) => {
    const sha256 = Buffer.alloc(32, length + n)
    return { text, key: Join.keyOf(sha256), piece: { sha256, bytes: SharedPiece.make(sha256, text).bytes() } }
  }

  /** The sizes of the texts are those that a storage knows. */
  const textsOf = (pieces: ReadonlyArray<ReturnType<typeof stored>>, maxPieceBytes: number, totalBytes: number) => {
    const requests: Array<number> = []
    const byKey = new Map(pieces.map((each) => [each.key, each]))
    const read = (names: ReadonlyArray<Uint8Array>, maxBytes = Number.POSITIVE_INFINITY) =>
      Effect.sync(() => {
        let left = maxBytes
        const found = names.map((name) => byKey.get(Join.keyOf(name))!).filter(({ text }) => (left -= text.length) >= 0)
        requests.push(found.length)
        return found.map(({ piece }) => piece)
      })
    const names = pieces.map(({ piece }) => piece.sha256)
    return { requests, texts: new UnpackedTexts(read, names, { maxPieceBytes, totalBytes }) }
  }

  it.effect("unpack a large text in one buffer, again each time, and a small one once", () =>
    Effect.gen(function* () {
      const [large, small] = [stored(largeBytes), stored(20_000)]
      const { texts } = textsOf([large, small], 10 * largeBytes, largeBytes + 20_000)
      assert.isUndefined(texts.get(large.key))
      yield* texts.load(large.piece.sha256)
      const first = texts.get(large.key)!
      assert.isTrue(first.equals(large.text))
      // The chunk that it was decompressed into: several would have been copied into one of its exact length.
      assert.strictEqual(first.buffer.byteLength, largeBytes + 64)
      texts.free(first)
      assert.lengthOf(first, 0)
      assert.isTrue(texts.get(large.key)!.equals(large.text))
      const other = texts.get(small.key)!
      texts.free(other)
      assert.isTrue(other.equals(small.text))
      assert.strictEqual(texts.get(small.key), other)
      assert.isUndefined(texts.get("another"))
    })
  )

  it.effect("give a text again that was freed, because its memory is a little larger than itself", () =>
    Effect.gen(function* () {
      for (const length of [128 * 1024 - 65, 128 * 1024 - 64, 128 * 1024 - 1, 128 * 1024]) {
        const { key, piece, text } = stored(length)
        const { texts } = textsOf([{ key, piece, text }], length, length)
        yield* texts.load(piece.sha256)
        for (let times = 0; times < 2; times++) {
          const given = texts.get(key)!
          assert.isTrue(given.equals(text))
          texts.free(given)
        }
      }
    })
  )

  it.effect("of a small event are read at once, and those of a large one in groups", () =>
    Effect.gen(function* () {
      const pieces = Array.from({ length: 8 }, (_, n) => stored(1024 * 1024, n))
      const all = { small: 4 * 1024 * 1024, large: 8 * 1024 * 1024 }
      for (const [totalBytes, expected] of [
        [all.small, [8]],
        [all.large, [4, 4]]
      ] as const) {
        const { requests, texts } = textsOf(pieces, totalBytes, totalBytes)
        for (const { key, piece, text } of pieces) {
          if (texts.get(key) === undefined) yield* texts.load(piece.sha256)
          assert.isTrue(texts.get(key)!.equals(text))
        }
        assert.deepStrictEqual(requests, [...expected])
      }
    })
  )

  it.effect("read a piece alone that is larger than a group, or occurs again after its group", () =>
    Effect.gen(function* () {
      const noise = Buffer.from(Calls.noise(1, 5 * 1024 * 1024))
      const [huge, other] = [stored(noise.length, 1, noise), stored(1024 * 1024, 2)]
      const { requests, texts } = textsOf([huge, other], 10 * 1024 * 1024, 10 * 1024 * 1024)
      for (const { key, piece, text } of [huge, other, huge]) {
        if (texts.get(key) === undefined) yield* texts.load(piece.sha256)
        assert.isTrue(texts.get(key)!.equals(text))
      }
      assert.deepStrictEqual(requests, [0, 1, 1, 1])
    })
  )

  it.effect("free what was stored of a group before the next, where nothing else uses it", () =>
    Effect.gen(function* () {
      const noise = (n: number) => Buffer.from(Calls.noise(n, largeBytes))
      const pieces = [1, 2, 3].map((n) => {
        const sha256 = Buffer.alloc(32, n)
        const bytes = Uint8Array.from(SharedPiece.make(sha256, noise(n)).bytes())
        assert.isAbove(bytes.length, 128 * 1024)
        return { sha256, bytes, isOwned: n !== 3 }
      })
      const lengths = () => pieces.map(({ bytes }) => bytes.length)
      const before = lengths()
      const read = (names: ReadonlyArray<Uint8Array>) =>
        Effect.succeed(pieces.filter(({ sha256 }) => names[0]!.every((byte, at) => byte === sha256[at])))
      const names = pieces.map(({ sha256 }) => sha256)
      const texts = new UnpackedTexts(read, names, { maxPieceBytes: largeBytes, totalBytes: 5 * 1024 * 1024 })
      yield* texts.load(names[0]!)
      assert.isTrue(texts.get(Join.keyOf(names[0]!))!.equals(noise(1)))
      assert.deepStrictEqual(lengths(), before)
      yield* texts.load(names[1]!)
      assert.deepStrictEqual(lengths(), [0, ...before.slice(1)])
      texts.close()
      assert.deepStrictEqual(lengths(), [0, 0, before[2]!])
      yield* texts.load(names[2]!)
      texts.close()
      assert.deepStrictEqual(lengths(), [0, 0, before[2]!])
    })
  )

  it.effect("throw Damage for a text that is too long", () =>
    Effect.gen(function* () {
      const large = stored(largeBytes)
      const { texts } = textsOf([large], largeBytes - 1, largeBytes)
      yield* texts.load(large.piece.sha256)
      assert.throws(() => texts.get(large.key), Damage)
    })
  )
})
