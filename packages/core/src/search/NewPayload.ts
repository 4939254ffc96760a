/**
 * What is new in the two texts of an event, as JSON: everything that the session had before is null, so that its size does not
 * grow with the conversation. A run of elements that the session had before is one null.
 */
import { ByteReader, ByteWriter } from "../payload/format/Bytes.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as Template from "../payload/format/Template.ts"
import * as Join from "../payload/Join.ts"

const nothing = Buffer.from("null")

/** Pieces within each other. More are damage, as a piece refers only to pieces before it. */
const maxLevels = 256

/** A piece that occurs again is null, if the text has more than this many bytes and those of its packs. */
const maxRepeatedBytes = 1024 * 1024

/** The texts of the shared pieces that are wanted, by `Join.keyOf` of their names. Others are null. */
export type SharedTexts = Pick<ReadonlyMap<string, Buffer>, "get">

/** What pieces of one kind are new: from a number up to, not including, another. Ascending. */
type Ranges = ReadonlyArray<{ readonly from: number; readonly to: number }>

export class NewPayload {
  readonly #pieces: Join.Pieces
  readonly #history: Ranges
  readonly #shared: SharedTexts
  readonly #texts: Pick<PackContent.Contents, "inputs" | "output">
  readonly #maxBytes: number
  readonly #written = new Set<Join.PieceNumber>()
  #out = new ByteWriter()

  /** `contents` are those of the packs whose pieces are new, in ascending order. The last one is the event's own. */
  constructor(contents: ReadonlyArray<PackContent.Contents>, shared: SharedTexts) {
    this.#texts = contents.at(-1)!
    this.#pieces = Join.piecesOf(contents)
    this.#history = contents.map(({ added, before }) => ({
      from: before.history + 1,
      to: before.history + added.history + 1
    }))
    this.#shared = shared
    const bytes = contents.reduce((sum, { inputs }) => sum + inputs.content.length, 0)
    this.#maxBytes = bytes + maxRepeatedBytes
  }

  /** Throws `Damage`. */
  text(which: "inputs" | "output"): Buffer {
    this.#out = new ByteWriter()
    this.#write(this.#texts[which], 0)
    return this.#out.view()
  }

  #write({ content, start }: PackContent.TemplateSpan, level: number): void {
    if (level > maxLevels) throw new Damage("A piece refers to itself")
    const out = this.#out
    Template.read(new ByteReader(content, start), {
      literal: (source, from, to) => out.bytes(source, from, to),
      part: (number) => this.#writePiece(-number, level),
      shared: (sha256) => out.bytes(this.#shared.get(Join.keyOf(sha256)) ?? nothing),
      history: (first, count, separator) => this.#writeRun(first, first + count, separator, level)
    })
  }

  #writePiece(number: Join.PieceNumber, level: number): void {
    const span = this.#pieces.get(number)
    const isRepeated = this.#written.has(number) && this.#out.length > this.#maxBytes
    if (span === undefined || isRepeated || PackContent.isEmpty(span)) return this.#out.bytes(nothing)
    this.#written.add(number)
    this.#write(span, level + 1)
  }

  #writeRun(from: number, to: number, separator: Buffer, level: number): void {
    const isOneNull = Template.isOfOneArray(to - from, separator)
    for (let number = from; number < to;) {
      if (number > from) this.#out.bytes(separator)
      const range = this.#history.find((each) => each.to > number && each.to > each.from)
      if (range === undefined || number < range.from) {
        this.#out.bytes(nothing)
        number = isOneNull ? Math.min(to, range?.from ?? to) : number + 1
      } else this.#writePiece(number++, level)
    }
  }
}
