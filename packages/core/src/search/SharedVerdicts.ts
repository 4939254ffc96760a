/** Says of shared pieces whether they may hold a text. Remembers what it has looked at. */
import * as Effect from "effect/Effect"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import * as Join from "../payload/Join.ts"
import { orDamage } from "../read/OrDamage.ts"
import type { Storage } from "../Storage.ts"
import type { Needle } from "./Needle.ts"

/** Text of the shared pieces that are read together (bytes). */
const maxBytes = 4 * 1024 * 1024

/** Shared pieces that are looked at together. */
const maxPieces = 64

type Verdict = "candidate" | "other" | Damage

export class SharedVerdicts {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #needle: Needle
  /** By `Join.keyOf` their names. */
  readonly #verdicts = new Map<string, Verdict>()
  /** Bytes that were unpacked. */
  bytes = 0

  constructor(storage: Storage["Service"], project: ProjectId, needle: Needle) {
    this.#storage = storage
    this.#project = project
    this.#needle = needle
  }

  /** Undefined if it was not looked at. */
  of(key: string): Verdict | undefined {
    return this.#verdicts.get(key)
  }

  /** What is damaged is looked at again. */
  forgetDamaged(): void {
    for (const [key, verdict] of this.#verdicts) if (verdict instanceof Damage) this.#verdicts.delete(key)
  }

  /** Looks at those of the pieces that it has not looked at. */
  readonly look = Effect.fnUntraced(function* (this: SharedVerdicts, keys: ReadonlyArray<string>) {
    const unknown = new Set(keys.filter((key) => !this.#verdicts.has(key)))
    const names = Array.from(unknown, (key) => Buffer.from(key, "latin1"))
    for (let at = 0; at < names.length; at += maxPieces) yield* this.#read(names.slice(at, at + maxPieces))
  })

  readonly #read = Effect.fnUntraced(function* (this: SharedVerdicts, names: ReadonlyArray<Uint8Array>) {
    const together = yield* orDamage(this.#storage.readShared(this.#project, names, maxBytes))
    if (!(together instanceof Damage)) for (const piece of together) this.#judge(piece)
    for (const name of names) {
      const key = Join.keyOf(name)
      if (this.#verdicts.has(key)) continue
      const alone = yield* orDamage(this.#storage.readShared(this.#project, [name]))
      if (alone instanceof Damage) this.#verdicts.set(key, alone)
      else if (alone.length === 0) this.#verdicts.set(key, new Damage("A shared piece is missing"))
      else this.#judge(alone[0]!)
      yield* Effect.yieldNow
    }
  })

  #judge({ bytes, sha256 }: { readonly bytes: Uint8Array; readonly sha256: Uint8Array }): void {
    const key = Join.keyOf(sha256)
    try {
      const text = SharedPiece.textOf(bytes)
      this.bytes += text.length
      this.#verdicts.set(key, this.#needle.findRaw(text.toString("latin1")) === -1 ? "other" : "candidate")
      Memory.free(text)
    } catch (error) {
      this.#verdicts.set(key, Damage.of(error))
    }
  }
}
