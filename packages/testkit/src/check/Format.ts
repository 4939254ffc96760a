/**
 * A second reader of packs and shared pieces, written from docs/format.md alone. It finds mistakes that core makes both when
 * it writes and when it reads. It throws on anything that the document does not allow.
 */
import type { StoredPack } from "@tachograph/core"
import { constants, crc32, inflateRawSync, zstdDecompressSync } from "node:zlib"
import { dictionary } from "./Dictionary.ts"

type Step =
  | { readonly kind: "text"; readonly text: Buffer }
  | { readonly kind: "part"; readonly number: number }
  | { readonly kind: "history"; readonly first: number; readonly count: number; readonly separator: Buffer }
  | { readonly kind: "shared"; readonly name: string }

/** Empty if the text was erased. */
export type Template = ReadonlyArray<Step>

interface Counts {
  readonly history: number
  readonly parts: number
}

export interface OpenPack {
  readonly number: number
  /** Ranges of other packs that the event needs, both ends included. */
  readonly needs: ReadonlyArray<readonly [number, number]>
  /** The number of the first pack of its chain. */
  readonly chainStart: number
  readonly content: Buffer
  readonly before: Counts
  readonly inputs: Template
  readonly output: Template
  /** New pieces; the first has the number after `before`. */
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
    if (taken.length !== length) throw new Error("The bytes are truncated")
    return taken
  }

  integer(): number {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(this.take(1)[0]!)
      value |= (byte & 0x7fn) << shift
      if (byte < 0x80n) break
    }
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error(`The integer ${value} is too large`)
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
        if (first < 1 || count < 1) throw new Error(`Invalid run of ${count} pieces from ${first}`)
        steps.push({ kind: "history", first, count, separator })
      }
      if (kind === 3) steps.push({ kind: "shared", name: this.take(32).toString("hex") })
    }
  }
}

const integerBytes = (value: number): Buffer => {
  const bytes: Array<number> = []
  for (let left = BigInt(value); ; left >>= 7n) {
    bytes.push(Number(left & 0x7fn) | (left < 0x80n ? 0 : 0x80))
    if (left < 0x80n) return Buffer.from(bytes)
  }
}

interface Closed {
  readonly number: number
  readonly kind: number
  readonly length: number
  readonly needs: ReadonlyArray<readonly [number, number]>
  /** The bytes before the checksum. */
  readonly head: Buffer
  readonly checksum: number
  readonly compressed: Buffer
}

const readHead = ({ bytes, number }: StoredPack): Closed => {
  const reader = new Reader(bytes)
  const format = reader.integer()
  const kind = reader.integer()
  if (format !== 1 || kind > 2) throw new Error(`Unknown pack format ${format} or kind ${kind}`)
  const length = reader.integer()
  const needs: Array<readonly [number, number]> = []
  let last = number
  for (let left = reader.integer(); left > 0; left--) {
    const to = last - reader.integer() - 1
    const from = to - reader.integer() + 1
    if (from < 1 || from > to) throw new Error(`Invalid range from ${from} to ${to}`)
    needs.push([from, to])
    last = from
  }
  const head = reader.bytes.subarray(0, reader.at)
  const checksum = reader.take(4).readUInt32LE()
  return { number, kind, length, needs, head, checksum, compressed: reader.bytes.subarray(reader.at) }
}

const inflateChain = (chain: ReadonlyArray<Closed>): ReadonlyArray<Buffer> => {
  const stream = chain.flatMap(({ compressed }) => [compressed, Buffer.of(0, 0, 255, 255)])
  const inflated = inflateRawSync(Buffer.concat(stream), {
    dictionary,
    finishFlush: constants.Z_SYNC_FLUSH
  })
  let at = 0
  const contents = chain.map(({ length }) => inflated.subarray(at, (at += length)))
  if (at !== inflated.length) throw new Error(`A chain has ${inflated.length} bytes instead of ${at}`)
  return contents
}

