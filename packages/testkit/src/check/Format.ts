/**
 * Reads packs and shared pieces as docs/format.md says, and by nothing else: a second reader, so that a mistake that core
 * makes in writing and again in reading does not stay unseen. Strict: anything that the document does not allow throws.
 */
import type { StoredPack } from "@tachograph/core"
import { constants, inflateRawSync, zstdDecompressSync } from "node:zlib"
import { vocabulary } from "./Vocabulary.ts"

type Step =
  | { readonly kind: "text"; readonly text: Buffer }
  | { readonly kind: "part"; readonly number: number }
  | { readonly kind: "history"; readonly first: number; readonly count: number; readonly separator: Buffer }
  | { readonly kind: "shared"; readonly name: string }

/** Empty where it was erased. */
export type Template = ReadonlyArray<Step>

interface Counts {
  readonly history: number
  readonly parts: number
}

export interface OpenPack {
  readonly number: number
  /** Other packs that its event needs, from and to. */
  readonly needs: ReadonlyArray<readonly [number, number]>
  /** The number of the pack that its chain starts with. */
  readonly chainStart: number
  readonly content: Buffer
  readonly before: Counts
  readonly inputs: Template
  readonly output: Template
  /** New pieces; the first is numbered one above `before`. */
  readonly history: ReadonlyArray<Template>
  readonly parts: ReadonlyArray<Template>
}

class Reader {
  readonly bytes: Buffer
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes)
  }

  take(length: number): Buffer {
    const taken = this.bytes.subarray(this.at, (this.at += length))
    if (taken.length !== length) throw new Error("The bytes end early")
    return taken
  }

  integer(): number {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(this.take(1)[0]!)
      value |= (byte & 0x7fn) << shift
      if (byte < 0x80n) break
    }
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error(`${value} is too large an integer`)
    return Number(value)
  }

  template(): Template {
    const steps: Array<Step> = []
    for (;;) {
      const header = this.integer()
      const text = this.take(Math.floor(header / 4))
      if (text.length > 0) steps.push({ kind: "text", text })
      const kind = header % 4
      if (kind === 0) return steps
      if (kind === 1) steps.push({ kind: "part", number: this.integer() })
      if (kind === 2) {
        const first = this.integer()
        const count = this.integer()
        const separator = count > 1 ? this.take(this.integer()) : Buffer.of()
        if (first < 1 || count < 1) throw new Error(`A run of ${count} from ${first}`)
        steps.push({ kind: "history", first, count, separator })
      }
      if (kind === 3) steps.push({ kind: "shared", name: this.take(32).toString("hex") })
    }
  }
}

interface Closed {
  readonly number: number
  readonly kind: number
  readonly length: number
  readonly needs: ReadonlyArray<readonly [number, number]>
  readonly compressed: Buffer
}

const readHead = ({ bytes, number }: StoredPack): Closed => {
  const reader = new Reader(bytes)
  const format = reader.integer()
  const kind = reader.integer()
  if (format !== 1 || kind > 2) throw new Error(`A pack of format ${format} and kind ${kind}`)
  const length = reader.integer()
  const needs: Array<readonly [number, number]> = []
  let last = number
  for (let left = reader.integer(); left > 0; left--) {
    const to = last - reader.integer() - 1
    const from = to - reader.integer() + 1
    if (from < 1 || from > to) throw new Error(`A range from ${from} to ${to}`)
    needs.push([from, to])
    last = from
  }
  return { number, kind, length, needs, compressed: reader.bytes.subarray(reader.at) }
}

const inflateChain = (chain: ReadonlyArray<Closed>): ReadonlyArray<Buffer> => {
  const stream = chain.flatMap(({ compressed }) => [compressed, Buffer.of(0, 0, 255, 255)])
  const inflated = inflateRawSync(Buffer.concat(stream), {
    dictionary: vocabulary,
    finishFlush: constants.Z_SYNC_FLUSH
  })
  let at = 0
  const contents = chain.map(({ length }) => inflated.subarray(at, (at += length)))
  if (at !== inflated.length) throw new Error(`A chain of ${inflated.length} bytes, ${at} by its heads`)
  return contents
}

