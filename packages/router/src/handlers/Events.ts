import { defaultLimit, Events, Sorted } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ReserveAnswer } from "../Engine.ts"
import * as Operation from "./Operation.ts"
import * as CreateEvent from "../events/CreateEvent.ts"
import * as EventResponse from "../events/EventResponse.ts"
import * as ExactBytes from "../events/ExactBytes.ts"
import * as SentEvent from "../events/SentEvent.ts"
import * as BatchLines from "../transfer/BatchLines.ts"
import * as EventLines from "./EventLines.ts"
import * as EventFilter from "./EventFilter.ts"

export const operations = Effect.gen(function* () {
  const recorder = yield* Recorder
  const decode = yield* SentEvent.make
  yield* BatchLines.initialize
  const batchLines = BatchLines.make(recorder, decode)
  return Operation.group("events", {
    createEvent: new Operation.Raw(CreateEvent.make(recorder, decode)),
    createEvents: ({ exchange }) => Effect.succeed(new Operation.Lines(batchLines(exchange))),
    listEvents: Effect.fnUntraced(function* ({ query }) {
      const { limit = defaultLimit, sort = "last" } = query
      const { order = sort === "last" ? "asc" : "desc" } = query
      const filter = { ...EventFilter.of(query), above: query.after_event, below: query.before_event, limit }
      const { plain, sorted } = Events.listCursor
      if (query.retried === "true") {
        const { events, next } = yield* recorder.listRetriedCalls({
          ...filter,
          order,
          after: plain.decode(query.cursor)
        })
        return { events, next_cursor: plain.encode(next) }
      }
      if (sort === "last") {
        const { events, next } = yield* recorder.listEvents({ ...filter, order, after: plain.decode(query.cursor) })
        return { events, next_cursor: plain.encode(next) }
      }
      const { events, next } = yield* recorder.rankEvents({
        ...filter,
        sort,
        order,
        after: sorted.decode(query.cursor)
      })
      return { events, next_cursor: sorted.encode(next && { ...next, by: Sorted.by({ sort, order }) }) }
    }),
    streamEvents: Effect.fnUntraced(function* ({ exchange, query }) {
      const filter = EventFilter.of(query)
      const from = Events.position.decode(query.cursor) ?? (yield* recorder.startFollowing(filter))
      const preferredWait = EventLines.preferredWait(exchange.headers["prefer"])
      if (query.wait !== undefined) {
        const wait = Math.min(query.wait, preferredWait ?? query.wait)
        const { events, next } = yield* recorder.awaitEvents(filter, from, 1000 * wait)
        return { events: events.map(({ summary }) => summary), next_cursor: Events.position.encode(next)! }
      }
      const followed =
        preferredWait === undefined
          ? yield* recorder.followEvents(filter, from)
          : Stream.make(yield* recorder.awaitEvents(filter, from, 1000 * preferredWait))
      return EventLines.of(followed, from)
    }),
    getEvent: Effect.fnUntraced(function* ({ params }) {
      const event = yield* recorder.getEvent(params.event_id, yield* ReserveAnswer)
      return new Operation.Encoded(EventResponse.toAnswer(event))
    }),
    getEventMessages: Effect.fnUntraced(function* ({ params }) {
      const event = yield* recorder.getEvent(params.event_id, yield* ReserveAnswer)
      return new Operation.Encoded(EventResponse.toConversation(event))
    }),
    getEventInputs: Effect.fnUntraced(function* ({ exchange, params }) {
      const event = yield* recorder.getEvent(params.event_id, yield* ReserveAnswer)
      return new Operation.Encoded(ExactBytes.ofEvent(event, "inputs", exchange))
    }),
    getEventOutput: Effect.fnUntraced(function* ({ exchange, params }) {
      const event = yield* recorder.getEvent(params.event_id, yield* ReserveAnswer)
      return new Operation.Encoded(ExactBytes.ofEvent(event, "output", exchange))
    }),
    eraseEvent: ({ params }) => recorder.eraseEvent(params.event_id)
  })
})
