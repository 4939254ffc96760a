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
      readShared: (...args) =>
        Effect.map(source.readShared(...args), (texts): Join.SharedTexts => {
          heldAtShared.push(held())
          return {
            get: (key) => {
              const found = texts.get(key)
              if (found !== undefined) unpacked.push(found)
              return found
            },
            free: (each) => texts.free?.(each)
          }
        })
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
        // Of several large packs, only the event's own is held.
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
  const stored = (length: number) => {
    const text = Buffer.alloc(length, "compressible ")
    const sha256 = Buffer.alloc(32, length)
    return { text, key: Join.keyOf(sha256), piece: { sha256, bytes: SharedPiece.make(sha256, text).bytes() } }
  }

  it("unpack a large text in one buffer, again each time, and a small one once", () => {
    const [large, small] = [stored(largeBytes), stored(20_000)]
    const texts = new UnpackedTexts([large.piece, small.piece], 10 * largeBytes)
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

  it("throw Damage for a text that is too long", () => {
    const { key, piece } = stored(largeBytes)
    assert.throws(() => new UnpackedTexts([piece], largeBytes - 1).get(key), Damage)
  })
})
