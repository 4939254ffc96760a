/** Puts an event together again from its packs: at most three round trips, to the event, its packs, and its shared pieces. */
import { Effect } from "effect"
import { EventNotFound, type StorageUnavailable } from "../domain/Errors.ts"
import type { Event, EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as Join from "../payload/Join.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as PackHead from "../payload/format/PackHead.ts"
import * as PackRanges from "../payload/format/PackRanges.ts"
import * as SessionLoader from "../sessions/SessionLoader.ts"
import type { Storage } from "../Storage.ts"

/** An erasure between two round trips may take what is being read; then it is read again, so often at most. */
const maxTries = 5

export const read = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  id: EventId
): Effect.fn.Return<Event, EventNotFound | StorageUnavailable> {
  for (let left = maxTries; ; left--) {
    const exit = yield* Effect.exit(readOnce(storage, project, id))
    if (exit._tag === "Success") return exit.value
    if (left === 1) return yield* exit
    // Fails where the event is gone, and is worth another try where its packs had only changed.
    if (exit.cause.reasons.some(({ _tag }) => _tag !== "Die")) return yield* exit
  }
})

const readOnce = Effect.fnUntraced(function* (storage: Storage["Service"], project: ProjectId, id: EventId) {
  const { pack, session, summary } = yield* storage.getEvent(project, id)
  const { kind, needs } = PackHead.read(pack.number, pack.bytes)
  const packs =
    needs.length === 0 && kind !== "continues"
      ? [pack]
      : // The event's own pack once more, so that all are of one moment.
        yield* storage.readPacks(project, session, PackRanges.add(needs, { from: pack.number, to: pack.number }))
  const opened = Pack.open(packs)
  const own = opened.at(-1)
  if (own?.number !== pack.number) return yield* new EventNotFound()

  const pieces = Join.piecesOf(opened)
  const { inputs, output } = PackContent.read(own.content)
  const shared = yield* SessionLoader.readShared(storage, project, Join.sharedIn([inputs, output], pieces))
  const payload = {
    inputs: Join.join(inputs, pieces, shared, summary.inputsBytes),
    output: Join.join(output, pieces, shared, summary.outputBytes)
  }
  if (payload.inputs.length !== summary.inputsBytes || payload.output.length !== summary.outputBytes) {
    return yield* Effect.die(new Error(`The pieces of event ${id} do not add up`))
  }
  return { ...summary, payload }
})
