/**
 * Reads posts of OTLP in protobuf: https://github.com/open-telemetry/opentelemetry-proto. The messages are walked as they stand, and of a span
 * that says nothing of calls no attribute is copied: generated code would decode all of them first, and a program may send 100,000.
 */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import { commonText, slimResource } from "@tachograph/capture/spans/Groups"
import { isMark } from "@tachograph/capture/spans/Marks"
import type { Attributes, LogRecord, Scope, SpanEvent, Value } from "@tachograph/capture/spans/Span"
import type { Steps } from "@tachograph/core"
import * as Decoded from "./Decoded.ts"

/** The tag of a field: its number, and how it is written. One that is written otherwise is unknown, as all others are. */
const bytes = (field: number): number => (field << 3) | WireType.LengthDelimited
const varint = (field: number): number => (field << 3) | WireType.Varint
const fixed64 = (field: number): number => (field << 3) | WireType.Bit64

/** More than one span may have. */
class TooLarge extends Error {}

/** Fields that a span or log record, or a resource, may still have. */
class Budget {
  #fields = Decoded.maxValues

  spend(): void {
    if (--this.#fields < 0) throw new TooLarge()
  }
}

type Field<A> = (tag: number, reader: BinaryReader) => A

const readField = <A>(reader: BinaryReader, field: Field<A>): A => {
  const [number, type] = reader.tag()
  const start = reader.pos
  const read = field((number << 3) | type, reader)
  if (reader.pos === start) reader.skip(type, number)
  // A number is read without looking where the message ends.
  if (reader.pos > reader.len) throw new Decoded.Undecodable("The post ends within a value")
  return read
}

/** Calls `field` for each field of a message. What it does not read is skipped. */
const walk = (message: Uint8Array, budget: Budget, field: Field<void>): void => {
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    budget.spend()
    readField(reader, field)
  }
}

/** The same of a message with any number of fields, in steps. What `field` answers is done before the next field. */
function* walkInSteps(
  message: Uint8Array,
  pace: Decoded.Pace,
  field: Field<Steps.Steps<void> | undefined>
): Steps.Steps<void> {
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const before = reader.pos
    const inner = readField(reader, field)
    if (inner !== undefined) yield* inner
    else if (pace.isOver(reader.pos - before)) yield
  }
}

const textOf = (reader: BinaryReader): string => {
  const { buffer, byteLength, byteOffset } = reader.bytes()
  return Buffer.from(buffer, byteOffset, byteLength).toString()
}

const timeOf = (reader: BinaryReader): number => Decoded.msOf(BigInt(reader.fixed64()))

const idOf = (reader: BinaryReader, bytes: number): string =>
  Decoded.idOf(Buffer.from(reader.bytes()).toString("hex"), 2 * bytes)

const anyValue = {
  string: bytes(1),
  bool: varint(2),
  int: varint(3),
  double: fixed64(4),
  array: bytes(5),
  object: bytes(6),
  bytes: bytes(7)
}

/** What JSON has no number for is a text, as OTLP writes it in JSON. */
const doubleOf = (reader: BinaryReader): Value => {
  const value = reader.double()
  return Number.isFinite(value) ? value : String(value)
}

const valueOf = (message: Uint8Array, budget: Budget, depth = 0): Value => {
  let value: Value = null
  walk(message, budget, (tag, reader) => {
    if (tag === anyValue.string) value = textOf(reader)
    else if (tag === anyValue.bool) value = reader.bool()
    else if (tag === anyValue.int) value = Decoded.integerOf(BigInt(reader.int64()))
    else if (tag === anyValue.double) value = doubleOf(reader)
    else if (tag === anyValue.array) value = listOf(reader.bytes(), budget, depth)
    else if (tag === anyValue.object) value = Object.fromEntries(pairsOf(reader.bytes(), bytes(1), budget, depth))
    else if (tag === anyValue.bytes) value = Buffer.from(reader.bytes()).toString("base64")
  })
  return value
}

