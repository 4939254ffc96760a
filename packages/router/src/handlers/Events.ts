import { Events, TachographApi } from "@tachograph/api"
import { CurrentProject, Errors, type Event, JsonText, Recorder, type WrittenEvent } from "@tachograph/core"
import { DateTime, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as EventDecoder from "../events/EventDecoder.ts"
import * as JsonResponse from "../response/JsonResponse.ts"
import * as RequestState from "../front/RequestState.ts"
import * as RequestBody from "../front/RequestBody.ts"

/** Says that the answer is that of an earlier request. */
export const replayed = ["idempotent-replayed", "true"] as const

/** The payload's bytes are spliced in as they are. */
const toResponse = (event: Event) => {
  const around = JsonText.object({
    event_id: JsonText.of(event.id),
    received_at: JsonText.of(DateTime.formatIso(event.receivedAt)),
    event_name: JsonText.of("llm"),
    properties: JsonText.object({ api: JsonText.of(event.api), inputs: hole, output: hole }),
    fingerprint_id: JsonText.of(event.fingerprintId),
    agent: JsonText.of(event.agent),
    agent_version: JsonText.of(event.agentVersion),
    person: JsonText.of(event.person),
    session: JsonText.of(event.session),
    occurred_at: JsonText.of(event.occurredAt && DateTime.formatIso(event.occurredAt)),
    duration_ms: JsonText.of(event.durationMs)
  })
  const [before = "", between = "", after = ""] = around.split(hole)
  const { inputs, output } = event.payload
  return JsonResponse.ofBytes([Buffer.from(before), inputs, Buffer.from(between), output, Buffer.from(after)])
}

/** Nothing in it needs to be escaped. */
export const receiptOf = ({ id, receivedAt }: WrittenEvent): JsonText.JsonText => {
  const iso = new Date(receivedAt.epochMilliseconds).toISOString()
  return JsonText.unsafe(`{"event_id":"${id}","received_at":"${iso}"}`)
}

const toReceipt = (written: WrittenEvent) => {
  const response = JsonResponse.make(receiptOf(written))
  return written.isReplay ? HttpServerResponse.setHeader(response, ...replayed) : response
}

/** Stands for a half of the payload in the text around it. No JSON text has it in any other place: it would be escaped. */
const hole = JsonText.unsafe("\u0000")

export const layer = HttpApiBuilder.group(
  TachographApi,
  "events",
  Effect.fn(function* (handlers) {
    const recorder = yield* Recorder
    return handlers
      .handleRaw(
        "createEvent",
        Effect.fn("createEvent")(function* ({ headers, request }) {
          const announced = RequestBody.announcedIn(request.headers)
          const place = RequestState.enter(recorder.admission, request.source)
          // What is too large by what it says is told so.
          const isTold = announced > (yield* RequestBody.maxBytes)
          if (!isTold && !place.canAdmit(announced)) return yield* new Errors.Overloaded()
          const body = yield* RequestBody.read(request)
          if (!place.enqueue()) return yield* new Errors.Overloaded()
          const event = yield* EventDecoder.decode(body, yield* CurrentProject, recorder.knownPrefixesOf)
          const key = headers[Events.idempotencyKeyHeader]
          return toReceipt(yield* recorder.createEvent(EventDecoder.withKey(event, key, body.bytes)))
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
