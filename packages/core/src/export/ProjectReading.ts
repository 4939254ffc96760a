/** What an export reads with, over a storage and the operations of the recorder. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AgentName } from "../domain/Agent.ts"
import { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as EventReader from "../read/EventReader.ts"
import type { Resources } from "../Resources.ts"
import type { Storage } from "../Storage.ts"
import type { ExportItem, Extent, Named, Reading } from "./Exporter.ts"
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
  ({ agent, agentVersion, fingerprintId, person }: Named, seen: NamesSeen) => {
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
    if (fingerprintId !== undefined && seen.add("fingerprint", fingerprintId)) {
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

/** How often it is asked what has settled, and for how long an export waits until its end and its beginning have (ms). */
const askedEvery = "50 millis"
const maxWaitMs = { end: 5_000, beginning: 20_000 }

/**
 * How far an export goes that begins now, after an event. Its end is the newest event, so that all is in it that was acknowledged
 * before. While a transaction is held, or if a clock is ahead, the end may not have settled; fails if the beginning has not.
 */
const extent = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  after: EventId | undefined
): Effect.fn.Return<Extent | undefined, StorageUnavailable> {
  const [newest] = yield* storage.listEvents(project, { order: "desc", limit: 1 })
  if (newest === undefined) return undefined
  const begunMs = yield* Clock.currentTimeMillis
  for (;;) {
    const found = { end: newest.id, settled: yield* storage.watermark(project) }
    const waitedMs = (yield* Clock.currentTimeMillis) - begunMs
    if (found.settled >= newest.id) return found
    const isBegun = after === undefined || found.settled >= after || newest.id <= after
    if (isBegun && waitedMs >= maxWaitMs.end) return found
    if (waitedMs >= maxWaitMs.beginning) {
      const message = "A transaction that has not ended may still add events before the one to continue after"
      return yield* new StorageUnavailable({ cause: new Error(message) })
    }
    yield* Effect.sleep(askedEvery)
  }
})

/** Reads in the current project, which is `project`. */
export const make = (
  storage: Storage["Service"],
  project: ProjectId,
  names: Names,
  events: Pick<Reading, "event" | "page" | "steps">
): Reading => ({
  ...events,
  extent: (after) => extent(storage, project, after),
  isDamaged: (stored) => EventReader.damageOfFields(project, stored) !== undefined,
  names: {
    agents: (after) => names.listAgents({ after, limit }),
    versions: (agent: AgentName, after) => names.listAgentVersions(agent, { after, limit }),
    people: (after) => names.listPeople({ after, limit }),
    fingerprints: (after) => names.listFingerprints({ after, limit }),
    of: namesOf(names)
  }
})
