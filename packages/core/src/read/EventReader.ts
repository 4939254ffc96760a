/** Reassembles an event from its packs in at most three round trips: the event, its packs, its shared pieces. */
import { Effect } from "effect"
import type { EventNotFound, StorageUnavailable } from "../domain/Errors.ts"
import type { Event, EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as Join from "../payload/Join.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as PackHead from "../payload/format/PackHead.ts"
import * as PackRanges from "../payload/format/PackRanges.ts"
import * as SessionLoader from "../sessions/SessionLoader.ts"
import type { Storage } from "../Storage.ts"

/**
 * An erasure between two round trips can change or delete what is being read, so a defect is retried: the next attempt finds
 * the changed packs, or no event. A defect that remains after this many attempts is damage in the storage.
 */
const maxAttempts = 5

/** Fails with `EventNotFound` if the storage has no such event. Dies if it has one that cannot be read. */
export const read = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  id: EventId
): Effect.fn.Return<Event, EventNotFound | StorageUnavailable> {
  for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
    const exit = yield* Effect.exit(readOnce(storage, project, id))
    if (exit._tag === "Success") return exit.value
    const isDefect = exit.cause.reasons.every(({ _tag }) => _tag === "Die")
    if (!isDefect || attemptsLeft === 1) return yield* exit
  }
})

const readOnce = Effect.fnUntraced(function* (storage: Storage["Service"], project: ProjectId, id: EventId) {
  const { pack, session, summary } = yield* storage.getEvent(project, id)
  const { kind, needs } = PackHead.read(pack.number, pack.bytes)
  // Reads the event's own pack again, so that all packs are from one snapshot.
  const packs =
    needs.length === 0 && kind !== "continues"
      ? [pack]
      : yield* storage.readPacks(project, session, PackRanges.add(needs, { from: pack.number, to: pack.number }))
  if (packs.at(-1)?.number !== pack.number) {
    return yield* Effect.die(new Error(`Pack ${pack.number} of event ${id} is missing`))
  }
  const openPacks = Pack.open(packs)
  const own = openPacks.at(-1)
  if (own?.number !== pack.number) {
    return yield* Effect.die(new Error(`Pack ${pack.number} of event ${id} continues a chain whose start is missing`))
  }

  const pieces = Join.piecesOf(openPacks)
  const { inputs, output } = PackContent.read(own.content)
  const shared = yield* SessionLoader.readShared(storage, project, Join.sharedIn([inputs, output], pieces))
  const payload = {
    inputs: Join.join(inputs, pieces, shared, summary.inputsBytes),
    output: Join.join(output, pieces, shared, summary.outputBytes)
  }
  if (payload.inputs.length !== summary.inputsBytes || payload.output.length !== summary.outputBytes) {
    return yield* Effect.die(new Error(`The pieces of event ${id} do not add up to its recorded size`))
  }
  return { ...summary, payload }
})
