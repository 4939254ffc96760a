/** Checks that each event of a project is in the lists of its session, its agent and its person, and found by its id. */
import { Effect } from "effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { StoredSummary } from "../Storage.ts"
import * as EventCheck from "./EventCheck.ts"
import type { Run } from "./Run.ts"

/** Fingerprints that are remembered to exist. */
const maxFingerprints = 10_000

const kinds = ["session", "agent", "person"] as const
type Kind = (typeof kinds)[number]

/** Checks the events from an id on, or all of them. */
export const check = (
  run: Run,
  project: ProjectId,
  since: EventId | undefined
): Effect.Effect<void, StorageUnavailable> => {
  const fingerprints = new Set<string>()
  const start = since === undefined ? undefined : EventCheck.previousId(since)
  return EventCheck.forEachPage(run, project, {}, start, (page) =>
    run.throttle(checkPage(run, project, page, fingerprints))
  )
}

const checkPage = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId,
  page: ReadonlyArray<StoredSummary>,
  fingerprints: Set<string>
) {
  for (const kind of kinds) {
    const groups = Map.groupBy(page, ({ summary }) => summary?.[kind] ?? undefined)
    for (const [name, group] of groups) {
      if (name !== undefined) yield* compareWithList(run, project, kind, { [kind]: name }, group)
    }
  }
  // The check of its session finds the others.
  for (const listed of page) {
    if ((listed.summary?.session ?? undefined) === undefined) yield* checkWithoutSession(run, project, listed)
  }
  for (const { id, summary } of page) {
    if (summary !== undefined) yield* checkFingerprint(run, project, id, summary, fingerprints)
  }
})

/** The list must have, within the range of the group's ids, exactly the events of the group. */
const compareWithList = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId,
  kind: Kind,
  filter: EventCheck.Filter,
  group: ReadonlyArray<StoredSummary>
) {
  const [first] = group
  const last = group.at(-1)!.id
  const query = { ...filter, order: "asc", after: EventCheck.previousId(first!.id), limit: group.length } as const
  const listed = new Map((yield* run.storage.listEvents(project, query)).map((each) => [each.id, each]))
  for (const each of group) {
    if (!listed.delete(each.id)) yield* lookForMissing(run, project, kind, filter, each)
  }
  for (const id of listed.keys()) {
    // Events recorded in between are in the project's list by now.
    if (id > last || (yield* EventCheck.isListed(run, project, {}, id))) continue
    if ((yield* EventCheck.find(run, project, id)) === undefined) continue
    if (yield* EventCheck.isListed(run, project, {}, id)) continue
    const reason = `The list of its ${kind} has it, the list of the project does not`
    yield* run.report({ problem: "event-not-listed", project, eventId: id, reason })
  }
})

const lookForMissing = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId,
  kind: Kind,
  filter: EventCheck.Filter,
  listed: StoredSummary
) {
  const { id, summary } = listed
  const isFound = (yield* EventCheck.find(run, project, id)) !== undefined
  if (isFound && (yield* EventCheck.isListed(run, project, filter, id))) return
  // The check of the session does not come to it.
  if (kind === "session") yield* EventCheck.check(run, project, {}, listed)
  if (!isFound) return
  const reason = `Its id leads to it, but the list of its ${kind} does not have it`
  yield* run.report({ problem: "event-not-listed", project, session: summary?.session, eventId: id, reason })
})

/** The fields of the event are damaged. */
const checkWithoutSession = Effect.fnUntraced(function* (run: Run, project: ProjectId, listed: StoredSummary) {
  const found = yield* EventCheck.find(run, project, listed.id)
  const session = found && (yield* run.storage.nextSession(project, found.session - 1))
  const isOfSession = session !== undefined && session.number === found?.session && session.id !== undefined
  if (isOfSession && (yield* EventCheck.isListed(run, project, { session: session.id }, listed.id))) return
  yield* EventCheck.check(run, project, {}, listed)
})

const checkFingerprint = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId,
  id: EventId,
  { fingerprintId, session }: EventSummary,
  known: Set<string>
) {
  if (known.has(fingerprintId)) return
  if (yield* run.storage.hasFingerprint(project, fingerprintId)) {
    if (known.size < maxFingerprints) known.add(fingerprintId)
    return
  }
  // A damaged field is reported as that.
  const reason = `Its fingerprint ${fingerprintId} does not exist`
  yield* run.report({ problem: "fingerprint-missing", project, session, eventId: id, reason })
})