const readContent = ({ needs, number }: Closed, chainStart: number, content: Buffer): OpenPack => {
  const reader = new Reader(content)
  const before = { history: reader.integer(), parts: reader.integer() }
  const added = { history: reader.integer(), parts: reader.integer() }
  const templates = Array.from({ length: 2 + added.history + added.parts }, () => reader.template())
  if (reader.at !== content.length) throw new Error(`${content.length - reader.at} bytes behind a content`)
  return {
    number,
    needs,
    chainStart,
    content,
    before,
    inputs: templates[0]!,
    output: templates[1]!,
    history: templates.slice(2, 2 + added.history),
    parts: templates.slice(2 + added.history)
  }
}

/** Packs of a session, in ascending order; a chain must be there from its start. */
export const open = (packs: ReadonlyArray<StoredPack>): ReadonlyArray<OpenPack> => {
  const chains: Array<Array<Closed>> = []
  for (const pack of packs) {
    const closed = readHead(pack)
    const chain = chains.at(-1)
    if (closed.kind !== 1) chains.push([closed])
    else if (chain === undefined || chain[0]!.kind !== 0) throw new Error(`Pack ${pack.number} continues nothing`)
    else chain.push(closed)
  }
  return chains.flatMap((chain) => {
    const contents = chain[0]!.kind === 2 ? [zstdDecompressSync(chain[0]!.compressed)] : inflateChain(chain)
    return chain.map((closed, index) => {
      if (contents[index]!.length !== closed.length) throw new Error(`The content of ${closed.number} is cut short`)
      return readContent(closed, chain[0]!.number, contents[index]!)
    })
  })
}

/** The text of a shared piece, out of the bytes that are stored. */
export const sharedText = (stored: Uint8Array): Buffer => {
  if (stored[0] === 1) return inflateRawSync(stored.subarray(1), { dictionary: vocabulary })
  if (stored[0] === 2) return zstdDecompressSync(stored.subarray(1))
  throw new Error(`A shared piece of format ${stored[0]}`)
}

/** Pieces by name: `h12` of the history, `p12` of the parts. */
export type Pieces = Pick<ReadonlyMap<string, Template>, "get">

export const piecesOf = (packs: ReadonlyArray<OpenPack>): Map<string, Template> => {
  const pieces = new Map<string, Template>()
  for (const { before, history, parts } of packs) {
    for (const [index, template] of history.entries()) pieces.set(`h${before.history + index + 1}`, template)
    for (const [index, template] of parts.entries()) pieces.set(`p${before.parts + index + 1}`, template)
  }
  return pieces
}

/** The names of the pieces that a template names itself, in order. */
export const named = (template: Template): ReadonlyArray<string> =>
  template.flatMap((step) =>
    step.kind === "part"
      ? [`p${step.number}`]
      : step.kind === "history"
        ? Array.from({ length: step.count }, (_, index) => `h${step.first + index}`)
        : []
  )

export const sharedNamed = (template: Template): ReadonlyArray<string> =>
  template.flatMap((step) => (step.kind === "shared" ? [step.name] : []))

/** The text of a template. Throws where something that it names is not there. */
export const expand = (template: Template, pieces: Pieces, shared: ReadonlyMap<string, Buffer>): Buffer => {
  const found: Array<Buffer> = []
  /** What is still to come, the next last. */
  const open: Array<Step | string> = [...template].reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") {
      const piece = pieces.get(next)
      if (piece === undefined || piece.length === 0) throw new Error(`There is no piece ${next}`)
      for (const step of piece.toReversed()) open.push(step)
    } else if (next.kind === "text") {
      found.push(next.text)
    } else if (next.kind === "shared") {
      const text = shared.get(next.name)
      if (text === undefined) throw new Error(`There is no shared piece ${next.name}`)
      found.push(text)
    } else if (next.kind === "part") {
      open.push(`p${next.number}`)
    } else {
      for (let index = next.count - 1; index >= 0; index--) {
        open.push(`h${next.first + index}`)
        if (index > 0 && next.separator.length > 0) open.push({ kind: "text", text: next.separator })
      }
    }
  }
  return Buffer.concat(found)
}
