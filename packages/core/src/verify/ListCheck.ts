/** Checks that each event of a project is in the lists of its session, its agent and its person, and found by its id. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { SessionId } from "../domain/Session.ts"
import type { StoredSummary } from "../storage/Stored.ts"
import * as Uuid from "../domain/Uuid.ts"
import * as EventCheck from "./EventCheck.ts"
import { attempt, type ProjectVerification } from "./Verification.ts"

/** Events in one page. */
const pageEvents = 500

/** Fingerprints that are remembered to exist. */
const maxFingerprints = 10_000

/** Rules of events that are compared with the counters. */
const maxRules = 1_000

const kinds = ["session", "agent", "person"] as const
type Kind = (typeof kinds)[number]

/** Checks the lists that must have the events from an id on, or all of them. */
export const check = (
  run: ProjectVerification,
  since: EventId | undefined
): Effect.Effect<void, StorageUnavailable> => {
  const fingerprints = new Set<string>()
  const rules = new Map<string, EventId>()
  const pages = forEachPage(run, since, (page) =>
    Effect.map(attempt(run, run.throttle(checkPage(run, page, fingerprints))), () => {
      run.counts.listedEvents += page.length
      for (const { id, rules: of } of page) if (of !== undefined && rules.size < maxRules) rules.set(of, id)
    })
  )
  return Effect.andThen(pages, attempt(run, checkRules(run, rules)))
}

const listOnly = (run: ProjectVerification, id: EventId) =>
  run.storage.listEvents(run.project, { order: "asc", after: Uuid.previous(id), limit: 1 })

/** Events are counted by the rules by which their facts were computed. `rules` have an event each. */
const checkRules = Effect.fnUntraced(function* (run: ProjectVerification, rules: ReadonlyMap<string, EventId>) {
  for (const [name, eventId] of rules) {
    // Others may compute the event by newer rules meanwhile, or erase it.
    const isStill = Effect.map(listOnly(run, eventId), ([listed]) => listed?.id === eventId && listed.rules === name)
    if (!(yield* isStill)) continue
    const inUse = yield* run.storage.rulesInUse(run.project)
    if (inUse.some((each) => each.rules === name) || !(yield* isStill)) continue
    const reason = `It is by the rules ${JSON.stringify(name)}, of which none is counted`
    yield* run.report({ problem: "counter-wrong", eventId, reason })
  }
})

/** Checks the events of sessions whose own lists cannot be read, and those whose session cannot. */
export const checkEventsOf = (
  run: ProjectVerification,
  sessions: ReadonlySet<SessionId>
): Effect.Effect<void, StorageUnavailable> =>
  forEachPage(run, undefined, (page) =>
    EventCheck.checkAll(
      run,
      page
        .filter(({ summary }) => summary === undefined || sessions.has(summary.session))
        .map(({ id, summary }) => ({
          id,
          session: summary?.session,
          isStill: EventCheck.isListed(run, {}, id)
        }))
    )
  )

/** Pages of the project's list. */
const forEachPage = Effect.fnUntraced(function* (
  run: ProjectVerification,
  since: EventId | undefined,
  use: (page: ReadonlyArray<StoredSummary>) => Effect.Effect<unknown, StorageUnavailable>
): Effect.fn.Return<void, StorageUnavailable> {
  let after = since === undefined ? undefined : Uuid.previous(since)
  for (;;) {
    const query = { order: "asc", limit: pageEvents, ...(after === undefined ? {} : { after }) } as const
    const page = yield* attempt(run, run.throttle(run.storage.listEvents(run.project, query)))
    if (page === undefined || page.length === 0) return
    yield* use(page)
    const last = page.at(-1)!.id
    if (after !== undefined && last <= after) {
      const reason = `The list of events does not go on after ${after}`
      return yield* run.report({ problem: "unreadable", reason })
    }
    after = last
  }
})

const checkPage = Effect.fnUntraced(function* (
  run: ProjectVerification,
  page: ReadonlyArray<StoredSummary>,
  fingerprints: Set<string>
) {
  for (const kind of kinds) {
    const groups = Map.groupBy(page, ({ summary }) => summary?.[kind] ?? undefined)
    for (const [name, group] of groups) {
      if (name !== undefined) yield* compareWithList(run, kind, { [kind]: name }, group)
    }
  }
  for (const { id, summary } of page) {
    if (summary !== undefined) yield* checkFingerprint(run, id, summary, fingerprints)
  }
})

/** The list must have, within the range of the group's ids, exactly the events of the group. */
const compareWithList = Effect.fnUntraced(function* (
  run: ProjectVerification,
  kind: Kind,
  filter: EventCheck.Filter,
  group: ReadonlyArray<StoredSummary>
) {
  const [first] = group
  const last = group.at(-1)!.id
  const query = { ...filter, order: "asc", after: Uuid.previous(first!.id), limit: group.length } as const
  const listed = new Map((yield* run.storage.listEvents(run.project, query)).map((each) => [each.id, each]))
  for (const each of group) {
    if (!listed.delete(each.id)) yield* lookForMissing(run, kind, filter, each)
  }
  for (const id of listed.keys()) {
    // Events recorded in between are in the project's list by now.
    if (id > last || (yield* EventCheck.isListed(run, {}, id))) continue
    if (!(yield* EventCheck.isFound(run, id))) continue
    if (yield* EventCheck.isListed(run, {}, id)) continue
    const reason = `The list of its ${kind} has it, the list of the project does not`
    yield* run.report({ problem: "event-not-listed", eventId: id, reason })
  }
})

const lookForMissing = Effect.fnUntraced(function* (
  run: ProjectVerification,
  kind: Kind,
  filter: EventCheck.Filter,
  listed: StoredSummary
) {
  const { id, summary } = listed
  const isFound = yield* EventCheck.isFound(run, id)
  if (isFound && (yield* EventCheck.isListed(run, filter, id))) return
  // The check of the session may not come across it.
  if (kind === "session") {
    const isStill = EventCheck.isListed(run, {}, id)
    yield* EventCheck.check(run, { id, session: summary?.session, isStill })
  }
  if (!isFound) return
  const reason = `Its id leads to it, but the list of its ${kind} does not have it`
  yield* run.report({ problem: "event-not-listed", session: summary?.session, eventId: id, reason })
})

const checkFingerprint = Effect.fnUntraced(function* (
  run: ProjectVerification,
  id: EventId,
  { fingerprintId, session }: EventSummary,
  known: Set<string>
) {
  if (known.has(fingerprintId)) return
  if (yield* run.storage.hasFingerprint(run.project, fingerprintId)) {
    if (known.size < maxFingerprints) known.add(fingerprintId)
    return
  }
  // A damaged field is reported as that.
  const reason = `Its fingerprint ${fingerprintId} does not exist`
  yield* run.report({ problem: "fingerprint-missing", session, eventId: id, reason })
})