const listOf = (message: Uint8Array, budget: Budget, depth: number): ReadonlyArray<Value> => {
  const values: Array<Value> = []
  if (depth >= Decoded.maxDepth) return values
  walk(message, budget, (tag, reader) => {
    if (tag === bytes(1)) values.push(valueOf(reader.bytes(), budget, depth + 1))
  })
  return values
}

const keyOf = (message: Uint8Array, budget: Budget): string => {
  let key = ""
  walk(message, budget, (tag, reader) => {
    if (tag === bytes(1)) key = textOf(reader)
  })
  return key
}

const pairOf = (message: Uint8Array, budget: Budget, depth: number): readonly [key: string, value: Value] => {
  let [key, value] = ["", null as Value]
  walk(message, budget, (tag, reader) => {
    if (tag === bytes(1)) key = textOf(reader)
    else if (tag === bytes(2)) value = valueOf(reader.bytes(), budget, depth)
  })
  return [key, value]
}

/** The pairs that stand in a field of a message. */
const pairsOf = (message: Uint8Array, tagOfPair: number, budget: Budget, depth = 0): ReadonlyMap<string, Value> => {
  const pairs = new Map<string, Value>()
  if (depth >= Decoded.maxDepth) return pairs
  walk(message, budget, (tag, reader) => {
    if (tag === tagOfPair) pairs.set(...pairOf(reader.bytes(), budget, depth + 1))
  })
  return pairs
}

const scopeOf = (message: Uint8Array, budget: Budget): Scope => {
  let [name, version] = ["", ""]
  walk(message, budget, (tag, reader) => {
    if (tag === bytes(1)) name = textOf(reader)
    else if (tag === bytes(2)) version = textOf(reader)
  })
  return { name: commonText(name), version: commonText(version) }
}

/** The last message in a field: it may come after those that need it. */
function* messageIn(message: Uint8Array, field: number, pace: Decoded.Pace): Steps.Steps<Uint8Array> {
  let found: Uint8Array = new Uint8Array()
  yield* walkInSteps(message, pace, (tag, reader) => {
    if (tag === bytes(field)) found = reader.bytes()
    return undefined
  })
  return found
}

/** Whether a key of the attributes in a field is a mark. No value is looked at. */
const isMarked = (message: Uint8Array, field: number): boolean => {
  const budget = new Budget()
  let isFound = false
  walk(message, budget, (tag, reader) => {
    if (tag === bytes(field)) isFound ||= isMark(keyOf(reader.bytes(), budget))
  })
  return isFound
}

const eventOf = (message: Uint8Array, budget: Budget): SpanEvent => {
  let [name, timeMs] = ["", 0]
  walk(message, budget, (tag, reader) => {
    if (tag === fixed64(1)) timeMs = timeOf(reader)
    else if (tag === bytes(2)) name = textOf(reader)
  })
  return { name, timeMs, attributes: pairsOf(message, bytes(3), budget) }
}

const statusOf = (message: Uint8Array, budget: Budget) => {
  let [code, text] = [0, ""]
  walk(message, budget, (tag, reader) => {
    if (tag === bytes(2)) text = textOf(reader)
    else if (tag === varint(3)) code = reader.int32()
  })
  return { code, message: text }
}

type Around = Pick<LogRecord, "scope" | "resource">

