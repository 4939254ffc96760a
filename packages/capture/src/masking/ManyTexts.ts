/** Finds many texts in a long one, in one pass over it. */
import { maxWorkFor } from "./Credentials.ts"
import * as Steps from "./Steps.ts"

interface Sought<Owner> {
  readonly bytes: Uint8Array
  readonly owner: Owner
}

/** Two bytes as an index of the table of shifts, which is small enough to be made for each call. */
const blockOf = (first: number, second: number): number => ((first << 4) ^ second) & 0xfff

const fourAt = (bytes: Uint8Array, at: number): number =>
  bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)

/** After this much work it is time for a step. */
const stepWork = 256 * 1024

/** The search of Wu and Manber: most of the long text is leapt over, as far as no text can begin there. */
export class ManyTexts<Owner> {
  /** By the last four bytes of the window: many begin alike, such as those that are escaped. */
  readonly #byEnd = new Map<number, Array<Sought<Owner>>>()
  readonly #shifts: Uint8Array
  /** How many bytes of each text the search looks at before it compares: as many as the shortest has. */
  readonly #window: number

  /** Texts, each of at least 4 bytes, and what each stands for. */
  constructor(texts: ReadonlyArray<readonly [bytes: Uint8Array, owner: Owner]>) {
    const window = texts.reduce((length, [bytes]) => Math.min(length, bytes.length), 255)
    this.#window = window
    // Without texts `find` never looks.
    this.#shifts = new Uint8Array(texts.length === 0 ? 0 : 4096).fill(window - 1)
    for (const [bytes, owner] of texts) {
      for (let at = 0; at < window - 1; at++) {
        const block = blockOf(bytes[at]!, bytes[at + 1]!)
        this.#shifts[block] = Math.min(this.#shifts[block]!, window - 2 - at)
      }
      const end = fourAt(bytes, window - 4)
      const alike = this.#byEnd.get(end)
      if (alike === undefined) this.#byEnd.set(end, [{ bytes, owner }])
      else alike.push({ bytes, owner })
    }
  }

  /**
   * Calls back with all that it finds, also where they overlap, in the order of their beginnings. `onFound` returns how many bytes it
   * has compared itself. Returns false if it gave up.
   */
  *find(text: Uint8Array, onFound: (owner: Owner, from: number, to: number) => number): Steps.Steps<boolean> {
    if (this.#byEnd.size === 0) return true
    const window = this.#window
    const shifts = this.#shifts
    const maxWork = maxWorkFor(text.length)
    let work = 0
    let nextStep = stepWork
    let nextStepAt = Steps.stepBytes
    for (let at = 0; at + window <= text.length;) {
      const shift = shifts[blockOf(text[at + window - 2]!, text[at + window - 1]!)]!
      if (shift === 0) {
        for (const { bytes, owner } of this.#byEnd.get(fourAt(text, at + window - 4)) ?? []) {
          let length = 0
          while (length < bytes.length && text[at + length] === bytes[length]) length++
          work += length + 1
          if (length === bytes.length) work += onFound(owner, at, at + length)
        }
      }
      at += shift || 1
      if (work < nextStep && at < nextStepAt) continue
      if (work > maxWork) return false
      nextStep = work + stepWork
      nextStepAt = at + Steps.stepBytes
      yield
    }
    return work <= maxWork
  }
}
