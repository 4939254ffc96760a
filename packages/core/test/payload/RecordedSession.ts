/** A session as a storage would hold it, in memory: its packs, its shared pieces, and what was sent. */
import * as EventJson from "../../src/record/EventJson.ts"
import * as Join from "../../src/payload/Join.ts"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import type { KnownPrefix } from "../../src/payload/scan/PieceScanner.ts"
import * as Pack from "../../src/payload/format/Pack.ts"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import type { PackRanges } from "../../src/payload/format/PackRanges.ts"
import * as SharedPiece from "../../src/payload/format/SharedPiece.ts"
import * as Split from "../../src/payload/Split.ts"

/** The two halves of a call, as JSON texts. */
export interface Texts {
  readonly inputs: string
  readonly output: string
}

export const eventText = ({ inputs, output }: Texts): string =>
  `{"session":"s","properties":{"api":"aisdk","inputs":${inputs},"output":${output}}}`

/** Candidates of the texts, after the way that an event goes: opened, and what is left of it parsed. */
export const opened = (texts: Texts, list: ReadonlyArray<KnownPrefix>): EventJson.OpenEvent => {
  const event = EventJson.open(Buffer.from(eventText(texts)), () => ({ session: 1, generation: 0, list }))
  if (event === undefined) throw new Error("The event was not opened")
  JSON.parse(event.reduced)
  return event
}

const isIn = (ranges: PackRanges, number: number) => ranges.some(({ from, to }) => from <= number && number <= to)

export class RecordedSession {
  readonly packs: Array<Pack.StoredPack> = []
  readonly shared = new Map<string, Buffer>()
  readonly sent: Array<Texts> = []
  history = 0
  parts = 0

  /** Records a call, and checks that what was written is enough to read it. */
  record(texts: Texts, sessionIndex: SessionIndex, knownPrefixes = sessionIndex.knownPrefixes): Split.Draft {
    const draft = Split.split(opened(texts, knownPrefixes).payload, sessionIndex)
    this.append(texts, draft)
    sessionIndex.learn(draft.learned)
    this.check(draft.number)
    return draft
  }

  append(texts: Texts, draft: Split.Draft): void {
    if (draft.number !== this.packs.length + 1) throw new Error("The session has moved on")
    this.packs.push({ number: draft.number, bytes: draft.pack.bytes() })
    this.history += draft.added.history
    this.parts += draft.added.parts
    for (const { bytes, sha256 } of draft.shared) this.shared.set(Join.keyOf(sha256), SharedPiece.textOf(bytes()))
    this.sent.push(texts)
  }

  /** The packs that an event's head names, and its own. */
  needed(number: number): ReadonlyArray<Pack.StoredPack> {
    const { needs } = Pack.readHead(number, this.packs[number - 1]!.bytes)
    return this.packs.filter((pack) => pack.number === number || isIn(needs, pack.number))
  }

  /** Throws where an event is not, to the byte, what was sent: read from nothing but the packs that it names. */
  check(number: number): void {
    this.#compare(number, Pack.open(this.needed(number)))
  }

  /** Each event, from the packs that it names, and again from all packs. */
  checkAll(): void {
    const all = Pack.open(this.packs)
    const pieces = Join.piecesOf(all)
    for (const { number } of this.packs) {
      this.check(number)
      this.#compare(number, all.slice(0, number), pieces)
    }
  }

  #compare(number: number, packs: ReadonlyArray<Pack.OpenPack>, pieces = Join.piecesOf(packs)): void {
    const own = PackContent.read(packs.at(-1)!.content)
    for (const half of ["inputs", "output"] as const) {
      const found = Join.join(own[half], pieces, this.shared).toString()
      // White space around a value is none of its own.
      if (found !== this.sent[number - 1]![half].trim())
        throw new Error(`The ${half} of event ${number} came back as ${found}`)
    }
  }

  /** The numbers of packs that start a chain, or stand alone. */
  get chainStarts(): ReadonlyArray<number> {
    return this.packs.flatMap(({ bytes, number }) =>
      Pack.readHead(number, bytes).kind === "continues" ? [] : [number]
    )
  }

  /** Brings the session index up to date as a process does that finds the session moved on. Other packs than these are not read. */
  refresh(sessionIndex: SessionIndex): SessionIndex {
    if (sessionIndex.packs === this.packs.length) return sessionIndex
    const from = sessionIndex.chain?.start ?? sessionIndex.packs + 1
    const packs = this.#openFrom(from)
    const news = packs.filter(({ number }) => number > sessionIndex.packs)
    const rests = sessionIndex.dependenciesOf(news.map(({ content }) => PackContent.read(content)))
    const older = Pack.open(this.packs.filter(({ number }) => number < from && isIn(rests, number)))
    sessionIndex.read([...older, ...packs], this.shared, this.#state)
    return sessionIndex
  }

  /** What there is to know of packs from one on that starts a chain; unless given, of all. */
  reread(from = 1): SessionIndex {
    const sessionIndex = new SessionIndex()
    sessionIndex.read(this.#openFrom(from), this.shared, this.#state)
    return sessionIndex
  }

  get #state() {
    return { packs: this.packs.length, history: this.history, parts: this.parts }
  }

  #openFrom(from: number): ReadonlyArray<Pack.OpenPack> {
    return Pack.open(this.packs.filter(({ number }) => number >= from))
  }
}
