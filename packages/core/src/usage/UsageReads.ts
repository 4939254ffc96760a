/** Reads what events add up to: sessions, groups of calls, and the space that they take. */
import * as Effect from "effect/Effect"
import type { SessionTitles } from "../conversation/SessionTitles.ts"
import { SessionNotFound } from "../domain/Errors.ts"
import { CurrentProject, inProject, type ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { SessionSummary } from "../domain/SessionSummary.ts"
import type { StorageUsage } from "../domain/StorageUsage.ts"
import * as Deriver from "../derive/Deriver.ts"
import * as EventPages from "../read/EventPages.ts"
import type { Period } from "../read/EventPages.ts"
import type { SessionPlace, SessionQuery, StoredSession } from "../rollup/SessionQuery.ts"
import { orderOf, type UsagePage, type UsageQuery } from "../rollup/UsageQuery.ts"
import type { Storage } from "../Storage.ts"
import type { ListPage } from "../storage/Lists.ts"
import type { Result } from "../storage/Result.ts"

/** The period is that of the last call of each session. */
export interface SessionListQuery extends Omit<SessionQuery, "fromMs" | "toMs">, Period {}

type UsageListQuery = Omit<UsageQuery, "fromMs" | "toMs"> & Period

export interface UsageReads {
  /** Sessions in the order of their last calls, with what their calls add up to. */
  readonly listSessions: (query: SessionListQuery) => Result<ListPage<SessionSummary, SessionPlace>>
  readonly getSession: (session: SessionId) => Result<SessionSummary, SessionNotFound>
  /** What events add up to, in groups. */
  readonly sumUsage: (query: UsageListQuery) => Result<UsagePage>
  /** What payloads take as sent and as stored. `sessions` is how many of the largest sessions are listed. */
  readonly storageUsage: (sessions: number) => Result<StorageUsage>
}

export const make = Effect.fnUntraced(function* (storage: Storage["Service"], sessionTitles: SessionTitles) {
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

  const storageUsage = inProject("storageUsage", storage.usage)

  return { listSessions, getSession, sumUsage, storageUsage } satisfies UsageReads
})
