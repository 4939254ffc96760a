/**
 * Durations as a histogram whose classes grow by a constant factor: it can be added to and taken from, and says any percentile
 * within 1 %.
 */
import { ByteReader, type ByteWriter } from "../payload/format/Bytes.ts"

/** The ratio of successive classes. A value differs from the middle of its class by half of it, 0.95 %, and is rounded then. */
const ratio = 1.019
const logOfRatio = Math.log(ratio)

/** The shortest duration that has a class of its own, and the longest (ms): 10 µs to 11 days. */
const shortestMs = 0.01
const longestMs = 1e9

const offset = 1 - Math.round(Math.log(shortestMs) / logOfRatio)

/** Class 0 is of what is shorter than any other. */
const classOf = (ms: number): number =>
  ms < shortestMs ? 0 : Math.round(Math.log(Math.min(ms, longestMs)) / logOfRatio) + offset

const msOf = (index: number): number =>
  index === 0 ? 0 : Number(Math.exp((index - offset) * logOfRatio).toPrecision(4))

export class Durations {
  /** How many durations each class has, by its index. */
  readonly #counts = new Map<number, number>()
  /** What `write` wrote, until it is needed: most histograms are read to be merged into another one. */
  #unread: ByteReader | undefined

  add(ms: number): void {
    this.#addTo(classOf(ms), 1)
  }

  /** Adds another histogram, or takes it away with -1. */
  merge(other: Durations, sign: 1 | -1 = 1): void {
    other.#forEach((index, count) => this.#addTo(index, sign * count))
  }

  #forEach(use: (index: number, count: number) => void): void {
    if (this.#unread === undefined) return this.#counts.forEach((count, index) => use(index, count))
    const { at, source } = this.#unread
    const reader = new ByteReader(source, at)
    for (let index = -1; reader.at < source.length;) use((index += reader.integer()), reader.integer())
  }

  #addTo(index: number, count: number): void {
    const counts = this.#read()
    const sum = (counts.get(index) ?? 0) + count
    if (sum > 0) counts.set(index, sum)
    else counts.delete(index)
  }

  #read(): Map<number, number> {
    if (this.#unread !== undefined) {
      this.#forEach((index, count) => this.#counts.set(index, count))
      this.#unread = undefined
    }
    return this.#counts
  }

  #sorted(): ReadonlyArray<readonly [index: number, count: number]> {
    return Array.from(this.#read()).sort(([a], [b]) => a - b)
  }

  /** Each is the smallest duration that this share of all of them does not exceed (ms), or null without any. */
  percentiles(shares: ReadonlyArray<number>): ReadonlyArray<number | null> {
    const sorted = this.#sorted()
    const total = sorted.reduce((sum, [, count]) => sum + count, 0)
    return shares.map((share) => {
      let left = Math.ceil(share * total)
      const found = sorted.find(([, count]) => (left -= count) <= 0)
      return found === undefined ? null : msOf(found[0])
    })
  }

  write(writer: ByteWriter): void {
    let previous = -1
    for (const [index, count] of this.#sorted()) {
      writer.integer(index - previous)
      writer.integer(count)
      previous = index
    }
  }

  /** What is left to a reader. */
  static read(reader: ByteReader): Durations {
    const durations = new Durations()
    if (reader.at < reader.source.length) durations.#unread = reader
    return durations
  }
}
