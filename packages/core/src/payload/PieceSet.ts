/**
 * A set of the numbers of pieces of one kind, one bit each, in blocks. A run of pieces costs as many operations as it touches
 * blocks, however often it is added: a pack has four bytes for a run of any length.
 */

/** Numbers in a block. A run of 50,000 touches 13 blocks; a single number takes 512 bytes. */
const blockNumbers = 4096
const wordsPerBlock = blockNumbers / 32

export class PieceSet {
  readonly #blocks: Map<number, Uint32Array>
  /** Blocks that were touched, and numbers that were passed on: what the use of this copy has cost. */
  operations = 0

  /** Copies another one. */
  constructor(from?: PieceSet) {
    this.#blocks = new Map()
    if (from !== undefined) for (const [at, block] of from.#blocks) this.#blocks.set(at, block.slice())
  }

  /** Adds the numbers from `first` to `last`. `onAdded` gets each that was not in the set, in ascending order. */
  add(first: number, last: number, onAdded?: (number: number) => void): void {
    for (let from = first; from <= last;) {
      const at = Math.floor(from / blockNumbers)
      const start = at * blockNumbers
      const to = Math.min(last, start + blockNumbers - 1)
      let block = this.#blocks.get(at)
      if (block === undefined) this.#blocks.set(at, (block = new Uint32Array(wordsPerBlock)))
      this.operations++
      for (let word = (from - start) >>> 5; word <= (to - start) >>> 5; word++) {
        const mask = maskOf(from - start - 32 * word, to - start - 32 * word)
        const added = mask & ~block[word]!
        if (added === 0) continue
        block[word]! |= mask
        if (onAdded !== undefined) this.#eachOf(added, start + 32 * word, onAdded)
      }
      from = to + 1
    }
  }

  /** Calls `onFound` with each number of the set from `first` to `last`, in ascending order. */
  forEach(first: number, last: number, onFound: (number: number) => void): void {
    for (let from = first; from <= last;) {
      const at = Math.floor(from / blockNumbers)
      const start = at * blockNumbers
      const to = Math.min(last, start + blockNumbers - 1)
      const block = this.#blocks.get(at)
      this.operations++
      if (block !== undefined) {
        for (let word = (from - start) >>> 5; word <= (to - start) >>> 5; word++) {
          const found = block[word]! & maskOf(from - start - 32 * word, to - start - 32 * word)
          if (found !== 0) this.#eachOf(found, start + 32 * word, onFound)
        }
      }
      from = to + 1
    }
  }

  #eachOf(bits: number, start: number, visit: (number: number) => void): void {
    for (let left = bits; left !== 0; left &= left - 1) {
      this.operations++
      visit(start + 31 - Math.clz32(left & -left))
    }
  }
}

/** The bits of a word from `from`, which may be negative, to `to`, which may be 32 or more. */
const maskOf = (from: number, to: number): number => {
  const low = from <= 0 ? -1 : -1 << from
  const high = to >= 31 ? -1 : ~(-1 << (to + 1))
  return low & high
}
