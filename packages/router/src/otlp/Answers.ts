/** Answers to posts of OTLP, in the encoding of the request: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import * as Answer from "../response/Answer.ts"

export type Encoding = "protobuf" | "json"

const protobufType = "application/x-protobuf"

/** The encoding that a content type names; undefined for another one. */
export const encodingOf = (contentType = ""): Encoding | undefined => {
  const [type] = contentType.toLowerCase().split(";")
  if (type!.trim() === protobufType || type!.trim() === "application/protobuf") return "protobuf"
  return type!.trim() === "application/json" ? "json" : undefined
}

const of = (encoding: Encoding, status: number, json: unknown, write: (writer: BinaryWriter) => BinaryWriter) =>
  encoding === "json"
    ? { ...Answer.json(JSON.stringify(json)), status }
    : { status, headers: { "content-type": protobufType }, body: [write(new BinaryWriter()).finish()] }

/** The names of what was rejected, by the kind of post. */
const rejectedNames = { traces: "rejectedSpans", logs: "rejectedLogRecords", metrics: "rejectedDataPoints" } as const

/** All was taken, but for `rejected` calls, which could not be stored. `message` says why, in one line. */
export const taken = (
  encoding: Encoding,
  post: keyof typeof rejectedNames,
  rejected = 0,
  message = ""
): Answer.Answer => {
  if (rejected === 0) return of(encoding, 200, {}, (writer) => writer)
  const json = { partialSuccess: { [rejectedNames[post]]: String(rejected), errorMessage: message } }
  return of(encoding, 200, json, (writer) =>
    writer
      .tag(1, WireType.LengthDelimited)
      .fork()
      .tag(1, WireType.Varint)
      .int64(rejected)
      .tag(2, WireType.LengthDelimited)
      .string(message)
      .join()
  )
}

/** Codes of google.rpc.Status. */
const invalidArgument = 3

/** The post cannot be decoded: it is not sent again. */
export const undecodable = (encoding: Encoding, message: string): Answer.Answer => ({
  ...of(encoding, 400, { code: invalidArgument, message }, (writer) =>
    writer.tag(1, WireType.Varint).int32(invalidArgument).tag(2, WireType.LengthDelimited).string(message)
  ),
  refusal: { type: "bad-request" }
})

/** The post has a content type that is none of OTLP over HTTP. */
export const otherType: Answer.Answer = Answer.refuse(
  415,
  "unsupported-media-type",
  {},
  { message: `Send ${protobufType} or application/json.` }
)
