import { Events, TachographApi } from "@tachograph/api"
import { type Event, EventJson, JsonText, ModelFactsReader, type NewEvent, Recorder } from "@tachograph/core"
import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as JsonResponse from "../JsonResponse.ts"
import * as RequestBody from "../RequestBody.ts"

const createEventBody = RequestBody.decode(Events.CreateEvent)

/** What the recorder takes, out of a body of Create Event and the text that it was read from. */
export const toNewEvent = ({ text, value }: RequestBody.Decoded<typeof Events.CreateEvent.Type>): NewEvent => {
  const { api, inputs, output } = value.properties
  return {
    api,
    fingerprintId: value.fingerprint_id,
    session: value.session,
    agent: value.agent,
    agentVersion: value.agent_version,
    person: value.person,
    occurredAt: value.occurred_at,
    durationMs: value.duration_ms,
    payload: EventJson.payloadOf(text),
    facts: ModelFactsReader.read(api, inputs, output)
  }
}

const toResponse = (event: Event) =>
  JsonResponse.make(
    JsonText.object({
      event_id: JsonText.of(event.id),
      received_at: JsonText.of(DateTime.formatIso(event.receivedAt)),
      event_name: JsonText.of("llm"),
      properties: JsonText.object({ api: JsonText.of(event.api), ...event.payload }),
      fingerprint_id: JsonText.of(event.fingerprintId),
      agent: JsonText.of(event.agent),
      agent_version: JsonText.of(event.agentVersion),
      person: JsonText.of(event.person),
      session: JsonText.of(event.session),
      occurred_at: JsonText.of(event.occurredAt && DateTime.formatIso(event.occurredAt)),
      duration_ms: JsonText.of(event.durationMs)
    })
  )

export const layer = HttpApiBuilder.group(
  TachographApi,
  "events",
  Effect.fn(function* (handlers) {
    const recorder = yield* Recorder
    return handlers
      .handleRaw(
        "createEvent",
        Effect.fn("createEvent")(function* ({ request }) {
          return yield* recorder.createEvent(toNewEvent(yield* createEventBody(request)))
        })
      )
      .handle(
        "listEvents",
        Effect.fn("listEvents")(function* ({ query }) {
          const { events, next } = yield* recorder.listEvents({
            session: query.session,
            agent: query.agent,
            agentVersion: query.agent_version,
            person: query.person,
            order: query.order ?? "asc",
            after: query.cursor,
            limit: query.limit ?? Events.defaultLimit
          })
          return { events, next_cursor: next === undefined ? null : Events.encodeCursor(next) }
        })
      )
      .handle("getEvent", ({ params }) => Effect.map(recorder.getEvent(params.event_id), toResponse))
  })
)
