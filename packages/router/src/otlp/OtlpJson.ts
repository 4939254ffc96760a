/**
 * Reads posts of OTLP in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. The text is walked in steps, and each span is
 * parsed by itself; one that says nothing of calls is not parsed at all.
 */
import type { Link } from "@tachograph/capture/spans/Assemble"
import { commonText, slimResource } from "@tachograph/capture/spans/Groups"
import { hasMark } from "@tachograph/capture/spans/Marks"
import type { Attributes, LogRecord, Scope, SpanEvent, Value } from "@tachograph/capture/spans/Span"
import { JsonWalk, Scan, type Steps } from "@tachograph/core"
import { isUtf8 } from "node:buffer"
import * as Decoded from "./Decoded.ts"

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** Integers of 64 bits are texts, which some programs write as numbers. */
const bigintOf = (value: unknown): bigint | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined
  return typeof value === "string" && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined
}

const timeOf = (value: unknown): number => Decoded.msOf(bigintOf(value) ?? 0n)
const countOf = (value: unknown): number => Math.max(0, Number(bigintOf(value) ?? 0))
const idOf = (value: unknown, digits: number): string => Decoded.idOf(textOf(value), digits)

/** The number of an enumeration: some programs write its name. */
const enumOf = (value: unknown, head: string, names: ReadonlyArray<string>): number =>
  typeof value === "number" ? value : Math.max(0, names.indexOf(textOf(value).replace(head, "")))

const doubleOf = (value: unknown): Value =>
  typeof value === "number" || value === "NaN" || value === "Infinity" || value === "-Infinity" ? value : null

const valueOf = (any: unknown, depth = 0): Value => {
  const value = objectOf(any)
  if (typeof value["stringValue"] === "string") return value["stringValue"]
  if (typeof value["boolValue"] === "boolean") return value["boolValue"]
  if (typeof value["bytesValue"] === "string") return value["bytesValue"]
  if (value["doubleValue"] !== undefined) return doubleOf(value["doubleValue"])
  const integer = bigintOf(value["intValue"])
  if (integer !== undefined) return Decoded.integerOf(integer)
  if (depth >= Decoded.maxDepth) return null
  if (isObject(value["arrayValue"]))
    return listOf(value["arrayValue"]["values"]).map((item) => valueOf(item, depth + 1))
  if (isObject(value["kvlistValue"])) return Object.fromEntries(pairsOf(value["kvlistValue"]["values"], depth + 1))
  return null
}

const pairsOf = (list: unknown, depth = 0): Attributes =>
  new Map(
    listOf(list).flatMap((pair) => (isObject(pair) ? [[textOf(pair["key"]), valueOf(pair["value"], depth)]] : []))
  )

const eventOf = (value: unknown): SpanEvent => {
  const event = objectOf(value)
  return {
    name: textOf(event["name"]),
    timeMs: timeOf(event["timeUnixNano"]),
    attributes: pairsOf(event["attributes"])
  }
}

interface Around {
  readonly scope: Scope
  readonly resource: Attributes
}

const kinds = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]
const codes = ["UNSET", "OK", "ERROR"]

const linkOf = (traceId: unknown, spanId: unknown, parentSpanId: unknown): Link => ({
  traceId: idOf(traceId, 32),
  spanId: idOf(spanId, 16),
  parentSpanId: idOf(parentSpanId, 16)
})

const readSpan = (text: string, around: Around, into: Decoded.Collected): void => {
  if (!hasMark(text)) {
    const [traceId, spanId, parentSpanId] = ["traceId", "spanId", "parentSpanId"].map(
      (name) => new RegExp(`"${name}"\\s*:\\s*"([0-9a-fA-F]+)"`).exec(text)?.[1]
    )
    return Decoded.leaveOut(into, around.scope.name, linkOf(traceId, spanId, parentSpanId))
  }
  const span = objectOf(JSON.parse(text))
  const status = objectOf(span["status"])
  Decoded.addSpan(into, {
    ...linkOf(span["traceId"], span["spanId"], span["parentSpanId"]),
    ...around,
    name: textOf(span["name"]),
    kind: enumOf(span["kind"], "SPAN_KIND_", kinds),
    startMs: timeOf(span["startTimeUnixNano"]),
    endMs: timeOf(span["endTimeUnixNano"]),
    droppedAttributes: countOf(span["droppedAttributesCount"]),
    status: { code: enumOf(status["code"], "STATUS_CODE_", codes), message: textOf(status["message"]) },
    events: listOf(span["events"]).map(eventOf),
    attributes: pairsOf(span["attributes"])
  })
}

const readLog = (text: string, around: Around, into: Decoded.Collected): void => {
  const log = objectOf(JSON.parse(text))
  const { traceId, spanId } = linkOf(log["traceId"], log["spanId"], undefined)
  const record: Omit<LogRecord, "name"> = {
    traceId,
    spanId,
    ...around,
    timeMs: timeOf(log["timeUnixNano"]) || timeOf(log["observedTimeUnixNano"]),
    droppedAttributes: countOf(log["droppedAttributesCount"]),
    body: valueOf(log["body"]),
    attributes: pairsOf(log["attributes"])
  }
  Decoded.addLog(into, record, textOf(log["eventName"]))
}

