/** A session in memory: its packs and shared pieces as a storage keeps them, and the texts that were sent. */
import * as EventJson from "../../src/record/EventJson.ts"
import * as Join from "../../src/payload/Join.ts"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import type { KnownPrefix } from "../../src/payload/scan/PieceScanner.ts"
import * as Pack from "../../src/payload/format/Pack.ts"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import * as PackHead from "../../src/payload/format/PackHead.ts"
import type { PackRanges } from "../../src/payload/format/PackRanges.ts"
import * as SharedPiece from "../../src/payload/format/SharedPiece.ts"
import * as Split from "../../src/payload/Split.ts"

/** The inputs and the output of a call, as JSON texts. */
export interface Texts {
  readonly inputs: string
  readonly output: string
}

export const eventText = ({ inputs, output }: Texts): string =>
  `{"session":"s","properties":{"api":"aisdk","inputs":${inputs},"output":${output}}}`

/** Opens an event with these texts, as the recorder does, and checks that its reduced form is valid JSON. */
export const opened = (texts: Texts, list: ReadonlyArray<KnownPrefix>): EventJson.OpenEvent => {
  const event = EventJson.open(Buffer.from(eventText(texts)), () => ({ session: 1, generation: 0, list }))
  if (event === undefined) throw new Error("The event was not opened")
  JSON.parse(event.reduced.toString())
  return event
}

const isIn = (ranges: PackRanges, number: number) => ranges.some(({ from, to }) => from <= number && number <= to)

export class RecordedSession {
  readonly packs: Array<Pack.StoredPack> = []
  readonly shared = new Map<string, Buffer>()
  readonly sent: Array<Texts> = []
  history = 0
  parts = 0

  /** Records a call, and checks that it can be read from the packs that it names. */
  record(texts: Texts, index: SessionIndex, knownPrefixes = index.knownPrefixes): Split.Draft {
    const draft = Split.split(opened(texts, knownPrefixes).payload, index)
    this.append(texts, draft)
    index.learn(draft.learned)
    this.check(draft.number)
    return draft
  }

  append(texts: Texts, draft: Split.Draft): void {
    if (draft.number !== this.packs.length + 1)
      throw new Error("The draft was written for an older state of the session")
    this.packs.push({ number: draft.number, bytes: draft.pack.bytes() })
    this.history += draft.added.history
    this.parts += draft.added.parts
    for (const { bytes, sha256 } of draft.shared) this.shared.set(Join.keyOf(sha256), SharedPiece.textOf(bytes()))
    this.sent.push(texts)
  }

  /** The packs that the head of an event's pack names, and that pack. */
  needed(number: number): ReadonlyArray<Pack.StoredPack> {
    const { needs } = PackHead.read(number, this.packs[number - 1]!.bytes)
    return this.packs.filter((pack) => pack.number === number || isIn(needs, pack.number))
  }

  /** Throws if an event, read from the packs that it names, differs from what was sent. */
  check(number: number): void {
    this.#compare(number, Pack.open(this.needed(number)))
  }

  /** Checks each event, read from the packs that it names, and again from all packs. */
  checkAll(): void {
    const all = Pack.open(this.packs)
    const pieces = Join.piecesOf(all.map(({ content }) => PackContent.read(content)))
    for (const { number } of this.packs) {
      this.check(number)
      this.#compare(number, all.slice(0, number), pieces)
    }
  }

  #compare(
    number: number,
    packs: ReadonlyArray<Pack.OpenPack>,
    pieces: Join.Pieces = Join.piecesOf(packs.map(({ content }) => PackContent.read(content)))
  ): void {
    const own = PackContent.read(packs.at(-1)!.content)
    for (const half of ["inputs", "output"] as const) {
      const text = Join.join(own[half], pieces, this.shared).toString()
      // White space around a value is not recorded.
      if (text !== this.sent[number - 1]![half].trim())
        throw new Error(`The ${half} of event ${number} came back as ${text}`)
    }
  }

  /** The numbers of the packs that start a chain or stand alone. */
  get chainStarts(): ReadonlyArray<number> {
    return this.packs.flatMap(({ bytes, number }) =>
      PackHead.read(number, bytes).kind === "continues" ? [] : [number]
    )
  }

  /** Brings an index up to date, reading only the packs that `SessionLoader` reads. */
  refresh(index: SessionIndex): SessionIndex {
    if (index.packs === this.packs.length) return index
    const from = index.chain?.start ?? index.packs + 1
    const packs = this.#openFrom(from)
    const added = packs.filter(({ number }) => number > index.packs)
    const dependencies = index.dependenciesOf(added.map(({ content }) => PackContent.read(content)))
    const older = Pack.open(this.packs.filter(({ number }) => number < from && isIn(dependencies, number)))
    index.read([...older, ...packs], this.shared, this.#state)
    return index
  }

  /** A new index of the packs from `from`, which must start a chain. */
  reread(from = 1): SessionIndex {
    const index = new SessionIndex()
    index.read(this.#openFrom(from), this.shared, this.#state)
    return index
  }

  get #state() {
    return { packs: this.packs.length, history: this.history, parts: this.parts }
  }

  #openFrom(from: number): ReadonlyArray<Pack.OpenPack> {
    return Pack.open(this.packs.filter(({ number }) => number >= from))
  }
}
