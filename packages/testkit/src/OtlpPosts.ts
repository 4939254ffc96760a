/** Posts of OTLP as a test writes them: spans in short, as the object of the JSON encoding, and as protobuf. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"

type Json = Readonly<Record<string, any>>

export interface ShortSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name?: string
  /** Epoch milliseconds. */
  readonly startMs?: number
  readonly endMs?: number
  readonly attributes: Json
}

const anyValue = (value: unknown): Json => {
  if (typeof value === "string") return { stringValue: value }
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "bigint") return { intValue: String(value) }
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  return value === null ? {} : { kvlistValue: { values: pairs(value as Json) } }
}

const pairs = (attributes: Json) => Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))

const nanos = (ms: number): string => `${Math.round(ms * 1000)}000`

/** A post of the spans of one scope. */
export const traces = (spans: ReadonlyArray<ShortSpan>, scope = "test", resource: Json = {}): Json => ({
  resourceSpans: [
    {
      resource: { attributes: pairs(resource) },
      scopeSpans: [
        {
          scope: { name: scope, version: "1" },
          spans: spans.map(
            ({ attributes, endMs = 1_790_000_000_500, name = "a span", startMs = 1_790_000_000_000, ...ids }) => ({
              ...ids,
              name,
              kind: 3,
              startTimeUnixNano: nanos(startMs),
              endTimeUnixNano: nanos(endMs),
              attributes: pairs(attributes),
              status: {}
            })
          )
        }
      ]
    }
  ]
})

type Write = (writer: BinaryWriter, value: any) => BinaryWriter

const message =
  (fields: Readonly<Record<string, readonly [number, WireType, Write]>>): Write =>
  (writer, value: Json) => {
    for (const [name, [field, type, write]] of Object.entries(fields)) {
      const found = value[name] as unknown
      if (found === undefined) continue
      for (const item of Array.isArray(found) ? found : [found]) {
        writer.tag(field, type)
        if (type === WireType.LengthDelimited && write !== text && write !== hex) write(writer.fork(), item).join()
        else write(writer, item)
      }
    }
    return writer
  }

const text: Write = (writer, value: string) => writer.string(value)
const hex: Write = (writer, value: string) => writer.bytes(Buffer.from(value, "hex"))
const fixed: Write = (writer, value: string) => writer.fixed64(value)
const integer: Write = (writer, value: number) => writer.int32(value)
const lazily =
  (of: () => Write): Write =>
  (writer, value) =>
    of()(writer, value)

const { Bit64, LengthDelimited, Varint } = WireType

const value: Write = message({
  stringValue: [1, LengthDelimited, text],
  boolValue: [2, Varint, (writer, item: boolean) => writer.bool(item)],
  intValue: [3, Varint, (writer, item: string) => writer.int64(item)],
  doubleValue: [4, Bit64, (writer, item: number) => writer.double(item)],
  arrayValue: [5, LengthDelimited, lazily(() => message({ values: [1, LengthDelimited, value] }))],
  kvlistValue: [6, LengthDelimited, lazily(() => message({ values: [1, LengthDelimited, pair] }))]
})
const pair = message({ key: [1, LengthDelimited, text], value: [2, LengthDelimited, value] })
const attributes = [1, LengthDelimited, pair] as const
const scope = message({ name: [1, LengthDelimited, text], version: [2, LengthDelimited, text] })
const span = message({
  traceId: [1, LengthDelimited, hex],
  spanId: [2, LengthDelimited, hex],
  parentSpanId: [4, LengthDelimited, hex],
  name: [5, LengthDelimited, text],
  kind: [6, Varint, integer],
  startTimeUnixNano: [7, Bit64, fixed],
  endTimeUnixNano: [8, Bit64, fixed],
  attributes: [9, LengthDelimited, pair],
  status: [15, LengthDelimited, message({ message: [2, LengthDelimited, text], code: [3, Varint, integer] })]
})
const post = message({
  resourceSpans: [
    1,
    LengthDelimited,
    message({
      resource: [1, LengthDelimited, message({ attributes })],
      scopeSpans: [
        2,
        LengthDelimited,
        message({ scope: [1, LengthDelimited, scope], spans: [2, LengthDelimited, span] })
      ]
    })
  ]
})

/** A post of traces in protobuf. */
export const toProtobuf = (json: Json): Uint8Array => post(new BinaryWriter(), json).finish()
