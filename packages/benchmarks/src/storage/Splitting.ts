/** Time to split events, compared with parsing them and with parsing and compressing them. One process, no I/O. */
import { EventJson, PieceScanner } from "@tachograph/core"
import { SessionIndex } from "@tachograph/core/payload/SessionIndex"
import * as Split from "@tachograph/core/payload/Split"
import { constants, zstdCompressSync } from "node:zlib"
import { largest, type Options } from "../harness/Options.ts"
import { decimal, median, print, progress, spread, times } from "../harness/Table.ts"

interface Times {
  readonly open: number
  readonly scan: number
  readonly parse: number
  readonly split: number
  readonly learn: number
}

/** The duration (ms) and the result of a function. */
const timed = <A>(body: () => A): readonly [number, A] => {
  const startedAt = performance.now()
  const value = body()
  return [performance.now() - startedAt, value]
}

const sessionOf = (body: Buffer): string => (JSON.parse(body.toString()) as { readonly session: string }).session

class Sessions {
  readonly #known = new Map<string, SessionIndex>()

  of(session: string): SessionIndex {
    let known = this.#known.get(session)
    if (known === undefined) this.#known.set(session, (known = new SessionIndex()))
    return known
  }

  /** The callback of `EventJson.open`. */
  readonly knownPrefixesOf = (session: string): PieceScanner.KnownPrefixes => ({
    session: 1,
    generation: 0,
    list: this.of(session).knownPrefixes
  })
}

const opened = (
  body: Buffer,
  knownPrefixesOf: (session: string) => PieceScanner.KnownPrefixes
): EventJson.OpenEvent => {
  const event = EventJson.open(body, knownPrefixesOf)
  if (event === undefined) throw new Error("Expected the body of an event")
  return event
}

/** Includes compressing shared pieces, which would have to be stored too. */
const splitWhole = (event: EventJson.OpenEvent, sessionIndex: SessionIndex): Split.Draft => {
  const draft = Split.split(event.payload, sessionIndex)
  draft.pack.bytes()
  for (const piece of draft.shared) piece.bytes()
  return draft
}

/** Splits each event against the state just before it. The state is rebuilt in each run. */
const known = (before: ReadonlyArray<Buffer>, bodies: ReadonlyArray<Buffer>): Times => {
  const sessions = new Sessions()
  for (const body of before) {
    const sessionIndex = sessions.of(sessionOf(body))
    sessionIndex.learn(Split.split(opened(body, sessions.knownPrefixesOf).payload, sessionIndex).learned)
  }
  const named = bodies.map((body) => [body, sessions.of(sessionOf(body))] as const)
  const total = { open: 0, scan: 0, parse: 0, split: 0, learn: 0 }
  for (const [body, sessionIndex] of named) {
    const [open, event] = timed(() => opened(body, sessions.knownPrefixesOf))
    const [parse] = timed(() => JSON.parse(event.reduced.toString()) as unknown)
    const [split, draft] = timed(() => splitWhole(event, sessionIndex))
    const [learn] = timed(() => sessionIndex.learn(draft.learned))
    total.open += open
    total.parse += parse
    total.split += split
    total.learn += learn
  }
  return total
}

const unknown = (bodies: ReadonlyArray<Buffer>): Times => {
  const total = { open: 0, scan: 0, parse: 0, split: 0, learn: 0 }
  for (const body of bodies) {
    const [open, event] = timed(() => opened(body, () => PieceScanner.noKnownPrefixes))
    const { inputs, output } = event.payload
    const [scan] = timed(() => {
      PieceScanner.ofInputs(body, inputs.start, [])
      PieceScanner.ofOutput(body, output.start)
    })
    const [split] = timed(() => splitWhole(event, new SessionIndex()))
    total.open += open
    total.scan += scan
    total.split += split
  }
  return total
}

const level3 = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

/** Number of timed events. */
const timedEvents = 200

export const splitting = async (options: Options): Promise<void> => {
  const { bodies: all, name } = largest(options)
  const bodies = all.slice(-timedEvents)
  const before = all.slice(0, -timedEvents)
  const strings = bodies.map((body) => body.toString())
  const parseStrings = () => timed(() => strings.forEach((text) => void JSON.parse(text)))[0]
  const parseBytes = () => timed(() => bodies.forEach((body) => void JSON.parse(body.toString())))[0]
  const compress = () => timed(() => bodies.forEach((body) => void zstdCompressSync(body, level3)))[0]

  const measured = {
    known: [] as Array<Times>,
    unknown: [] as Array<Times>,
    strings: [] as Array<number>,
    bytes: [] as Array<number>,
    zstd: [] as Array<number>
  }
  // Run 0 is the warm-up.
  for (let run = 0; run <= options.runs; run++) {
    progress(`splitting: the last ${bodies.length} of ${name}, ${run === 0 ? "warm-up" : `${run} of ${options.runs}`}`)
    const round = [known(before, bodies), unknown(bodies), parseStrings(), parseBytes(), compress()] as const
    if (run === 0) continue
    measured.known.push(round[0])
    measured.unknown.push(round[1])
    measured.strings.push(round[2])
    measured.bytes.push(round[3])
    measured.zstd.push(round[4])
  }

  const knownSplit = measured.known.map(({ learn, open, split }) => open + split + learn)
  const knownParsed = measured.known.map(({ learn, open, parse, split }) => open + split + learn + parse)
  const unknownSplit = measured.unknown.map(({ open, split }) => open + split)
  const unknownScanned = measured.unknown.map(({ scan, split }) => scan + split)
  const parsedBytesAndPacked = measured.bytes.map((time, run) => time + measured.zstd[run]!)
  const parsedAndPacked = measured.strings.map((time, run) => time + measured.zstd[run]!)
  const row = (label: string, values: ReadonlyArray<number>, baseline?: ReadonlyArray<number>) => [
    label,
    spread(values),
    baseline === undefined ? "" : times(median(values) / median(baseline))
  ]
  const part = (key: keyof Times, samples = measured.known) => decimal(median(samples.map((each) => each[key])), 1)
  print({
    title: `Splitting the last ${bodies.length} events of ${name}`,
    columns: ["step", `ms: median of ${options.runs} (range)`, "ratio"],
    rows: [
      row("JSON.parse of the bodies as strings", measured.strings),
      row("JSON.parse of the bodies as bytes", measured.bytes),
      row("known: open, split and learn ÷ JSON.parse of strings", knownSplit, measured.strings),
      row("known: the same ÷ JSON.parse from bytes", knownSplit, measured.bytes),
      row("known: the same and JSON.parse of the rest ÷ JSON.parse of strings", knownParsed, measured.strings),
      row("JSON.parse of strings and zstd, level 3", parsedAndPacked),
      row("JSON.parse from bytes and zstd, level 3", parsedBytesAndPacked),
      row("unknown: scan and split ÷ JSON.parse of strings and zstd", unknownScanned, parsedAndPacked),
      row("unknown: open and split ÷ JSON.parse from bytes and zstd", unknownSplit, parsedBytesAndPacked)
    ],
    notes: [
      `Known, in ms: open ${part("open")}, split ${part("split")}, learn ${part("learn")}, JSON.parse of the rest ${part("parse")}. ` +
        "Each event is split against the state just before it; the state is rebuilt for each repetition. " +
        `Unknown: open ${part("open", measured.unknown)}, of which scan ${part("scan", measured.unknown)} and the rest UTF-8 decoding, split ${part("split", measured.unknown)}; each event against ` +
        "an empty state, including compression of large texts."
    ]
  })
}
