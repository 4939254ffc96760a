/** From the body and the headers of Create Event to the event that the recorder takes. */
import { type ErrorDetail, Events, ValidationFailure } from "@tachograph/api"
import {
  type Errors,
  EventJson,
  IdempotencyKey,
  JsonText,
  JsonValue,
  maxMetadataBytes,
  type NewEvent,
  PieceScanner,
  ReadFacts,
  type Scan,
  type Steps
} from "@tachograph/core"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { hash } from "node:crypto"
import * as ErrorInput from "../validation/ErrorInput.ts"
import * as JsonBody from "../validation/JsonBody.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"

/** The decoded event without what the engine adds. */
type DecodedEvent = Omit<NewEvent, "idempotency" | "arrivedAtMs" | "isAdmitted">

/** An event, and the unknown fields of its body. */
export interface Decoded<Event> {
  readonly event: Event
  readonly ignored: ReadonlyArray<Scan.Path>
}

const decodeValue = Schema.decodeUnknownOption(Events.CreateEvent)

/** The idempotency key in the header of Create Event. */
export const keyOfHeader = ValidationDetail.decodeNamed(IdempotencyKey, "header", Events.idempotencyKeyHeader)

/** An idempotency key; null if there is none. */
export type Key = Effect.Effect<IdempotencyKey | null, ValidationFailure>

const { properties, ...beside } = Events.CreateEvent.fields

/** All that the event is made of. */
const fields = JsonValue.fieldsAt(
  [
    ...Object.keys(beside).map((name) => [name]),
    ...Object.keys(properties.fields).map((name) => ["properties", name]),
    ...ReadFacts.inputsPaths.map((path) => ["properties", "inputs", ...path])
  ],
  [["properties", "output"]]
)

const metadataTooLong = Violation.valueError(`metadata cannot have more than ${maxMetadataBytes} bytes of JSON`)

/** What is known beside the body. */
export interface Known {
  readonly prefixesOf: (session: string) => PieceScanner.KnownPrefixes
  readonly readFacts: typeof ReadFacts.read
  /** Whether unknown fields are refused. */
  readonly isStrict: boolean
}

/** Fields are listed one by one, so that the compiler reports a missing one. */
const toNewEvent = (
  bytes: Buffer,
  value: typeof Events.CreateEvent.Type,
  { ignored, metadata: span, payload }: Pick<EventJson.OpenEvent, "ignored" | "metadata" | "payload">,
  { isStrict, readFacts }: Known
): Decoded<DecodedEvent> | ValidationFailure => {
  const { api, inputs, output } = value.properties
  const metadata = value.metadata && span ? bytes.subarray(span.start, span.end) : undefined
  if (metadata !== undefined && metadata.length > maxMetadataBytes) {
    const input = ErrorInput.inJson(bytes)([["metadata"]])[0]
    return new ValidationFailure({ detail: [{ ...metadataTooLong, loc: ["body", "metadata"], input }] })
  }
  if (isStrict && ignored.length > 0) {
    return new ValidationFailure({ detail: ValidationDetail.extras(ignored, ErrorInput.inJson(bytes)) })
  }
  const event = {
    api,
    fingerprintId: value.fingerprint_id,
    session: value.session,
    agent: value.agent,
    agentVersion: value.agent_version,
    person: value.person,
    occurredAt: value.occurred_at,
    durationMs: value.duration_ms,
    firstTokenMs: value.first_token_ms,
    httpStatus: value.http_status,
    traceId: value.trace_id,
    spanId: value.span_id,
    recorded: value.recorded,
    metadata: metadata && JsonText.unsafe(metadata.toString()),
    payload,
    facts: readFacts(api, inputs, output, { model: value.model, httpStatus: value.http_status })
  } satisfies Record<keyof DecodedEvent, unknown>
  return { event, ignored }
}

/** Does the steps of a decoder. Fails if there is no time for them. */
export type RunSteps = <A>(steps: Steps.Steps<A>) => Effect.Effect<A, Errors.Overloaded>

type Failure = ValidationFailure | Errors.Overloaded

/** Parses only what the session does not know already. Undefined if the body is not obviously a valid event. */
function* decodeValid(bytes: Buffer, known: Known): Steps.Steps<Decoded<DecodedEvent> | ValidationFailure | undefined> {
  const parsed = yield* EventJson.parse(bytes, known.prefixesOf, fields)
  if (parsed === undefined) return undefined
  if (parsed.isTooDeep) return new ValidationFailure({ detail: [JsonBody.tooDeep] })
  const value = Option.getOrUndefined(decodeValue(parsed.value))
  return value && toNewEvent(bytes, value, parsed, known)
}

/** Parses the whole body, to say everything that is wrong with it; of a long one, but for its unknown fields. */
const decodeWhole = Effect.fnUntraced(function* (body: JsonBody.Body, known: Known, run: RunSteps) {
  const parse = (bytes: Buffer) => run(JsonValue.parseInSteps(bytes, fields))
  const decodeBody = JsonBody.decoder(Events.CreateEvent, parse, JsonBody.excess(known.isStrict))
  const { bytes, value } = yield* decodeBody(body)
  const opened = EventJson.open(bytes, () => PieceScanner.noKnownPrefixes, fields)
  if (opened === undefined) return yield* Effect.die(new Error("A valid event has no payload"))
  const event = toNewEvent(bytes, value, opened, known)
  return event instanceof ValidationFailure ? yield* event : event
})

const failureOf = <E>(result: Result.Result<unknown, E>): ReadonlyArray<E> =>
  Result.isFailure(result) ? [result.failure] : []

/** The same key with another body is refused, so the event carries a hash of the body. */
const withKey = Effect.fnUntraced(function* (
  event: Effect.Effect<Decoded<DecodedEvent>, Failure>,
  key: Key,
  bytes: Buffer
): Effect.fn.Return<Decoded<NewEvent>, Failure> {
  const decodedKey = yield* Effect.result(key)
  const decoded = yield* Effect.result(event)
  if (Result.isSuccess(decodedKey) && Result.isSuccess(decoded)) {
    const { event, ignored } = decoded.success
    if (decodedKey.success === null) return decoded.success
    const idempotency = { key: decodedKey.success, bodyHash: hash("sha256", bytes, "buffer") }
    return { event: { ...event, idempotency }, ignored }
  }
  const detail: Array<ErrorDetail> = []
  for (const failure of [...failureOf(decodedKey), ...failureOf(decoded)]) {
    if (!(failure instanceof ValidationFailure)) return yield* failure
    detail.push(...failure.detail)
  }
  return yield* new ValidationFailure({ detail })
})

/**
 * Decodes a body that is complete. Fails with everything that is wrong with the key and the body.
 */
export const decode = (
  { bytes, isJson }: { readonly bytes: Buffer; readonly isJson: boolean },
  key: Key | undefined,
  known: Known,
  run: RunSteps
): Effect.Effect<Decoded<NewEvent>, Failure> => {
  const body = { bytes: JsonBody.withoutMark(bytes), isJson }
  const first = isJson ? run(decodeValid(body.bytes, known)) : Effect.undefined
  const event = Effect.flatMap(first, (valid): Effect.Effect<Decoded<DecodedEvent>, Failure> => {
    if (valid === undefined) return decodeWhole(body, known, run)
    return valid instanceof ValidationFailure ? Effect.fail(valid) : Effect.succeed(valid)
  })
  return key === undefined ? event : withKey(event, key, bytes)
}