const readSpan = (message: Uint8Array, around: Around, into: Decoded.Collected, budget: Budget): void => {
  const link = { traceId: "", spanId: "", parentSpanId: "" }
  walk(message, budget, (tag, reader) => {
    // The time of a log record.
    if (tag === fixed64(1) || tag === fixed64(11)) throw Decoded.ofOther("resourceLogs")
    else if (tag === bytes(1)) link.traceId = idOf(reader, 16)
    else if (tag === bytes(2)) link.spanId = idOf(reader, 8)
    else if (tag === bytes(4)) link.parentSpanId = idOf(reader, 8)
  })
  if (!isMarked(message, 9)) return Decoded.leaveOut(into, around.scope.name, link)
  const span = { name: "", kind: 0, startMs: 0, endMs: 0, droppedAttributes: 0, status: { code: 0, message: "" } }
  const events: Array<SpanEvent> = []
  walk(message, budget, (tag, reader) => {
    if (tag === bytes(5)) span.name = textOf(reader)
    else if (tag === varint(6)) span.kind = reader.int32()
    else if (tag === fixed64(7)) span.startMs = timeOf(reader)
    else if (tag === fixed64(8)) span.endMs = timeOf(reader)
    else if (tag === varint(10)) span.droppedAttributes = reader.uint32()
    else if (tag === bytes(11)) events.push(eventOf(reader.bytes(), budget))
    else if (tag === bytes(15)) span.status = statusOf(reader.bytes(), budget)
  })
  Decoded.addSpan(into, { ...link, ...span, ...around, events, attributes: pairsOf(message, bytes(9), budget) })
}

const readLog = (message: Uint8Array, around: Around, into: Decoded.Collected, budget: Budget): void => {
  const log = { traceId: "", spanId: "", timeMs: 0, droppedAttributes: 0, body: null as Value }
  let [eventName, observedMs] = ["", 0]
  walk(message, budget, (tag, reader) => {
    // The trace of a span.
    if (tag === bytes(1)) throw Decoded.ofOther("resourceSpans")
    else if (tag === fixed64(1)) log.timeMs = timeOf(reader)
    else if (tag === fixed64(11)) observedMs = timeOf(reader)
    else if (tag === bytes(5)) log.body = valueOf(reader.bytes(), budget)
    else if (tag === varint(7)) log.droppedAttributes = reader.uint32()
    else if (tag === bytes(9)) log.traceId = idOf(reader, 16)
    else if (tag === bytes(10)) log.spanId = idOf(reader, 8)
    else if (tag === bytes(12)) eventName = textOf(reader)
  })
  Decoded.addLog(
    into,
    { ...log, ...around, timeMs: log.timeMs || observedMs, attributes: pairsOf(message, bytes(6), budget) },
    eventName
  )
}

const readers = { traces: readSpan, logs: readLog } as const

/** What has too much is read as if it had nothing. */
const within = <A>(read: (budget: Budget) => A, otherwise: () => A): A => {
  try {
    return read(new Budget())
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    return otherwise()
  }
}

/** The shortest message that says anything is a log record with a name (bytes). */
const minMessage = 11

/** Messages in a field of a message, each read in steps. */
const each = (message: Uint8Array, field: number, pace: Decoded.Pace, read: (inner: Uint8Array) => Steps.Steps<void>) =>
  walkInSteps(message, pace, (tag, reader) => {
    if (tag !== bytes(field)) return undefined
    const inner = reader.bytes()
    return inner.length < minMessage ? undefined : read(inner)
  })

/** Reads a post in steps. Throws what the reader does where it is none. */
export function* decode(post: Uint8Array, signal: Decoded.Signal): Steps.Steps<Decoded.Decoded> {
  const into = Decoded.collected()
  const pace = new Decoded.Pace()
  const readOne = readers[signal]

  function* readScope(message: Uint8Array, resource: Attributes): Steps.Steps<void> {
    const said = yield* messageIn(message, 1, pace)
    const scope = within(
      (budget) => scopeOf(said, budget),
      () => ({ name: "", version: "" })
    )
    yield* walkInSteps(message, pace, (tag, reader) => {
      if (tag !== bytes(2)) return undefined
      const record = reader.bytes()
      if (record.length < minMessage) return undefined
      within(
        (budget) => readOne(record, { scope, resource }, into, budget),
        () => Decoded.refuseLarge(into)
      )
      return undefined
    })
  }

  yield* each(post, 1, pace, function* (message) {
    const said = yield* messageIn(message, 1, pace)
    const resource = within<Attributes>(
      (budget) => pairsOf(said, bytes(1), budget),
      () => new Map()
    )
    yield* each(message, 2, pace, (emitted) => readScope(emitted, slimResource(resource)))
  })
  return into
}
