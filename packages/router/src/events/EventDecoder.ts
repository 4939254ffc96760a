/** From the body of Create Event to what the recorder takes. */
import { Events, type ValidationFailure } from "@tachograph/api"
import {
  EventJson,
  IdempotencyKey,
  PieceScanner,
  ModelFactsReader,
  type NewEvent,
  type ProjectId
} from "@tachograph/core"
import { Effect, Option, Schema } from "effect"
import { hash } from "node:crypto"
import * as RequestBody from "../front/RequestBody.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"

type KnownPrefixesOf = (project: ProjectId, session: string) => PieceScanner.KnownPrefixes

const decodeValue = Schema.decodeUnknownOption(Events.CreateEvent)
const decodeBody = RequestBody.decodeBody(Events.CreateEvent)

const toNewEvent = (value: typeof Events.CreateEvent.Type, payload: PieceScanner.ScannedPayload): NewEvent => {
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
    payload,
    facts: ModelFactsReader.read(api, inputs, output)
  }
}

/** So that sending the body again under the same key does no more. */
export const withKey = (event: NewEvent, key: IdempotencyKey | undefined, body: Uint8Array): NewEvent =>
  key === undefined ? event : { ...event, idempotency: { key, bodyHash: hash("sha256", body, "buffer") } }

export const decodeKey = ValidationDetail.decodeOption(IdempotencyKey, "header", Events.idempotencyKeyHeader)

/** Parses only what is not known of the session already. Undefined where the body is not plainly an event. */
export const decodePlain = (
  bytes: Buffer,
  project: ProjectId,
  knownPrefixesOf: KnownPrefixesOf
): NewEvent | undefined => {
  const opened = EventJson.open(bytes, (session) => knownPrefixesOf(project, session))
  if (opened === undefined) return undefined
  const value = Option.getOrUndefined(decodeValue(parsed(opened.reduced)))
  return value && toNewEvent(value, opened.payload)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const decode = Effect.fnUntraced(function* (
  body: RequestBody.Body,
  project: ProjectId,
  knownPrefixesOf: KnownPrefixesOf
): Effect.fn.Return<NewEvent, ValidationFailure> {
  const plain = body.json ? decodePlain(body.bytes, project, knownPrefixesOf) : undefined
  if (plain !== undefined) return plain
  // Says what is wrong with it, all of it being looked at.
  const { text, value } = yield* decodeBody(body)
  const opened = EventJson.open(Buffer.from(text), () => PieceScanner.noKnownPrefixes)
  return opened === undefined
    ? yield* Effect.die(new Error("A valid event whose payload was not found"))
    : toNewEvent(value, opened.payload)
})
