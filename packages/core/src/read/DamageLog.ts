/** Counts and logs damaged events: each one once, however often it is read. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { EventId } from "../domain/Event.ts"
import type { Damage } from "../payload/format/Damage.ts"

/** Events remembered as logged. The oldest is forgotten, and may be logged again. */
const maxRemembered = 10_000

const damagedReads = Metric.counter("tachograph_damaged_reads_total", {
  description: "Reads that found an event damaged",
  incremental: true
})

/** Runs when an event has been found damaged. */
export type OnDamage = (id: EventId, damage: Damage) => Effect.Effect<void>

/** For the events of one storage. */
export const make = (): OnDamage => {
  const remembered = new Set<EventId>()
  return (id, { message }) =>
    Effect.suspend(() => {
      const count = Metric.update(damagedReads, 1)
      if (remembered.has(id)) return count
      remembered.add(id)
      if (remembered.size > maxRemembered) for (const oldest of remembered.keys()) if (remembered.delete(oldest)) break
      return Effect.andThen(
        count,
        Effect.annotateLogs(Effect.logError("An event is damaged in the storage"), { event_id: id, damage: message })
      )
    })
}
