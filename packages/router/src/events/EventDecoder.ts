/** From the body and the headers of Create Event to the event that the recorder takes. */
import { type ErrorDetail, Events, ValidationFailure } from "@tachograph/api"
import { EventJson, IdempotencyKey, ModelFactsReader, type NewEvent, PieceScanner } from "@tachograph/core"
import { Effect, Option, Schema } from "effect"
import { hash } from "node:crypto"
import * as JsonBody from "../validation/JsonBody.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"

/** The decoded event without what the engine adds. */
type DecodedEvent = Omit<NewEvent, "idempotency" | "arrivedAtMs" | "isAdmitted">

const decodeValue = Schema.decodeUnknownOption(Events.CreateEvent)
/** A payload may be nested to any depth. */
const decodeBody = JsonBody.decoder(Events.CreateEvent, Number.POSITIVE_INFINITY)
const decodeKey = ValidationDetail.decodeNamed(IdempotencyKey, "header", Events.idempotencyKeyHeader)

/** Fields are listed one by one, so that the compiler reports a missing one. */
const toNewEvent = (value: typeof Events.CreateEvent.Type, payload: PieceScanner.ScannedPayload) => {
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
  } satisfies Record<keyof DecodedEvent, unknown>
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type KnownPrefixesOf = (session: string) => PieceScanner.KnownPrefixes

/** Parses only what the session does not know already. Undefined if the body is not obviously a valid event. */
const decodeValid = (bytes: Buffer, knownPrefixesOf: KnownPrefixesOf): DecodedEvent | undefined => {
  const opened = EventJson.open(bytes, knownPrefixesOf)
  if (opened === undefined) return undefined
  const value = Option.getOrUndefined(decodeValue(parse(opened.reduced)))
  return value && toNewEvent(value, opened.payload)
}

/** Parses the whole body, to say everything that is wrong with it. */
const decodeWhole = Effect.fnUntraced(function* (body: JsonBody.Body) {
  const { text, value } = yield* decodeBody(body)
  const opened = EventJson.open(Buffer.from(text), () => PieceScanner.noKnownPrefixes)
  if (opened === undefined) return yield* Effect.die(new Error("A valid event has no payload"))
  return toNewEvent(value, opened.payload)
})

const detailOf = <A>(decoded: Effect.Effect<A, ValidationFailure>): Effect.Effect<ReadonlyArray<ErrorDetail>> =>
  Effect.match(decoded, { onSuccess: () => [], onFailure: ({ detail }) => detail })

/**
 * Decodes a body that is complete, synchronously where it is valid: the work of a large body is done in one slice. `key` is
 * the `Idempotency-Key`, if there is one. Fails with everything that is wrong with the header and the body.
 */
export const decode = (
  body: { readonly bytes: Buffer; readonly isJson: boolean },
  key: string | undefined,
  knownPrefixesOf: KnownPrefixesOf
): Effect.Effect<NewEvent, ValidationFailure> => {
  const valid = body.isJson ? decodeValid(body.bytes, knownPrefixesOf) : undefined
  if (valid !== undefined && key === undefined) return Effect.succeed(valid)
  return Effect.gen(function* () {
    const event = valid === undefined ? decodeWhole(body) : Effect.succeed(valid)
    if (key === undefined) return yield* event
    const decodedKey = decodeKey(key)
    const detail = [...(yield* detailOf(decodedKey)), ...(valid === undefined ? yield* detailOf(event) : [])]
    if (detail.length > 0) return yield* new ValidationFailure({ detail })
    // The same key with another body is refused, so the event carries a hash of the body.
    const bodyHash = hash("sha256", body.bytes, "buffer")
    return { ...(yield* event), idempotency: { key: yield* decodedKey, bodyHash } }
  })
}
