/** Reads what events add up to: sessions, groups of calls, and the space that they take. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SessionTitles } from "../conversation/SessionTitles.ts"
import { SessionNotFound } from "../domain/Errors.ts"
import type { EventSummary } from "../domain/Event.ts"
import { CurrentProject, inProject, type ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { SessionSummary } from "../domain/SessionSummary.ts"
import type { StorageUsage } from "../domain/StorageUsage.ts"
import * as Deriver from "../derive/Deriver.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventPages from "../read/EventPages.ts"
import * as EventReader from "../read/EventReader.ts"
import type { Period } from "../read/EventPages.ts"
import type { Rank } from "../rollup/Ranking.ts"
import type { SessionPlace, SessionQuery, SessionRanking, StoredSession } from "../rollup/SessionQuery.ts"
import { orderOf, type UsagePage, type UsageQuery } from "../rollup/UsageQuery.ts"
import type { Storage } from "../Storage.ts"
import type { EventRank, EventRanking, ListPage } from "../storage/Lists.ts"
import type { Result } from "../storage/Result.ts"
import * as PeopleUsage from "./PeopleUsage.ts"

/** The period is that of the last call of each session. */
export interface SessionListQuery extends Omit<SessionQuery, "fromMs" | "toMs">, Period {}

type UsageListQuery = Omit<UsageQuery, "fromMs" | "toMs"> & Period

export interface EventRankingQuery
  extends EventPages.EventFilterQuery, Pick<EventRanking, "sort" | "order" | "after" | "above" | "below" | "limit"> {}

interface RankedEvents {
  readonly events: ReadonlyArray<EventSummary>
  readonly next: EventRank | undefined
}

interface SessionRankingQuery extends Omit<SessionRanking, "fromMs" | "toMs">, Period {}

export interface UsageReads {
  /** Sessions in the order of their last calls, with what their calls add up to. */
  readonly listSessions: (query: SessionListQuery) => Result<ListPage<SessionSummary, SessionPlace>>
  readonly getSession: (session: SessionId) => Result<SessionSummary, SessionNotFound>
  /** What events add up to, in groups. */
  readonly sumUsage: (query: UsageListQuery) => Result<UsagePage>
  /** Calls sorted by a figure. Those whose fields are damaged are left out, and logged: their figures are not known. */
  readonly rankEvents: (query: EventRankingQuery) => Result<RankedEvents>
  /** Sessions sorted by what their calls add up to. */
  readonly rankSessions: (query: SessionRankingQuery) => Result<ListPage<SessionSummary, Rank>>
  /** A page may have fewer people than `limit` although there are more. */
  readonly listPeopleWithUsage: (query: PeopleUsage.PeopleQuery) => Result<ListPage<PeopleUsage.PersonUsage, number>>
  /** What payloads take as sent and as stored. `sessions` is how many of the largest sessions are listed. */
  readonly storageUsage: (sessions: number) => Result<StorageUsage>
}

export const make = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sessionTitles: SessionTitles,
  logDamage: DamageLog.OnDamage
) {
  const deriveBefore = yield* Deriver.beforeReads

  const withTitles = Effect.fnUntraced(function* (project: ProjectId, sessions: ReadonlyArray<StoredSession>) {
    const firstEvents = sessions.map(({ firstEvent }) => firstEvent)
    const titles = yield* sessionTitles.of(project, firstEvents)
    return sessions.map((stored, index): SessionSummary => {
      const { firstEvent: _, ...session } = stored
      return { ...session, title: titles[index]! }
    })
  })

  const listSessions = Effect.fn("Recorder.listSessions")(function* ({ from, to, ...query }: SessionListQuery) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    const { next, rows } = yield* storage.listSessions(project, { ...query, ...EventPages.callsBetween(from, to) })
    return { rows: yield* withTitles(project, rows), next }
  })

  const getSession = Effect.fn("Recorder.getSession")(function* (session: SessionId) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    const found = (yield* storage.sessionSummary(project, session)) ?? (yield* new SessionNotFound())
    const [summary] = yield* withTitles(project, [found])
    return summary!
  })

  const sumUsage = Effect.fn("Recorder.sumUsage")(function* ({ from, groupBy, to, ...query }: UsageListQuery) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    return yield* storage.sumUsage(project, {
      ...query,
      groupBy: orderOf(groupBy),
      ...EventPages.callsBetween(from, to)
    })
  })

  const rankSessions = Effect.fn("Recorder.rankSessions")(function* ({ from, to, ...query }: SessionRankingQuery) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    const { next, rows } = yield* storage.rankSessions(project, { ...query, ...EventPages.callsBetween(from, to) })
    return { rows: yield* withTitles(project, rows), next }
  })

  const rankEvents = Effect.fn("Recorder.rankEvents")(function* (query: EventRankingQuery) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    const { after, fields = {}, limit, order, sort } = query
    const { next, rows } = yield* storage.rankEvents(project, {
      ...EventPages.within(query),
      ...{ after, fields, limit, order, sort }
    })
    const events = yield* Effect.forEach(rows, (stored) =>
      EventReader.summaryOf(project, stored, logDamage).pipe(
        Effect.asSome,
        Effect.catchTag("event-damaged", () => Effect.succeedNone)
      )
    )
    return { events: events.flatMap(Option.toArray), next }
  })

  const listPeopleWithUsage = Effect.fn("Recorder.listPeopleWithUsage")(function* (query: PeopleUsage.PeopleQuery) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    return yield* PeopleUsage.list(storage, project, query)
  })

  const storageUsage = inProject("storageUsage", storage.usage)

  return {
    listSessions,
    rankSessions,
    rankEvents,
    getSession,
    sumUsage,
    listPeopleWithUsage,
    storageUsage
  } satisfies UsageReads
})
