/** Spans and log records of OpenTelemetry, as OTLP sends them, decoded. https://opentelemetry.io/docs/specs/otlp/ */

/** A value of an attribute. An integer that no double holds is a bigint; bytes are base64; a value that is none is null. */
export type Value = string | number | bigint | boolean | null | ReadonlyArray<Value> | ValueMap
export interface ValueMap {
  readonly [key: string]: Value
}

/** By their keys, in the order in which they came. */
export type Attributes = ReadonlyMap<string, Value>

/** The instrumentation that made a span or a log record. Empty strings where it does not say. */
export interface Scope {
  readonly name: string
  readonly version: string
}

interface Emitted {
  /** Lower-case hexadecimal; empty where there is none. */
  readonly traceId: string
  readonly spanId: string
  readonly scope: Scope
  readonly resource: Attributes
  readonly attributes: Attributes
  /** Attributes that the SDK left out, beyond its limit. */
  readonly droppedAttributes: number
}

export interface SpanEvent {
  readonly name: string
  /** Epoch milliseconds, with fractions. */
  readonly timeMs: number
  readonly attributes: Attributes
}

export interface Span extends Emitted {
  /** Empty for the root of a trace. */
  readonly parentSpanId: string
  readonly name: string
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer, 0 unspecified. */
  readonly kind: number
  /** Epoch milliseconds, with fractions. */
  readonly startMs: number
  readonly endMs: number
  /** `code`: 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code: number; readonly message: string }
  readonly events: ReadonlyArray<SpanEvent>
}

export interface LogRecord extends Emitted {
  /** The attribute `event.name`, or else its field `eventName`; empty where neither says. */
  readonly name: string
  /** Epoch milliseconds, with fractions. */
  readonly timeMs: number
  /** Null where there is none. */
  readonly body: Value
}
