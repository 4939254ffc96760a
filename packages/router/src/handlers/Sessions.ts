import { defaultLimit, Sessions, Sorted } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { ReserveAnswer } from "../Engine.ts"
import { Otlp } from "../otlp/Otlp.ts"
import * as SessionMessages from "../response/SessionMessages.ts"
import * as SessionSteps from "../response/SessionSteps.ts"
import * as Operation from "./Operation.ts"
import * as PageQuery from "./PageQuery.ts"

export const operations = Effect.map(Effect.all([Recorder, Otlp]), ([recorder, otlp]) =>
  Operation.group("sessions", {
    listSessions: Effect.fnUntraced(function* ({ query }) {
      const { limit = defaultLimit, order = "desc", sort = "last" } = query
      const filter = {
        agent: query.agent,
        agentVersion: query.agent_version,
        person: query.person,
        model: query.model,
        isError: query.error === undefined ? undefined : query.error === "true",
        from: query.after?.in(),
        to: query.before?.in(),
        ...{ limit, order }
      }
      const { plain, sorted } = Sessions.listCursor
      if (sort === "last") {
        const { next, rows } = yield* recorder.listSessions({ ...filter, after: plain.decode(query.cursor) })
        return { sessions: rows, next_cursor: plain.encode(next) }
      }
      const { next, rows } = yield* recorder.rankSessions({ ...filter, sort, after: sorted.decode(query.cursor) })
      return { sessions: rows, next_cursor: sorted.encode(next && { ...next, by: Sorted.by({ sort, order }) }) }
    }),
    getSession: ({ params }) => recorder.getSession(params.session),
    eraseSession: ({ exchange, params }) =>
      Effect.andThen(
        otlp.finishAll(exchange.project, { session: params.session }),
        recorder.eraseSession(params.session)
      ),
    listSessionMessages: Effect.fnUntraced(function* ({ params, query }) {
      const isVerbatim = query.verbatim === "true"
      const { damagedCalls, next, rows } = yield* recorder.listMessages(params.session, {
        above: query.after_number,
        isVerbatim,
        order: query.order ?? "asc",
        reserve: yield* ReserveAnswer,
        ...PageQuery.of(query, Sessions.cursor)
      })
      return new Operation.Encoded(
        SessionMessages.toAnswer(rows, damagedCalls, Sessions.cursor.encode(next), isVerbatim)
      )
    }),
    listSessionCalls: ({ params, query }) =>
      Effect.map(
        recorder.listCalls(params.session, {
          afterEvent: query.after_event,
          order: query.order ?? "asc",
          ...PageQuery.of(query, Sessions.cursor)
        }),
        ({ next, rows }) => ({ calls: rows, next_cursor: Sessions.cursor.encode(next) })
      ),
    listSessionSteps: Effect.fnUntraced(function* ({ params, query }) {
      const reserve = yield* ReserveAnswer
      const page = yield* recorder.listSteps(params.session, { reserve, ...PageQuery.of(query, Sessions.stepCursor) })
      return new Operation.Encoded(SessionSteps.toAnswer(page, Sessions.stepCursor.encode(page.next)))
    })
  })
)
