/** Checks one session: that its packs open, and that each piece exists, is referred to, and is reachable. */
import type { SessionState, StoredPack, SweepPacks } from "@tachograph/core"
import * as Format from "./Format.ts"

export type Packs = SweepPacks["packs"]

export const sum = (numbers: Iterable<number>): number => {
  let total = 0
  for (const each of numbers) total += each
  return total
}

const isIn = (ranges: Format.OpenPack["needs"], number: number): boolean =>
  ranges.some(([from, to]) => from <= number && number <= to)

export interface Checked {
  readonly pieces: number
  readonly newBytes: number
  readonly storedBytes: number
  /** The shared pieces that the session's packs refer to. */
  readonly shared: ReadonlySet<string>
}

/** Returns the strings that a text contains. */
export const foundIn = (bytes: Buffer, forbidden: ReadonlyArray<string>) =>
  forbidden.filter((each) => bytes.includes(each))

export class SessionCheck {
  readonly #say: (problem: string) => void
  readonly #state: SessionState
  readonly #packs: Packs
  readonly #opened: ReadonlyArray<Format.OpenPack>
  readonly #pieces: ReadonlyMap<string, Format.Template>
  /** The number of each piece's pack. */
  readonly #packOf = new Map<string, number>()

  constructor(state: SessionState, packs: Packs, say: (problem: string) => void) {
    this.#say = (problem) => say(`session ${state.number}: ${problem}`)
    this.#state = state
    this.#packs = packs
    this.#opened = Format.open(packs)
    this.#pieces = Format.piecesOf(this.#opened)
    for (const pack of this.#opened)
      for (const name of Format.piecesOf([pack]).keys()) this.#packOf.set(name, pack.number)
  }

  get shared(): ReadonlySet<string> {
    return new Set(this.#opened.flatMap((pack) => templatesOf(pack).flatMap(Format.sharedNamed)))
  }

  check(isSwept: boolean, forbidden: ReadonlyArray<string>): Checked {
    this.#checkNumbers()
    this.#checkReferences()
    if (isSwept) this.#checkReached()
    for (const { content, number } of this.#opened) {
      for (const each of foundIn(content, forbidden)) this.#say(`pack ${number} contains ${each}`)
    }
    return {
      pieces: Array.from(this.#pieces.values()).filter(({ length }) => length > 0).length,
      newBytes: sum(this.#opened.map(({ content }) => content.length)),
      storedBytes: sum(this.#packs.map(({ bytes }) => bytes.length)),
      shared: this.shared
    }
  }

  #checkNumbers(): void {
    let last = { number: 0, history: 0, parts: 0 }
    for (const { before, history, number, parts } of this.#opened) {
      if (number <= last.number) this.#say(`pack ${number} follows ${last.number}`)
      if (before.history < last.history || before.parts < last.parts) this.#say(`pack ${number} reuses piece numbers`)
      last = { number, history: before.history + history.length, parts: before.parts + parts.length }
    }
    const { history, packs, parts } = this.#state
    if (last.number > packs || last.history > history || last.parts > parts) this.#say("the counters are too low")
  }

  /** Each reference must name a piece in the same pack or an older one. */
  #checkReferences(): void {
    for (const pack of this.#opened) {
      for (const name of templatesOf(pack).flatMap(Format.named)) {
        if ((this.#pieces.get(name)?.length ?? 0) === 0)
          this.#say(`pack ${pack.number} refers to ${name}, which is missing`)
        else if (this.#packOf.get(name)! > pack.number)
          this.#say(`pack ${pack.number} refers to ${name}, which is newer`)
      }
    }
  }

  /** A piece that no remaining event reaches must be blank, and a pack of blank pieces must be deleted. */
  #checkReached(): void {
    const kept = new Set(this.#packs.filter(({ isKept }) => isKept).map(({ number }) => number))
    const reached = new Set<string>()
    const open: Array<Format.Template> = []
    for (const pack of this.#opened) {
      const { inputs, number, output } = pack
      if (kept.has(number)) open.push(inputs, output)
      else if (inputs.length + output.length > 0) this.#say(`pack ${number} keeps the texts of an erased event`)
      else if (templatesOf(pack).every(({ length }) => length === 0)) this.#say(`pack ${number} is empty`)
    }
    for (let template = open.pop(); template !== undefined; template = open.pop()) {
      for (const name of Format.named(template)) {
        if (reached.has(name)) continue
        reached.add(name)
        open.push(this.#pieces.get(name) ?? [])
      }
    }
    for (const [name, { length }] of this.#pieces) {
      if (length > 0 && !reached.has(name)) this.#say(`${name} in pack ${this.#packOf.get(name)} is not reachable`)
    }
  }

  /** Expands the two texts of an event, from the packs that its own pack lists only. */
  textsOf(stored: StoredPack, shared: ReadonlyMap<string, Buffer>): readonly [inputs: Buffer, output: Buffer] {
    const at = this.#opened.findIndex(({ number }) => number === stored.number)
    const pack = this.#opened[at]
    if (pack === undefined) throw new Error(`pack ${stored.number} is missing`)
    if (!Buffer.from(this.#packs[at]!.bytes).equals(stored.bytes)) throw new Error("getEvent returns another pack")
    for (const { number } of this.#opened) {
      if (pack.chainStart <= number && number < pack.number && !isIn(pack.needs, number)) {
        throw new Error(`pack ${number} of its chain is not among the packs that it needs`)
      }
    }
    const pieces: Format.Pieces = {
      get: (name) => {
        const number = this.#packOf.get(name)
        return number === pack.number || (number !== undefined && isIn(pack.needs, number))
          ? this.#pieces.get(name)
          : undefined
      }
    }
    return [Format.expand(pack.inputs, pieces, shared), Format.expand(pack.output, pieces, shared)]
  }
}

export const templatesOf = ({ history, inputs, output, parts }: Format.OpenPack) => [
  inputs,
  output,
  ...history,
  ...parts
]
