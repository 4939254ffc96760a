/** What some events add up to, with their durations: in memory, and in the bytes in which it is kept. */
import type { EventId } from "../domain/Event.ts"
import type { Sums } from "../domain/Sums.ts"
import * as Uuid from "../domain/Uuid.ts"
import { ByteReader, ByteWriter, toBuffer } from "../payload/format/Bytes.ts"
import { type Countable, isPartlyPriced } from "./Countable.ts"
import { Durations } from "./Durations.ts"
import type { Peaks } from "./Peaks.ts"

/** The place of each in the stored bytes. None may change. */
const places = {
  events: 0,
  errors: 1,
  unpricedEvents: 2,
  partlyPricedEvents: 3,
  inputTokens: 4,
  outputTokens: 5,
  cacheReadTokens: 6,
  cacheWriteTokens: 7,
  reasoningTokens: 8
}

type Counters = Record<keyof typeof places, number>

const counters = (Object.keys(places) as ReadonlyArray<keyof Counters>).toSorted((a, b) => places[a] - places[b])

/** What the row of a session also keeps of its calls: the first one, and the largest figures. */
export interface FirstCall {
  readonly first: EventId
  readonly firstMs: number
  readonly peaks: Peaks
}

const idBytes = 16

const nanosOfDollar = 1_000_000_000n

export class Tally {
  readonly #counters: Counters = {
    events: 0,
    errors: 0,
    unpricedEvents: 0,
    partlyPricedEvents: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0
  }
  /** Billionths of a dollar. */
  #cost = 0n
  #durations = new Durations()

  get events(): number {
    return this.#counters.events
  }

  get errors(): number {
    return this.#counters.errors
  }

  add(event: Countable): void {
    const sums = this.#counters
    sums.events++
    if (event.errorType !== null) sums.errors++
    sums.inputTokens += event.inputTokens ?? 0
    sums.outputTokens += event.outputTokens ?? 0
    sums.cacheReadTokens += event.cacheReadTokens ?? 0
    sums.cacheWriteTokens += event.cacheWriteTokens ?? 0
    sums.reasoningTokens += event.reasoningTokens ?? 0
    if (event.costUsd === null) sums.unpricedEvents++
    else this.#cost += BigInt(event.costUsd)
    if (isPartlyPriced(event)) sums.partlyPricedEvents++
    if (event.durationMs !== null) this.#durations.add(event.durationMs)
  }

  /** Adds other sums, or takes them away with -1. */
  merge(other: Tally, sign: 1 | -1 = 1): void {
    for (const name of counters) this.#counters[name] = Math.max(0, this.#counters[name] + sign * other.#counters[name])
    this.#cost += sign === 1 ? other.#cost : -other.#cost
    if (this.#cost < 0n) this.#cost = 0n
    this.#durations.merge(other.#durations, sign)
  }

  /** Whether both are kept in the same bytes: with a first call, durations do not count. */
  equals(other: Tally, first?: FirstCall): boolean {
    return toBuffer(this.toBytes(first)).equals(toBuffer(other.toBytes(first)))
  }

  get sums(): Sums {
    const isPriced = this.#counters.unpricedEvents < this.#counters.events
    return { ...this.#counters, costUsd: isPriced ? this.#cost : null }
  }

  get durationPercentiles() {
    const [durationMsP50 = null, durationMsP95 = null, durationMsP99 = null] = this.#durations.percentiles([
      0.5, 0.95, 0.99
    ])
    return { durationMsP50, durationMsP95, durationMsP99 }
  }

  /** The bytes in which it is kept. With a first call, those of it and the sums, without durations. */
  toBytes(first?: FirstCall): Uint8Array {
    const writer = new ByteWriter(64)
    if (first !== undefined) {
      writer.bytes(toBuffer(Uuid.toBytes(first.first)))
      writer.integer(first.firstMs)
      writer.integer(first.peaks.durationMs)
      writer.integer(first.peaks.cost)
      writer.integer(first.peaks.tokens)
    }
    for (const name of counters) writer.integer(this.#counters[name])
    writer.integer(Number(this.#cost / nanosOfDollar))
    writer.integer(Number(this.#cost % nanosOfDollar))
    if (first === undefined) this.#durations.write(writer)
    return Uint8Array.from(writer.view())
  }

  /** Throws `Damage` if the bytes are not what was written. */
  static fromBytes(bytes: Uint8Array, hasFirst: boolean) {
    const reader = new ByteReader(toBuffer(bytes))
    const first: FirstCall | undefined = hasFirst
      ? {
          first: Uuid.fromBytes(reader.bytes(idBytes)) as EventId,
          firstMs: reader.integer(),
          peaks: { durationMs: reader.integer(), cost: reader.integer(), tokens: reader.integer() }
        }
      : undefined
    const tally = new Tally()
    for (const name of counters) tally.#counters[name] = reader.integer()
    tally.#cost = BigInt(reader.integer()) * nanosOfDollar
    tally.#cost += BigInt(reader.integer())
    tally.#durations = Durations.read(reader)
    return { tally, first }
  }
}
