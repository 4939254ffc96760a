/**
 * A template is a text that references pieces instead of repeating them. It is a sequence of steps:
 *
 *     integer   4 × length + kind
 *     bytes     literal text, `length` bytes
 *     kind 0    the end
 *     kind 1    a part: its number
 *     kind 2    a run of the history: the number of its first piece, the number of pieces, and if there is more than one,
 *               the length and the bytes of the separator between them
 *     kind 3    a shared piece: the 32 bytes of the SHA-256 of its text
 *
 * Integers are those of `Bytes`. Pieces are numbered from 1, and numbers are absolute: what a call has in common with the
 * previous one is encoded in the same bytes, which compress to almost emptyBuffer.
 */
import { ByteReader, ByteWriter } from "./Bytes.ts"

const end = 0
const part = 1
const run = 2
const shared = 3

const sha256Bytes = 32

/** Consecutive pieces of the history that are also consecutive in the text. */
export interface Run {
  readonly first: number
  readonly count: number
}

/** A comma, and white space around it. */
const listSeparator = /^[ \t\r\n]*,[ \t\r\n]*$/

/** Whether a run with this separator is of elements of one array. Other runs go on from one array into another. */
export const isOfOneArray = (count: number, separator: Buffer): boolean =>
  count === 1 || listSeparator.test(separator.toString("latin1"))

/** Pieces with a longer text between them are not joined into a run. */
const maxSeparatorBytes = 64

const emptyBuffer: Buffer = Buffer.alloc(0)

/** A slice without a `Buffer` view of its own, because a template consists of very many. */
interface Slice {
  readonly source: Buffer
  readonly start: number
  readonly end: number
}

const emptySlice: Slice = { source: emptyBuffer, start: 0, end: 0 }

/** Compares byte by byte, because the slices are short. */
const isSame = (a: Slice, b: Slice): boolean => {
  const length = a.end - a.start
  if (length !== b.end - b.start) return false
  for (let at = 0; at < length; at++) if (a.source[a.start + at] !== b.source[b.start + at]) return false
  return true
}

/** Writes a template without pieces. */
export const writeLiteral = (out: ByteWriter, source: Buffer, start: number, stop: number): void => {
  out.integer(4 * (stop - start) + end)
  out.bytes(source, start, stop)
}

export class TemplateWriter {
  readonly out: ByteWriter
  /** The text since the last piece. */
  #literal = emptySlice
  #run: { readonly before: Slice; readonly first: number; count: number; separator: Slice } | undefined

  constructor(out = new ByteWriter(256)) {
    this.out = out
  }

  /** Sets the text before the next piece. `source` is read only when that piece is added. */
  literal(source: Buffer, start = 0, end = source.length): void {
    this.#literal = start === end ? emptySlice : { source, start, end }
  }

  part(number: number): void {
    this.#closeRun()
    this.#step(this.#literal, part)
    this.out.integer(number)
    this.#literal = emptySlice
  }

  shared(sha256: Buffer): void {
    this.#closeRun()
    this.#step(this.#literal, shared)
    this.out.bytes(sha256)
    this.#literal = emptySlice
  }

  /** Adds consecutive pieces of the history. `separator` is the text between them if `count` is greater than 1. */
  history(first: number, count = 1, separator = emptyBuffer): void {
    const open = this.#run
    const between = this.#literal
    const own: Slice = { source: separator, start: 0, end: separator.length }
    if (open !== undefined && open.first + open.count === first && between.end - between.start <= maxSeparatorBytes) {
      const isFirst = open.count === 1
      if ((isFirst || isSame(open.separator, between)) && (count === 1 || isSame(own, between))) {
        if (isFirst) open.separator = between
        open.count += count
        this.#literal = emptySlice
        return
      }
    }
    this.#closeRun()
    this.#run = { before: between, first, count, separator: own }
    this.#literal = emptySlice
  }

  end(): void {
    this.#closeRun()
    this.#step(this.#literal, end)
    this.#literal = emptySlice
  }

  #step(literal: Slice, kind: number): void {
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

/** Called with the elements of a template, in order. */
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
      visitor.history(first, count, count > 1 ? from.bytes(from.integer()) : emptyBuffer)
      return true
    }
  }
}

/** Reads a template to its end. */
export const read = (from: ByteReader, visitor: TemplateVisitor): void => {
  while (readStep(from, visitor));
}

/** Skips a template. */
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

/** The name of the shared piece that a template consists of, if it contains nothing else. */
export const sharedAlone = (content: Buffer, start: number, stop: number): Buffer | undefined =>
  stop - start === sha256Bytes + 2 && content[start] === shared && content[stop - 1] === end
    ? content.subarray(start + 1, stop - 1)
    : undefined

/** The text that a template consists of, if it contains no reference. */
export const literalAlone = (content: Buffer, start: number, stop: number): Buffer | undefined => {
  const reader = new ByteReader(content, start)
  const header = reader.integer()
  const length = Math.floor(header / 4)
  return header % 4 === end && reader.at + length === stop ? content.subarray(reader.at, stop) : undefined
}
