/** Reads sessions as messages and calls, and what agent versions ran with. */
import * as Effect from "effect/Effect"
import type {
  AgentNotFound,
  AgentVersionNotFound,
  EventDamaged,
  EventNotFound,
  Overloaded,
  SessionNotFound
} from "../domain/Errors.ts"
import { inProject } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import * as EventPages from "../read/EventPages.ts"
import { StaleSessions } from "../sessions/StaleSessions.ts"
import type { Result } from "../storage/Result.ts"
import type { ConfigurationPage, ConfigurationQuery } from "./Configurations.ts"
import type { NumberedPage } from "./NumberedPage.ts"
import * as RetriedCalls from "./RetriedCalls.ts"
import type { CallQuery, SessionCall, Source } from "./SessionCalls.ts"
import type { MessagePage, MessageQuery } from "./SessionMessages.ts"
import { SessionReader } from "./SessionReader.ts"

export interface SessionReads {
  /** What an agent version ran with, by its latest calls first. Pages may have the same configuration, whose sums add up. */
  readonly listConfigurations: (
    query: ConfigurationListQuery
  ) => Result<ConfigurationPage, AgentNotFound | AgentVersionNotFound | EventDamaged>
  /** The messages of a session, each once, in the order in which they were carried first. */
  readonly listMessages: (session: SessionId, query: MessageQuery) => Result<MessagePage, SessionNotFound | Overloaded>
  /**
   * The calls of a session, in the order in which they were recorded. With `afterEvent` those after this one, which the session
   * must have.
   */
  readonly listCalls: (
    session: SessionId,
    query: CallQuery
  ) => Result<NumberedPage<SessionCall>, SessionNotFound | EventNotFound | EventDamaged>
  /** The calls of all sessions that failed and were tried again. `limit` counts the failed calls that are looked at. */
  readonly listRetriedCalls: (query: EventPages.EventListQuery) => Result<RetriedCalls.RetriedPage, EventDamaged>
}

type ConfigurationListQuery = Omit<ConfigurationQuery, "fromMs" | "toMs"> & EventPages.Period

export const make = Effect.fnUntraced(function* (source: Source) {
  const sessionReader = new SessionReader(source)
  yield* (yield* StaleSessions).listen((project, session, why) => {
    // Other sessions stay as they are. A client may ask for a damaged event all the time.
    if (why === "damaged") return sessionReader.forgetSession(project, session)
    sessionReader.forget()
  })

  return {
    listMessages: inProject("listMessages", sessionReader.listMessages),
    listCalls: inProject("listCalls", sessionReader.listCalls),
    listRetriedCalls: inProject("listRetriedCalls", (project, query: EventPages.EventListQuery) =>
      RetriedCalls.list(source, sessionReader, project, query)
    ),
    listConfigurations: inProject("listConfigurations", (project, { from, to, ...query }: ConfigurationListQuery) =>
      sessionReader.listConfigurations(project, { ...query, ...EventPages.callsBetween(from, to) })
    )
  } satisfies SessionReads
})
