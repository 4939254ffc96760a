/**
 * Durations as a histogram whose classes grow by a constant factor: it can be added to and taken from, and says any percentile
 * within 1 %.
 */
import { ByteReader, type ByteWriter } from "../payload/format/Bytes.ts"

/**
 * The ratio of successive classes. A value differs from the middle of its class by half of it, 0.95 %, and is rounded then. Stored
 * classes are of this ratio: it may not change.
 */
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

const lastClass = classOf(longestMs)

/** Classes by which a histogram grows at least. */
const growth = 32

export class Durations {
  /** How many durations each class has, from the first class that it has room for on. */
  #counts = new Float64Array(0)
  #first = 0
  /** What `write` wrote, until it is needed: most histograms are read to be merged into another one. */
  #unread: ByteReader | undefined

  add(ms: number): void {
    this.#read()
    this.#addTo(classOf(ms), 1)
  }

  /** Adds another histogram, or takes it away with -1. */
  merge(other: Durations, sign: 1 | -1 = 1): void {
    this.#read()
    other.#forEach((index, count) => this.#addTo(index, sign * count))
  }

  #forEach(use: (index: number, count: number) => void): void {
    if (this.#unread === undefined) {
      const counts = this.#counts
      for (let at = 0; at < counts.length; at++) if (counts[at]! > 0) use(this.#first + at, counts[at]!)
      return
    }
    const { at, source } = this.#unread
    const reader = new ByteReader(source, at)
    // Only damage makes a class larger than the last one.
    for (let index = -1; reader.at < source.length;) {
      use(Math.min((index += reader.integer()), lastClass), reader.integer())
    }
  }

  #addTo(index: number, count: number): void {
    let at = index - this.#first
    if (at < 0 || at >= this.#counts.length) {
      this.#makeRoom(index)
      at = index - this.#first
    }
    this.#counts[at] = Math.max(0, this.#counts[at]! + count)
  }

  #makeRoom(index: number): void {
    const counts = this.#counts
    const isEmpty = counts.length === 0
    const first = Math.max(0, isEmpty ? index : Math.min(this.#first, index - growth))
    const end = isEmpty ? index + growth : Math.max(this.#first + counts.length, index + growth)
    this.#counts = new Float64Array(end - first)
    if (!isEmpty) this.#counts.set(counts, this.#first - first)
    this.#first = first
  }

  #read(): void {
    if (this.#unread === undefined) return
    const unread = new Durations()
    unread.#unread = this.#unread
    this.#unread = undefined
    unread.#forEach((index, count) => this.#addTo(index, count))
  }

  #classes(): ReadonlyArray<readonly [index: number, count: number]> {
    const classes: Array<readonly [index: number, count: number]> = []
    this.#forEach((index, count) => classes.push([index, count]))
    return classes
  }

  /** Each is the smallest duration that this share of all of them does not exceed (ms), or null without any. */
  percentiles(shares: ReadonlyArray<number>): ReadonlyArray<number | null> {
    const sorted = this.#classes()
    const total = sorted.reduce((sum, [, count]) => sum + count, 0)
    return shares.map((share) => {
      let left = Math.ceil(share * total)
      const found = sorted.find(([, count]) => (left -= count) <= 0)
      return found === undefined ? null : msOf(found[0])
    })
  }

  write(writer: ByteWriter): void {
    let previous = -1
    for (const [index, count] of this.#classes()) {
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
