/** Calls that failed alike: with the same status, type and code. What providers say of them differs in ids and numbers. */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Effect from "effect/Effect"
import { AgentName } from "./Agent.ts"
import { AgentVersionName } from "./AgentVersion.ts"
import { EventId, type EventSummary } from "./Event.ts"
import { SessionId } from "./Session.ts"
import * as Violation from "./Violation.ts"

export interface FailureKey {
  /** The HTTP status; null where neither the error nor the response says one of an error. */
  readonly status: number | null
  readonly type: string
  readonly code: string | null
}

/** From here on a status of HTTP is an error's. */
export const firstErrorStatus = 400

type Failed = Pick<EventSummary, "errorCode" | "errorStatus" | "errorType" | "httpStatus">

/** Undefined if the call did not fail. */
export const keyOf = ({ errorCode: code, errorStatus, errorType: type, httpStatus }: Failed): FailureKey | undefined =>
  type === null
    ? undefined
    : { status: errorStatus ?? ((httpStatus ?? 0) >= firstErrorStatus ? httpStatus : null), type, code }

export const isOf = (key: FailureKey, call: Failed): boolean => {
  const { code, status, type } = keyOf(call) ?? {}
  return type === key.type && status === key.status && code === key.code
}

const none = "-"

const escaped = (word: string | null): string => (word === null ? none : encodeURIComponent(word).replace(/^-$/, "%2D"))

/** Such as `400/invalid_request_error/model_not_found`; `-` where there is none. */
export const nameOf = ({ code, status, type }: FailureKey): string =>
  [status ?? none, escaped(type), escaped(code)].join("/")

/** In code points, as columns count them. */
const maxWordLength = 100

/** Null if no call has it. */
const wordOf = (part: string): string | null => {
  try {
    const word = decodeURIComponent(part)
    return word === "" || word.includes("\u0000") || Array.from(word).length > maxWordLength ? null : word
  } catch {
    return null
  }
}

const parse = (name: string): FailureKey | undefined => {
  const parts = /^(-|[1-5]\d\d)\/([^/]+)\/([^/]+)$/.exec(name)
  const [status, type, code] = parts?.slice(1) ?? []
  if (status === undefined || type === none) return undefined
  const [typeWord, codeWord] = [wordOf(type!), code === none ? null : wordOf(code!)]
  if (typeWord === null || (codeWord === null && code !== none)) return undefined
  return { status: status === none ? null : Number(status), type: typeWord, code: codeWord }
}

/** The name of such calls, as a query has it. */
export const FailureName = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Struct({ status: Schema.NullOr(Schema.Int), type: Schema.String, code: Schema.NullOr(Schema.String) }),
    SchemaTransformation.transformEffect({
      decode: (text: string, options) => {
        const key = parse(text)
        if (key !== undefined) return Effect.succeed(key)
        const violation = Violation.valueError(
          "expected the `failure` of a list of failures, such as 429/rate_limit_error/-"
        )
        return Effect.fail(Violation.issue(violation, text, options))
      },
      encode: (key: FailureKey) => Effect.succeed(nameOf(key))
    })
  )
)

export const FailedVersion = Schema.Struct({ agent: AgentName, agentVersion: AgentVersionName, events: Schema.Int })
export const FailedModel = Schema.Struct({ model: Schema.NullOr(Schema.String), events: Schema.Int })

/** Calls that failed alike, of those that a page of the list has looked at. */
export const Failure = Schema.Struct({
  /** The name by which lists of events are filtered by them. */
  failure: Schema.String,
  httpStatus: Schema.NullOr(Schema.Int),
  errorType: Schema.String,
  errorCode: Schema.NullOr(Schema.String),
  /** What the provider said at the latest of them, at most 4,000 characters. Null if it said nothing, or cannot be read. */
  message: Schema.NullOr(Schema.String),
  events: Schema.Int,
  sessions: Schema.Int,
  people: Schema.Int,
  firstAt: Schema.DateTimeUtcFromString,
  lastAt: Schema.DateTimeUtcFromString,
  /** The one that was recorded last, and its session. */
  eventId: EventId,
  session: SessionId,
  /** At most 20, and how many others there are. */
  agentVersions: Schema.Array(FailedVersion),
  otherAgentVersions: Schema.Int,
  /** The models that were asked for, or else answered. At most 20, and how many others there are. */
  models: Schema.Array(FailedModel),
  otherModels: Schema.Int
})
export type Failure = typeof Failure.Type