const readContent = ({ checksum, head, needs, number }: Closed, chainStart: number, content: Buffer): OpenPack => {
  if (crc32(Buffer.concat([integerBytes(number), head, content])) !== checksum)
    throw new Error(`The checksum of pack ${number} differs`)
  const reader = new Reader(content)
  const before = { history: reader.integer(), parts: reader.integer() }
  const added = { history: reader.integer(), parts: reader.integer() }
  const templates = Array.from({ length: 2 + added.history + added.parts }, () => reader.template())
  if (reader.at !== content.length) throw new Error(`${content.length - reader.at} bytes follow the content`)
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

/** Opens packs of a session, in ascending order. Each chain must be complete from its start. */
export const open = (packs: ReadonlyArray<StoredPack>): ReadonlyArray<OpenPack> => {
  const chains: Array<Array<Closed>> = []
  for (const pack of packs) {
    const closed = readHead(pack)
    const chain = chains.at(-1)
    if (closed.kind !== 1) chains.push([closed])
    else if (chain === undefined || chain[0]!.kind !== 0) throw new Error(`Pack ${pack.number} continues no chain`)
    else chain.push(closed)
  }
  return chains.flatMap((chain) => {
    const contents = chain[0]!.kind === 2 ? [zstdDecompressSync(chain[0]!.compressed)] : inflateChain(chain)
    return chain.map((closed, index) => {
      if (contents[index]!.length !== closed.length)
        throw new Error(`The content of pack ${closed.number} is truncated`)
      return readContent(closed, chain[0]!.number, contents[index]!)
    })
  })
}

/** Decompresses the stored bytes of a shared piece. */
export const sharedText = (stored: Uint8Array): Buffer => {
  if (stored[0] === 1) return inflateRawSync(stored.subarray(1), { dictionary })
  if (stored[0] === 2) return zstdDecompressSync(stored.subarray(1))
  throw new Error(`Unknown format ${stored[0]} of a shared piece`)
}

/** Pieces by name, such as `h12` in the history and `p12` in the parts. */
export type Pieces = Pick<ReadonlyMap<string, Template>, "get">

export const piecesOf = (packs: ReadonlyArray<OpenPack>): Map<string, Template> => {
  const pieces = new Map<string, Template>()
  for (const { before, history, parts } of packs) {
    for (const [index, template] of history.entries()) pieces.set(`h${before.history + index + 1}`, template)
    for (const [index, template] of parts.entries()) pieces.set(`p${before.parts + index + 1}`, template)
  }
  return pieces
}

/** The names of the pieces that a template refers to directly, in order. */
export const named = (template: Template): ReadonlyArray<string> =>
  template.flatMap((step) => {
    if (step.kind === "part") return [`p${step.number}`]
    if (step.kind === "history") return Array.from({ length: step.count }, (_, index) => `h${step.first + index}`)
    return []
  })

export const sharedNamed = (template: Template): ReadonlyArray<string> =>
  template.flatMap((step) => (step.kind === "shared" ? [step.name] : []))

/** Expands a template to its text. Throws if a piece is missing. */
export const expand = (template: Template, pieces: Pieces, shared: ReadonlyMap<string, Buffer>): Buffer => {
  const texts: Array<Buffer> = []
  /** A stack of what remains to be expanded. */
  const open: Array<Step | string> = [...template].reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") {
      const piece = pieces.get(next)
      if (piece === undefined || piece.length === 0) throw new Error(`Piece ${next} is missing`)
      for (const step of piece.toReversed()) open.push(step)
    } else if (next.kind === "text") {
      texts.push(next.text)
    } else if (next.kind === "shared") {
      const text = shared.get(next.name)
      if (text === undefined) throw new Error(`Shared piece ${next.name} is missing`)
      texts.push(text)
    } else if (next.kind === "part") {
      open.push(`p${next.number}`)
    } else {
      for (let index = next.count - 1; index >= 0; index--) {
        open.push(`h${next.first + index}`)
        if (index > 0 && next.separator.length > 0) open.push({ kind: "text", text: next.separator })
      }
    }
  }
  return Buffer.concat(texts)
}
