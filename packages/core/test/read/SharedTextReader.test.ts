import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { SharedTextDamaged, SharedTextNotFound } from "../../src/domain/Errors.ts"
import { ProjectId } from "../../src/domain/Project.ts"
import { Sha256 } from "../../src/domain/Sha256.ts"
import * as SharedPiece from "../../src/payload/format/SharedPiece.ts"
import * as SharedTextReader from "../../src/read/SharedTextReader.ts"

const project = ProjectId.make("p")
const text = Buffer.from(JSON.stringify("A long text. ".repeat(1_000)))
const sha256 = createHash("sha256").update(text).digest()
const name = Sha256.make(sha256.toString("hex"))

/** A storage that says `size`, and has these bytes. */
const storageOf = (size: number, bytes: Buffer | undefined) => ({
  sharedTextBytes: () => Effect.succeed(size),
  readShared: () => Effect.succeed(bytes === undefined ? [] : [{ sha256, bytes }])
})

const stored = SharedPiece.make(sha256, text).bytes()

const read = (storage: ReturnType<typeof storageOf>) => SharedTextReader.read(storage, project, name, () => Effect.void)

describe("SharedTextReader", () => {
  it.effect("refuses what is not the text of the name", () =>
    Effect.gen(function* () {
      assert.isTrue((yield* read(storageOf(text.length, stored))).equals(text))
      const other = SharedPiece.make(sha256, Buffer.from(text.toString().replace("long", "lone"))).bytes()
      const damaged = [
        storageOf(text.length - 1, stored),
        storageOf(text.length + 1, stored),
        storageOf(text.length, other),
        storageOf(text.length, stored.subarray(0, -9)),
        storageOf(text.length, Buffer.from([9, 1]))
      ]
      for (const storage of damaged) assert.instanceOf(yield* Effect.flip(read(storage)), SharedTextDamaged)
    })
  )

  it.effect("does not find what was deleted while it was asked for, and reads nothing that was not admitted", () =>
    Effect.gen(function* () {
      assert.instanceOf(yield* Effect.flip(read(storageOf(text.length, undefined))), SharedTextNotFound)
      const unread = { ...storageOf(text.length, stored), readShared: () => Effect.die("read") }
      const refused = SharedTextReader.read(unread, project, name, (bytes) => Effect.fail(bytes))
      assert.strictEqual(yield* Effect.flip(refused), text.length)
    })
  )
})
