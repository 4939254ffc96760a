/** When a call took place, by which days and hours, times of filters and the order of sessions go. */
import type { EventSummary } from "./Event.ts"
import * as EventTime from "./EventTime.ts"

type Times = Pick<EventSummary, "occurredAt" | "receivedAt">

/** What is earlier or later is no call's time, such as the first day of year 1 that programs send for none. */
export const endMs = 2 ** 48

/** In epoch milliseconds: of `occurred_at`, else of the receipt. */
export const ofMs = (occurredAtMs: number | null, receivedAtMs: number): number =>
  occurredAtMs !== null && occurredAtMs >= 0 && occurredAtMs < endMs ? occurredAtMs : receivedAtMs

export const of = ({ occurredAt, receivedAt }: Times): number =>
  ofMs(occurredAt === null ? null : occurredAt.epochMilliseconds, receivedAt.epochMilliseconds)

/** Most calls are received within this time (ms), so that the ids of a time lead to them. */
export const nearMs = 60 * 60_000

/** The time of a call that is further from the time in the event's id; null for others. */
export const distantMs = (event: Times & Pick<EventSummary, "id">): number | null => {
  const ms = of(event)
  return Math.abs(ms - EventTime.of(event.id)) > nearMs ? ms : null
}
