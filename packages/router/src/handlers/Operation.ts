/**
 * Runs the handler of an endpoint: decodes path, query and body by the schemas of the contract, and encodes the result with
 * status 200. A handler that needs more, such as a header, is a `Raw` one; a result with verbatim texts in it is `Encoded`.
 */
import { type ErrorDetail, linesType, TachographApi, ValidationFailure } from "@tachograph/api"
import { CurrentActor, CurrentProject, type Scan } from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as Stream from "effect/Stream"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Exchange } from "../Engine.ts"
import * as Answer from "../response/Answer.ts"
import * as BodyStream from "../response/BodyStream.ts"
import * as IgnoredFields from "../response/IgnoredFields.ts"
import * as ErrorInput from "../validation/ErrorInput.ts"
import * as JsonBody from "../validation/JsonBody.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"

type Groups = (typeof TachographApi)["groups"]

type TypeOf<S> = S extends Schema.Top ? S["Type"] : never

/** The decoded parts of a request. */
interface Input<Endpoint> {
  readonly params: TypeOf<HttpApiEndpoint.Params<Endpoint>>
  readonly query: TypeOf<HttpApiEndpoint.Query<Endpoint>>
  readonly payload: TypeOf<HttpApiEndpoint.Payload<Endpoint>>
  /** The JSON text of the payload. */
  readonly text: string
  readonly exchange: Exchange
}

/** Returns a value of the contract, which is encoded then, or an encoded answer, or one that is made while it is taken. */
type Handler<Endpoint> = (
  input: Input<Endpoint>
) => Effect.Effect<TypeOf<HttpApiEndpoint.Success<Endpoint>> | Encoded | Lines, HttpApiEndpoint.Errors<Endpoint>>

/** Answers an exchange whose parts it decodes itself. */
export class Raw {
  readonly handle: (exchange: Exchange) => Effect.Effect<Answer.Answer, unknown>
  constructor(handle: Raw["handle"]) {
    this.handle = handle
  }
}

/** An answer that a handler has encoded. */
export class Encoded {
  readonly answer: Answer.Answer
  constructor(answer: Answer.Answer) {
    this.answer = answer
  }
}

/** NDJSON that is made while its client takes it, from a stream of whole lines. Its failure cuts the body. */
export class Lines {
  readonly lines: Stream.Stream<string | Uint8Array, unknown>
  readonly headers: Readonly<Record<string, string>>
  constructor(lines: Lines["lines"], headers: Lines["headers"] = {}) {
    this.lines = lines
    this.headers = headers
  }
}

/** Whether a request wants lines where it could have a page. */
export const wantsLines = ({ headers }: Exchange): boolean => headers["accept"]?.includes(linesType) === true

/** A handler for each endpoint of a group of the contract. */
export type Handlers<Group extends keyof Groups> = {
  readonly [Name in keyof Groups[Group]["endpoints"]]: Handler<Groups[Group]["endpoints"][Name]> | Raw
}

/** Answers an exchange; fails with what the error encoder answers. */
export type Operation = (exchange: Exchange) => Effect.Effect<Answer.Answer, unknown>

/** The operations of a group, by the names of their endpoints. */
export const group = <Group extends keyof Groups>(
  name: Group,
  handlers: Handlers<Group>
): ReadonlyArray<readonly [endpoint: string, operation: Operation]> =>
  Object.values(TachographApi.groups[name].endpoints as Record<string, HttpApiEndpoint.Top>).map((endpoint) => {
    const handler = (handlers as Record<string, Handler<HttpApiEndpoint.Top> | Raw>)[endpoint.identifier]!
    return [endpoint.identifier, handler instanceof Raw ? handler.handle : operation(endpoint, handler)]
  })

