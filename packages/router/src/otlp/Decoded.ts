/** What a post of OTLP says, in either encoding: the spans and log records that matter, and no more than the ids of other spans. */
import type { Link } from "@tachograph/capture/spans/Assemble"
import { kindOf } from "@tachograph/capture/spans/Emitters"
import { evaluation, isTold } from "@tachograph/capture/spans/Marks"
import type { LogRecord, Span } from "@tachograph/capture/spans/Span"
import { withoutCredentials } from "@tachograph/capture/spans/WithoutCredentials"
import { Steps } from "@tachograph/core"
import { otlpPaths } from "../Engine.ts"

export interface Decoded {
  readonly spans: ReadonlyArray<Span>
  readonly logs: ReadonlyArray<LogRecord>
  /** Of spans that were left out, as far as `maxLinks` goes. */
  readonly links: ReadonlyArray<Link>
  /** How many spans and log records were left out, by the names of their scopes. */
  readonly others: ReadonlyMap<string, number>
  /** How many were refused, by why. */
  readonly refused: ReadonlyMap<string, number>
}

export interface Collected {
  readonly spans: Array<Span>
  readonly logs: Array<LogRecord>
  readonly links: Array<Link>
  readonly others: Map<string, number>
  readonly refused: Map<string, number>
}

export const collected = (): Collected => ({
  spans: [],
  logs: [],
  links: [],
  others: new Map(),
  refused: new Map()
})

/** Values of one span or log record: what has more takes more memory than its bytes say. */
export const maxValues = 100_000

/** Spans and log records of one post that say something: about 20 MB beside their texts. */
export const maxTold = 20_000

/** Links of one post: about 10 MB. */
const maxLinks = 50_000

/** Scopes of one post that are counted by their names. */
const maxScopes = 100

export const leaveOut = ({ links, others }: Collected, scope: string, link?: Link): void => {
  const name = others.has(scope) || others.size < maxScopes ? scope : "other"
  others.set(name, (others.get(name) ?? 0) + 1)
  if (link !== undefined && link.traceId !== "" && link.spanId !== "" && links.length < maxLinks) links.push(link)
}

const refuse = ({ refused }: Collected, why: string): void => {
  refused.set(why, (refused.get(why) ?? 0) + 1)
}

/** One that has more than `maxValues`. */
export const refuseLarge = (into: Collected): void => refuse(into, `have more than ${maxValues} values`)

const isFull = (into: Collected): boolean => into.spans.length + into.logs.length >= maxTold
const refuseFurther = (into: Collected): void => refuse(into, `are more than ${maxTold} in one post`)

/** Adds a span. One without ids cannot be told from others: if it is a call, it is refused. */
export const addSpan = (into: Collected, span: Span): void => {
  if (span.traceId === "" || span.spanId === "") {
    if (kindOf(span) === "call") refuse(into, "have no trace or no span")
    else leaveOut(into, span.scope.name)
  } else if (isFull(into)) refuseFurther(into)
  else into.spans.push(withoutCredentials(span))
}

/** Adds a log record under its name, or leaves it out. */
export const addLog = (into: Collected, log: Omit<LogRecord, "name">, eventName: string): void => {
  const said = log.attributes.get("event.name")
  const name = typeof said === "string" ? said : eventName
  if (!isTold(name, log.attributes)) leaveOut(into, name === evaluation ? name : log.scope.name)
  else if (isFull(into)) refuseFurther(into)
  else into.logs.push(withoutCredentials({ ...log, name }))
}

/** What one step of decoding does: bytes are counted, and each message as so many, because it takes time however short it is. */
export class Pace {
  #bytes = 0

  /** Whether it is time for the next step, after a message of so many bytes. */
  isOver(bytes: number): boolean {
    this.#bytes += bytes + messageBytes
    if (this.#bytes < Steps.stepBytes) return false
    this.#bytes = 0
    return true
  }
}

const messageBytes = 64

/** The signals that are decoded. */
export type Signal = "traces" | "logs"

/** A post that is not what it says. The message is one line, and has nothing of the post. */
export class Undecodable extends Error {}

/** Where posts with each list are sent to. */
const paths = {
  resourceSpans: otlpPaths.otlpTraces,
  resourceLogs: otlpPaths.otlpLogs,
  resourceMetrics: otlpPaths.otlpMetrics
} as const

export const isList = (key: string): key is keyof typeof paths => Object.hasOwn(paths, key)

/** For a post that was sent to where those of another kind are. */
export const ofOther = (list: keyof typeof paths): Undecodable =>
  new Undecodable(`The post has ${list}, which are sent to ${paths[list]}`)

/** Values within values that are read. What is deeper is left out. */
export const maxDepth = 64

/** An id in lower case; empty if it is none, as one of zeros. */
export const idOf = (hex: string, digits: number): string =>
  hex.length === digits && /^[0-9a-fA-F]+$/.test(hex) && !/^0+$/.test(hex) ? hex.toLowerCase() : ""

/** The number of an integer, or the integer itself where no double has it. */
export const integerOf = (value: bigint): number | bigint =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value

/** Epoch milliseconds of nanoseconds. */
export const msOf = (nanoseconds: bigint): number => Number(nanoseconds / 1000n) / 1000
