/** Writes posts that are JSON values as protobuf, at times not as its rules say. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import type { Random } from "../../harness/Random.ts"
import type { Json } from "./Posts.ts"

type Scalar = "string" | "hex" | "fixed64" | "integer" | "double" | "bool" | "bytes"
type Field = readonly [number: number, type: Scalar | keyof typeof messages]

/** https://github.com/open-telemetry/opentelemetry-proto */
const messages = {
  post: { resourceSpans: [1, "resourceSpans"], resourceLogs: [1, "resourceLogs"] },
  resourceSpans: { resource: [1, "resource"], scopeSpans: [2, "scopeSpans"] },
  resourceLogs: { resource: [1, "resource"], scopeLogs: [2, "scopeLogs"] },
  resource: { attributes: [1, "pair"] },
  scopeSpans: { scope: [1, "scope"], spans: [2, "span"] },
  scopeLogs: { scope: [1, "scope"], logRecords: [2, "log"] },
  scope: { name: [1, "string"], version: [2, "string"] },
  span: {
    traceId: [1, "hex"],
    spanId: [2, "hex"],
    parentSpanId: [4, "hex"],
    name: [5, "string"],
    kind: [6, "integer"],
    startTimeUnixNano: [7, "fixed64"],
    endTimeUnixNano: [8, "fixed64"],
    attributes: [9, "pair"],
    droppedAttributesCount: [10, "integer"],
    events: [11, "event"],
    status: [15, "status"]
  },
  event: { timeUnixNano: [1, "fixed64"], name: [2, "string"], attributes: [3, "pair"] },
  status: { message: [2, "string"], code: [3, "integer"] },
  log: {
    timeUnixNano: [1, "fixed64"],
    observedTimeUnixNano: [11, "fixed64"],
    body: [5, "value"],
    attributes: [6, "pair"],
    traceId: [9, "hex"],
    spanId: [10, "hex"],
    eventName: [12, "string"]
  },
  pair: { key: [1, "string"], value: [2, "value"] },
  value: {
    stringValue: [1, "string"],
    boolValue: [2, "bool"],
    intValue: [3, "integer"],
    doubleValue: [4, "double"],
    arrayValue: [5, "list"],
    kvlistValue: [6, "pairs"],
    bytesValue: [7, "bytes"]
  },
  list: { values: [1, "value"] },
  pairs: { values: [1, "pair"] }
} as const satisfies Record<string, Record<string, readonly [number, string]>>

const bigOf = (value: Json): bigint => {
  try {
    return BigInt(value as string | number)
  } catch {
    return 0n
  }
}

const writeScalar = (writer: BinaryWriter, number: number, type: Scalar, value: Json): void => {
  switch (type) {
    case "string":
      // A lone surrogate has no UTF-8.
      writer.tag(number, WireType.LengthDelimited).string(String(value).toWellFormed())
      break
    case "hex":
      writer.tag(number, WireType.LengthDelimited).bytes(Buffer.from(String(value), "hex"))
      break
    case "bytes":
      writer.tag(number, WireType.LengthDelimited).bytes(Buffer.from(String(value), "base64"))
      break
    case "fixed64":
      writer.tag(number, WireType.Bit64).fixed64(BigInt.asUintN(64, bigOf(value)))
      break
    case "integer":
      writer.tag(number, WireType.Varint).int64(BigInt.asIntN(64, bigOf(value)))
      break
    case "double":
      writer.tag(number, WireType.Bit64).double(Number(value))
      break
    case "bool":
      writer.tag(number, WireType.Varint).bool(value === true)
  }
}

const badUtf8 = Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0x41])

/** A field that no message has, or one of another type than it should have. */
const writeHostile = (writer: BinaryWriter, random: Random): void => {
  const number = random(1, 16)
  const kind = random(0, 5)
  if (kind === 0) writer.tag(number, WireType.Varint).uint32(random(0, 2 ** 31))
  else if (kind === 1) writer.tag(number, WireType.Bit32).fixed32(random(0, 2 ** 31))
  else if (kind === 2) writer.tag(number, WireType.Bit64).fixed64(BigInt(random(0, 2 ** 31)))
  else if (kind === 3) writer.tag(number, WireType.LengthDelimited).bytes(badUtf8)
  else {
    const depth = random(1, kind === 4 ? 3 : 300)
    for (let level = 0; level < depth; level++) writer.tag(number, WireType.StartGroup)
    for (let level = 0; level < depth; level++) writer.tag(number, WireType.EndGroup)
  }
}

/** One of `hostility` messages has a field that it should not have; none if it is 0. */
export const encode = (post: Json, random: Random, hostility: number): Uint8Array => {
  const write = (writer: BinaryWriter, name: keyof typeof messages, value: Json): void => {
    if (hostility > 0 && random(1, hostility) === 1) writeHostile(writer, random)
    for (const [key, item] of typeof value === "object" && value !== null ? Object.entries(value) : []) {
      const field = Object.hasOwn(messages[name], key)
        ? (messages[name] as Readonly<Record<string, Field>>)[key]
        : undefined
      if (field === undefined || item === null) continue
      const [number, type] = field
      for (const each of Array.isArray(item) ? (item as ReadonlyArray<Json>) : [item]) {
        if (!(type in messages)) writeScalar(writer, number, type as Scalar, each)
        else {
          writer.tag(number, WireType.LengthDelimited).fork()
          write(writer, type as keyof typeof messages, each)
          writer.join()
        }
      }
    }
  }
  const writer = new BinaryWriter()
  write(writer, "post", post)
  return writer.finish()
}
