/** Damages stored packs through the storage port, for tests of what depends on them. */
import type { ProjectId, Storage } from "@tachograph/core"
import { maxPack } from "../Samples.ts"

/** Changes one bit in the middle of each of these packs of a session. */
export const flipBits = (
  storage: Storage["Service"],
  project: ProjectId,
  session: number,
  isDamaged: (pack: number) => boolean
) =>
  storage.sweepPacks(project, session, { to: maxPack, limit: 100_000, above: maxPack - 1 }, ({ packs }) => ({
    packs: packs
      .filter(({ number }) => isDamaged(number))
      .map(({ bytes, number }) => ({ number, bytes: flipped(bytes), formerNewBytes: 0, newBytes: 0 })),
    pieces: 0,
    done: undefined,
    value: undefined
  }))

const flipped = (bytes: Uint8Array): Buffer => {
  const other = Buffer.from(bytes)
  other[other.length >>> 1]! ^= 1
  return other
}