const operation = (endpoint: HttpApiEndpoint.Top, handler: Handler<HttpApiEndpoint.Top>): Operation => {
  if (endpoint.headers !== undefined) {
    throw new Error(`The endpoint ${endpoint.identifier} has headers: make its handler a Raw one`)
  }
  const decodeParams = parameterDecoder(endpoint.params, "path")
  const decodeQuery = parameterDecoder(endpoint.query, "query")
  const decodeBody = bodyDecoder(endpoint)
  // Others are made by the handler, such as lines.
  const [success] = endpoint.success
  const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(success!) as unknown as Schema.Encoder<unknown>)
  return Effect.fnUntraced(function* (exchange: Exchange) {
    const detail: Array<ErrorDetail> = []
    const params = yield* decodeParams(() => exchange.params, detail)
    const query = yield* decodeQuery(() => queryOf(exchange.query), detail)
    const body = yield* decodeBody(exchange, detail)
    if (detail.length > 0) return yield* new ValidationFailure({ detail })
    const input = {
      params,
      query,
      payload: body.value,
      text: body.bytes.toString(),
      exchange
    } as Input<HttpApiEndpoint.Top>
    const result = yield* handler(input).pipe(
      Effect.provideService(CurrentProject, exchange.project),
      Effect.provideService(CurrentActor, exchange.actor)
    )
    if (result instanceof Encoded) return IgnoredFields.name(result.answer, body.ignored)
    if (result instanceof Lines) return yield* streamed(result, exchange)
    const answer = Answer.json(JSON.stringify(yield* Effect.orDie(encode(result))))
    return IgnoredFields.name(answer, body.ignored)
  })
}

/** The stream runs with the project, the log annotations and the span of its request, after the answer to it. */
const streamed = Effect.fnUntraced(function* ({ headers, lines }: Lines, { project }: Exchange) {
  const context = yield* Effect.context<never>()
  const logCut = Effect.runForkWith(context)
  const body = BodyStream.ofStream(lines, Context.add(context, CurrentProject, project), (error) => {
    logCut(Effect.logError("An answer was cut while it was made", Cause.fail(error)))
  })
  return Answer.streamed(body, linesType, headers)
})

type Parameters = Readonly<Record<string, string | ReadonlyArray<string>>>

/** A parameter that is sent several times is an array. */
const queryOf = (query: string): Parameters => {
  if (query === "") return {}
  const sent = new Map<string, string | Array<string>>()
  for (const [name, value] of new URLSearchParams(query)) {
    const before = sent.get(name)
    if (before === undefined) sent.set(name, value)
    else if (typeof before === "string") sent.set(name, [before, value])
    else before.push(value)
  }
  return Object.fromEntries(sent)
}

/** Adds what is wrong to `detail`, so that an answer has everything that is wrong with a request. */
const parameterDecoder = (schema: Schema.Top | undefined, location: ValidationDetail.ErrorLocation) => {
  if (schema === undefined) return () => Effect.succeed<unknown>(undefined)
  // A filter that was ignored would answer the wrong rows.
  const decode = ValidationDetail.decoder(schema as Schema.Decoder<unknown>, { onExcessProperty: "error" })
  return (read: () => Parameters, detail: Array<ErrorDetail>): Effect.Effect<unknown> => {
    const values = read()
    return Effect.match(decode(values), {
      onSuccess: (value) => value,
      onFailure: ({ issue }) => {
        const input: ErrorInput.Echo = (paths) => paths.map(([name]) => ErrorInput.ofString(values[String(name)]))
        detail.push(...ValidationDetail.details(issue, location, input))
        return undefined
      }
    })
  }
}

interface DecodedBody extends Pick<JsonBody.Decoded<unknown>, "value" | "bytes"> {
  readonly ignored: ReadonlyArray<Scan.Path>
}

const noBody: DecodedBody = { value: undefined, bytes: Buffer.of(), ignored: [] }

const bodyDecoder = (endpoint: HttpApiEndpoint.Top) => {
  const [payload] = endpoint.payload.values()
  // Lines are decoded one by one, as they come.
  if (payload === undefined || payload.encoding.contentType === linesType) return () => Effect.succeed(noBody)
  const schema = payload.schemas[0] as Schema.Decoder<unknown>
  const { propertySignatures } = SchemaAST.toEncoded(schema.ast) as SchemaAST.Objects
  const known = new Set(propertySignatures.map(({ name }) => name))
  const decoderOf = (isStrict: boolean) => JsonBody.decoder(schema, undefined, JsonBody.excess(isStrict))
  const [decode, decodeStrictly] = [decoderOf(false), decoderOf(true)]
  const unknownIn = (sent: unknown) => Object.keys(sent as object).flatMap((key) => (known.has(key) ? [] : [[key]]))
  return ({ body, headers, isStrict }: Exchange, detail: Array<ErrorDetail>): Effect.Effect<DecodedBody> =>
    Effect.match(
      (isStrict ? decodeStrictly : decode)({ bytes: body, isJson: JsonBody.isJson(headers["content-type"]) }),
      {
        onSuccess: ({ sent, ...decoded }) => ({ ...decoded, ignored: unknownIn(sent) }),
        onFailure: (failure) => {
          detail.push(...failure.detail)
          return noBody
        }
      }
    )
}
