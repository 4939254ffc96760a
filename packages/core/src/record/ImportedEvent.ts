/** Whether an event can be recorded under the id that it had, and whether it was before. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { EventIdInvalid, EventIdTaken } from "../domain/Errors.ts"
import { type EventId, type EventSummary, callFields } from "../domain/Event.ts"
import * as EventTime from "../domain/EventTime.ts"
import { isSame } from "../domain/Same.ts"
import * as Bucket from "../sessions/Bucket.ts"
import type { AppendEvent } from "../storage/Appending.ts"
import type { StoredSummary } from "../storage/Stored.ts"

/** How far the time in an id may be ahead of the clock (ms): that of the server that gave it may be fast. */
const maxAheadMs = 10 * 60_000

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Fails if an event of this session cannot have this id here. */
export const checkId = Effect.fnUntraced(function* (
  id: EventId,
  session: string
): Effect.fn.Return<void, EventIdInvalid> {
  const isPossible = uuid7.test(id) && Bucket.ofId(id) === Bucket.ofSession(session)
  if (!isPossible || EventTime.of(id) > (yield* Clock.currentTimeMillis) + maxAheadMs)
    return yield* new EventIdInvalid()
})

/** What an event was sent with. What is read from its texts, and its cost, may be read otherwise today. */
const sentFields = [
  ...(Object.keys(callFields) as Array<keyof typeof callFields>),
  "id",
  "receivedAt",
  "inputsBytes",
  "outputBytes"
] as const satisfies ReadonlyArray<keyof EventSummary>

/** Whether an event that is stored is the one that is imported. Fails if it is another one, or is damaged. */
export const compare = (
  stored: StoredSummary,
  { checksums, summary }: Pick<AppendEvent, "summary" | "checksums">
): Effect.Effect<"exists", EventIdTaken> => {
  const own = stored.summary
  const isImported =
    own !== undefined &&
    stored.checksums.texts === checksums.texts &&
    sentFields.every((field) => isSame(own[field], summary[field]))
  return isImported ? Effect.succeed("exists") : Effect.fail(new EventIdTaken())
}
