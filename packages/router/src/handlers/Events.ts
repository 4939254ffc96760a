import { Events } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import { StopReason } from "@tachograph/core/domain/CallFacts"
import { Effect, Schema } from "effect"
import { ReserveAnswer } from "../Engine.ts"
import * as Operation from "./Operation.ts"
import * as CreateEvent from "../events/CreateEvent.ts"
import * as EventResponse from "../events/EventResponse.ts"
import * as PageQuery from "./PageQuery.ts"

const isStopReason = Schema.is(StopReason)

/** A reason in the words of all providers, or in the provider's own. */
const stopReasonOf = (word: string | undefined) =>
  isStopReason(word) ? { stopReason: word } : { providerStopReason: word }

export const operations = Effect.gen(function* () {
  const recorder = yield* Recorder
  const createEvent = yield* CreateEvent.make
  return Operation.group("events", {
    createEvent: new Operation.Raw(createEvent),
    listEvents: ({ query }) =>
      Effect.map(
        recorder.listEvents({
          session: query.session,
          agent: query.agent,
          agentVersion: query.agent_version,
          person: query.person,
          fields: {
            fingerprintId: query.fingerprint,
            api: query.api,
            model: query.model,
            ...stopReasonOf(query.stop_reason),
            isError: query.error === undefined ? undefined : query.error === "true",
            traceId: query.trace_id
          },
          from: query.after,
          to: query.before,
          order: query.order ?? "asc",
          ...PageQuery.of(query, Events.cursor)
        }),
        ({ events, next }) => ({ events, next_cursor: Events.cursor.encode(next) })
      ),
    getEvent: Effect.fnUntraced(function* ({ params }) {
      const event = yield* recorder.getEvent(params.event_id, yield* ReserveAnswer)
      return new Operation.Encoded(EventResponse.toAnswer(event))
    }),
    getEventMessages: Effect.fnUntraced(function* ({ params }) {
      const event = yield* recorder.getEvent(params.event_id, yield* ReserveAnswer)
      return new Operation.Encoded(EventResponse.toConversation(event))
    })
  })
})
