/** The times in the ids of events. Ids are ordered by them. */
import type { EventId } from "./Event.ts"
import * as Uuid from "./Uuid.ts"

/** In epoch milliseconds. */
export const of: (id: EventId) => number = Uuid.timeOf

/** The latest time that an id holds (epoch milliseconds). */
const maxMillis = 2 ** 48 - 1

/** The smallest id of a millisecond: of the earliest or the latest that an id holds, where it is before or after these. */
export const firstIdOf = (epochMillis: number): EventId => {
  const millis = Math.min(maxMillis, Math.max(0, epochMillis))
  const bytes = new Uint8Array(16)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, Math.floor(millis / 2 ** 32))
  view.setUint32(2, millis % 2 ** 32)
  view.setUint16(6, 0x7000)
  view.setUint8(8, 0x80)
  return Uuid.fromBytes(bytes) as EventId
}

/** Below that of every event. */
export const lowestId: EventId = firstIdOf(0)

/** Damage, and a wrong clock where an imported event comes from, make ids of the future, which new ids must not follow. */
const maxAheadMs = 24 * 60 * 60 * 1000

/** Above the ids that new ids must be above. */
export const limitOf = (now: number): EventId => firstIdOf(now + maxAheadMs)
