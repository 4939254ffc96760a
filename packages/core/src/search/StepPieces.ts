/** Which packs of steps have pieces that an event has of them. */
import { ByteReader } from "../payload/format/Bytes.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as References from "../payload/References.ts"
import * as Sorted from "../Sorted.ts"

/** The numbers of the parts that a pack adds, and of those that it references. */
export interface PackParts {
  readonly first: number
  readonly last: number
  readonly references: ReadonlyArray<number>
}

/** What is known of the packs of a session. */
export interface StepPieces {
  /** The packs of steps, in ascending order. */
  readonly steps: Array<PackParts & { readonly number: number }>
  readonly parts: Map<number, PackParts>
}

export const partsOf = (content: Buffer): PackParts => {
  const { added, before } = PackContent.readHead(new ByteReader(content))
  return { first: before.parts + 1, last: before.parts + added.parts, references: References.partsIn(content) }
}

/** The packs of steps that a pack has pieces of, or that those have. */
export const reachedBy = ({ parts, steps }: StepPieces, pack: number): ReadonlySet<number> => {
  const reached = new Set<number>()
  if (steps.length === 0) return reached
  const open = [pack]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const part of parts.get(next)?.references ?? []) {
      const found = steps[Sorted.firstNot(steps, ({ last }) => last < part)]
      if (found === undefined || found.first > part || found.number >= next || reached.has(found.number)) continue
      reached.add(found.number)
      open.push(found.number)
    }
  }
  return reached
}