/** The names of the lists in a post, and how a record is read. */
const signals = {
  traces: { lists: ["resourceSpans", "scopeSpans", "spans"], read: readSpan },
  logs: { lists: ["resourceLogs", "scopeLogs", "logRecords"], read: readLog }
} as const

/** What is in a list of places, of each three numbers: this, and where it begins and ends. Records follow their scope, and scopes their resource. */
const ofResource = 0
const ofScope = 1
const ofRecord = 2
const ofLargeRecord = 3

/** The shortest record that says anything is a log record with a name (bytes). */
const minRecord = 24

/** Finds where the records of a post are, and counts the values in each. Plain numbers, since a post may have a million of them. */
class Places implements JsonWalk.Visitor {
  readonly list: Array<number> = []
  readonly #text: Buffer
  readonly #lists: ReadonlyArray<string>
  /** Where in the list the last resource and the last scope are. */
  #resource = 0
  #scope = 0
  /** How many objects and lists around the records are open: objects at odd levels, lists at even ones. */
  #level = 0
  /** What is counted: where it began, its values, how many of them have not ended, and what it is. */
  #start = 0
  #values = 0
  #unended = 0
  #counted = ofRecord
  #isSkipped = false

  constructor(text: Buffer, lists: ReadonlyArray<string>) {
    this.#text = text
    this.#lists = lists
  }

  begin(start: number, keyStart: number, keyEnd: number): number {
    const code = this.#text[start]!
    if (this.#unended > 0) return this.#count(start, code)
    const key = this.#level % 2 === 0 ? "" : Scan.keyAt(this.#text, keyStart, keyEnd)
    if (this.#level === 3 && key === "resource") return this.#begin(start, code, ofResource)
    if (this.#level === 5 && key === "scope") return this.#begin(start, code, ofScope)
    if (this.#level === 6) return this.#begin(start, code, ofRecord)
    const isList = this.#level % 2 === 1
    if (code !== (isList ? Scan.openBracket : Scan.openBrace) || (isList && key !== this.#lists[this.#level >> 1])) {
      if (this.#level === 0) throw new Decoded.Undecodable("The post is no JSON object")
      if (this.#level === 1 && Decoded.isList(key) && key !== this.#lists[0]) throw Decoded.ofOther(key)
      this.#isSkipped = true
      return JsonWalk.skip
    }
    this.#level++
    if (this.#level === 3) this.#resource = this.list.push(ofResource, 0, 0) - 3
    if (this.#level === 5) this.#scope = this.list.push(ofScope, 0, 0) - 3
    return start + 1
  }

  #begin(start: number, code: number, counted: number): number {
    this.#start = start
    this.#values = 0
    this.#counted = counted
    return this.#count(start, code)
  }

  #count(start: number, code: number): number {
    this.#values++
    this.#unended++
    return code === Scan.openBrace || code === Scan.openBracket ? start + 1 : JsonWalk.skip
  }

  end(end: number): void {
    if (this.#unended > 0) {
      if (--this.#unended === 0) this.#ended(end)
    } else if (this.#isSkipped) this.#isSkipped = false
    else {
      if (this.#level === 3) this.#dropEmpty(this.#resource)
      if (this.#level === 5) this.#dropEmpty(this.#scope)
      this.#level--
    }
  }

  #ended(end: number): void {
    const isLarge = this.#values > Decoded.maxValues
    if (this.#counted !== ofRecord) {
      const at = this.#counted === ofResource ? this.#resource : this.#scope
      this.list[at + 1] = isLarge ? 0 : this.#start
      this.list[at + 2] = isLarge ? 0 : end
    } else if (end - this.#start >= minRecord) {
      this.list.push(isLarge ? ofLargeRecord : ofRecord, this.#start, end)
    }
  }

  #dropEmpty(at: number): void {
    if (this.list.length === at + 3) this.list.length = at
  }
}

/** Reads a post in steps. Throws `Undecodable` where it is none. */
export function* decode(post: Buffer, signal: Decoded.Signal): Steps.Steps<Decoded.Decoded> {
  if (!isUtf8(post)) throw new Decoded.Undecodable("The post is not UTF-8")
  const { lists, read } = signals[signal]
  const places = new Places(post, lists)
  const errorAt = yield* JsonWalk.check(post, places)
  if (errorAt !== undefined) throw new Decoded.Undecodable(`The post is no JSON: see byte ${errorAt}`)
  const into = Decoded.collected()
  const pace = new Decoded.Pace()
  const { list } = places
  let around: Around = { scope: { name: "", version: "" }, resource: new Map() }
  for (let at = 0; at < list.length; at += 3) {
    const [start, end] = [list[at + 1]!, list[at + 2]!]
    const text = post.toString("utf8", start, end)
    const object = list[at]! < ofRecord && text !== "" ? objectOf(JSON.parse(text)) : {}
    if (list[at] === ofResource) around = { ...around, resource: slimResource(pairsOf(object["attributes"])) }
    else if (list[at] === ofScope)
      around = {
        ...around,
        scope: { name: commonText(textOf(object["name"])), version: commonText(textOf(object["version"])) }
      }
    else if (list[at] === ofLargeRecord) Decoded.refuseLarge(into)
    else read(text, around, into)
    if (pace.isOver(end - start)) yield
  }
  return into
}
