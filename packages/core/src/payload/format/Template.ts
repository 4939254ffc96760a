/**
 * A template is a text in which pieces are named instead of repeated. It is a sequence of steps, each a number, so many
 * bytes of the text as they are, and what stands behind them:
 *
 *     integer   4 × length + kind
 *     bytes     length of them, literal
 *     kind 0    the end
 *     kind 1    a part: its number
 *     kind 2    a run of the history: its first number, how many, and if more than one, the length and the bytes of the
 *               text between two of them
 *     kind 3    a shared piece: the 32 bytes of the SHA-256 of its text
 *
 * Integers are written as `Bytes` does. Pieces are numbered from 1; numbers are absolute, so that what a call has in
 * common with the one before is written in the same bytes, and compresses to nothing.
 */
import { type ByteReader, ByteWriter } from "./Bytes.ts"

const end = 0
const part = 1
const run = 2
const shared = 3

const sha256Bytes = 32

/** Pieces of the history that follow each other, by number and in the text. */
export interface Run {
  readonly first: number
  readonly count: number
}

/** Longer texts between two elements are not looked for: in bytes. */
const maxSeparator = 64

const nothing: Buffer = Buffer.alloc(0)

/** A stretch of bytes, without a view of its own: templates are made of very many. */
interface Stretch {
  readonly source: Buffer
  readonly start: number
  readonly end: number
}

const noStretch: Stretch = { source: nothing, start: 0, end: 0 }

/** Of two short stretches. */
const isSame = (a: Stretch, b: Stretch): boolean => {
  const length = a.end - a.start
  if (length !== b.end - b.start) return false
  for (let at = 0; at < length; at++) if (a.source[a.start + at] !== b.source[b.start + at]) return false
  return true
}

/** A template without pieces. */
export const writeLiteral = (out: ByteWriter, source: Buffer, start: number, stop: number): void => {
  out.integer(4 * (stop - start) + end)
  out.bytes(source, start, stop)
}

export class TemplateWriter {
  readonly out: ByteWriter
  /** Text since the last piece. */
  #literal = noStretch
  #run: { readonly before: Stretch; readonly first: number; count: number; separator: Stretch } | undefined

  constructor(out = new ByteWriter(256)) {
    this.out = out
  }

  /** The text up to the next piece. Is read when that comes. */
  literal(source: Buffer, start = 0, end = source.length): void {
    this.#literal = start === end ? noStretch : { source, start, end }
  }

  part(number: number): void {
    this.#closeRun()
    this.#step(this.#literal, part)
    this.out.integer(number)
    this.#literal = noStretch
  }

  shared(sha256: Buffer): void {
    this.#closeRun()
    this.#step(this.#literal, shared)
    this.out.bytes(sha256)
    this.#literal = noStretch
  }

  /** `count` above 1 needs the text that stands between them. */
  history(first: number, count = 1, separator = nothing): void {
    const open = this.#run
    const between = this.#literal
    const own: Stretch = { source: separator, start: 0, end: separator.length }
    if (open !== undefined && open.first + open.count === first && between.end - between.start <= maxSeparator) {
      const isFirst = open.count === 1
      if ((isFirst || isSame(open.separator, between)) && (count === 1 || isSame(own, between))) {
        if (isFirst) open.separator = between
        open.count += count
        this.#literal = noStretch
        return
      }
    }
    this.#closeRun()
    this.#run = { before: between, first, count, separator: own }
    this.#literal = noStretch
  }

  end(): void {
    this.#closeRun()
    this.#step(this.#literal, end)
    this.#literal = noStretch
  }

  #step(literal: Stretch, kind: number): void {
    const length = literal.end - literal.start
    this.out.integer(4 * length + kind)
    if (length > 0) this.out.bytes(literal.source, literal.start, literal.end)
  }

  #closeRun(): void {
    if (this.#run === undefined) return
    const { before, count, first, separator } = this.#run
    this.#step(before, run)
    this.out.integer(first)
    this.out.integer(count)
    if (count > 1) {
      this.out.integer(separator.end - separator.start)
      this.out.bytes(separator.source, separator.start, separator.end)
    }
    this.#run = undefined
  }
}

/** What a template is made of, in its order. */
export interface TemplateVisitor {
  readonly literal?: (source: Buffer, start: number, end: number) => void
  readonly part: (number: number) => void
  readonly history: (first: number, count: number, separator: Buffer) => void
  readonly shared: (sha256: Buffer) => void
}

/** Reads one step; false when it was the last. */
export const readStep = (from: ByteReader, visitor: TemplateVisitor): boolean => {
  const header = from.integer()
  const length = Math.floor(header / 4)
  if (length > 0) {
    const start = from.at
    from.skip(length)
    visitor.literal?.(from.source, start, from.at)
  }
  switch (header % 4) {
    case end:
      return false
    case part:
      visitor.part(from.integer())
      return true
    case shared:
      visitor.shared(from.bytes(sha256Bytes))
      return true
    default: {
      const first = from.integer()
      const count = from.integer()
      visitor.history(first, count, count > 1 ? from.bytes(from.integer()) : nothing)
      return true
    }
  }
}

/** Reads a template to its end. */
export const read = (from: ByteReader, visitor: TemplateVisitor): void => {
  while (readStep(from, visitor));
}

/** Passes over a template. */
export const skip = (from: ByteReader): void => {
  for (;;) {
    const header = from.integer()
    from.skip(Math.floor(header / 4))
    switch (header % 4) {
      case end:
        return
      case part:
        from.integer()
        break
      case shared:
        from.skip(sha256Bytes)
        break
      default:
        from.integer()
        if (from.integer() > 1) from.skip(from.integer())
    }
  }
}

/** The name of the shared piece that is all there is in a template. */
export const sharedAlone = (content: Buffer, start: number, stop: number): Buffer | undefined =>
  stop - start === sha256Bytes + 2 && content[start] === shared && content[stop - 1] === end
    ? content.subarray(start + 1, stop - 1)
    : undefined
