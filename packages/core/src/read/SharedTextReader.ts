/** Reads one shared text by its name, as it was sent. */
import { Buffer } from "node:buffer"
import * as Effect from "effect/Effect"
import { SharedTextDamaged, SharedTextNotFound, type StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { Sha256 } from "../domain/Sha256.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import type { Storage } from "../Storage.ts"
import type { StoredShared } from "../storage/Stored.ts"

/**
 * `admit` runs with the size of the text (bytes), before it is read. Fails with `SharedTextDamaged` if the storage has the text, but not
 * as it was sent.
 */
export const read = Effect.fnUntraced(function* <E>(
  storage: Pick<Storage["Service"], "readShared" | "sharedTextBytes">,
  project: ProjectId,
  name: Sha256,
  admit: (bytes: number) => Effect.Effect<void, E>
): Effect.fn.Return<Buffer, SharedTextNotFound | SharedTextDamaged | StorageUnavailable | E> {
  const sha256 = Buffer.from(name, "hex")
  const bytes = yield* storage.sharedTextBytes(project, sha256)
  if (bytes === undefined) return yield* new SharedTextNotFound()
  yield* admit(bytes)
  const [stored] = yield* storage.readShared(project, [sha256])
  // An erasure may have deleted it between the two.
  if (stored === undefined) return yield* new SharedTextNotFound()
  const text = textOf(stored, bytes)
  if (text === undefined) {
    yield* Effect.annotateLogs(Effect.logError("A shared text is damaged in the storage"), { sha256: name })
    return yield* new SharedTextDamaged()
  }
  return text
})

/** Undefined if what is stored is not the text of this size and name. */
const textOf = ({ bytes, isOwned, sha256 }: StoredShared, size: number): Buffer | undefined => {
  try {
    const text = SharedPiece.textOf(bytes, size)
    return text.length === size && SharedPiece.isNamed(sha256, text) ? text : undefined
  } catch (error) {
    if (error instanceof Damage) return undefined
    throw error
  } finally {
    if (isOwned === true) Memory.freeAlone(bytes)
  }
}
