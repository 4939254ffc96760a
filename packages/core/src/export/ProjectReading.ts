/** What an export reads with, over a storage and the operations of the recorder. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AgentName } from "../domain/Agent.ts"
import { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import * as EventTime from "../domain/EventTime.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as EventReader from "../read/EventReader.ts"
import type { Resources } from "../Resources.ts"
import type { Storage } from "../Storage.ts"
import type { ExportItem, Reading } from "./Exporter.ts"
import type { NamesSeen } from "./NamesSeen.ts"

type Names = Pick<
  Resources,
  | "getAgent"
  | "getAgentVersion"
  | "getFingerprint"
  | "getPerson"
  | "listAgents"
  | "listAgentVersions"
  | "listFingerprints"
  | "listPeople"
>

/** Rows of a page of names. */
const limit = 100

const namesOf =
  (names: Names) =>
  ({ agent, agentVersion, fingerprintId, person }: EventSummary, seen: NamesSeen) => {
    const reads: Array<Effect.Effect<ExportItem, StorageUnavailable | { readonly _tag: `${string}-not-found` }>> = []
    if (seen.add("agent", agent)) {
      reads.push(Effect.map(names.getAgent(agent), (agent) => ({ type: "agent", agent })))
    }
    if (seen.add("version", agent, agentVersion)) {
      reads.push(
        Effect.map(names.getAgentVersion(agent, agentVersion), (version) => ({ type: "agent-version", agent, version }))
      )
    }
    if (person !== null && seen.add("person", person)) {
      reads.push(Effect.map(names.getPerson(person), (person) => ({ type: "person", person })))
    }
    if (seen.add("fingerprint", fingerprintId)) {
      reads.push(
        Effect.map(names.getFingerprint(fingerprintId), (fingerprint) => ({ type: "fingerprint", fingerprint }))
      )
    }
    return found(reads)
  }

/** Without what was erased meanwhile. */
const found = (
  reads: ReadonlyArray<Effect.Effect<ExportItem, StorageUnavailable | { readonly _tag: `${string}-not-found` }>>
) =>
  Effect.map(
    Effect.forEach(reads, (read) =>
      Effect.catchIf(
        read,
        (error): error is Exclude<typeof error, StorageUnavailable> => error._tag !== "storage-unavailable",
        () => Effect.undefined
      )
    ),
    (items) => items.filter((item) => item !== undefined)
  )

/** How often it is asked whether the newest event has settled, and for how long (ms). */
const settledEvery = "50 millis"
const waitMs = 5_000

/** By how much (ms) a watermark moves in that time at least, unless something holds it. */
const minMovedMs = waitMs / 2

/**
 * The newest event, once no event can appear below it any more: what was recorded before an export is in it. It is the watermark, if the
 * newest event is of a process whose clock is ahead. Fails if a transaction is held: an export would leave out what was acknowledged
 * since that began.
 */
const settled = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId
): Effect.fn.Return<EventId | undefined, StorageUnavailable> {
  const [newest] = yield* storage.listEvents(project, { order: "desc", limit: 1 })
  if (newest === undefined) return undefined
  const endMs = (yield* Clock.currentTimeMillis) + waitMs
  const first = yield* storage.watermark(project)
  for (let watermark = first; ;) {
    if (watermark >= newest.id) return newest.id
    if ((yield* Clock.currentTimeMillis) >= endMs) {
      if (EventTime.of(watermark) - EventTime.of(first) >= minMovedMs) return watermark
      const message = "A transaction that has not ended keeps events from being exported"
      return yield* new StorageUnavailable({ cause: new Error(message) })
    }
    yield* Effect.sleep(settledEvery)
    watermark = yield* storage.watermark(project)
  }
})

/** Reads in the current project, which is `project`. */
export const make = (
  storage: Storage["Service"],
  project: ProjectId,
  names: Names,
  events: Pick<Reading, "event" | "page">
): Reading => ({
  ...events,
  newest: settled(storage, project),
  isDamaged: (stored) => EventReader.damageOfFields(project, stored) !== undefined,
  names: {
    agents: (after) => names.listAgents({ after, limit }),
    versions: (agent: AgentName, after) => names.listAgentVersions(agent, { after, limit }),
    people: (after) => names.listPeople({ after, limit }),
    fingerprints: (after) => names.listFingerprints({ after, limit }),
    of: namesOf(names)
  }
})
