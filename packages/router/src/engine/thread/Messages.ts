/**
 * What crosses between the thread of the host and that of the engine, in the words of the two. `effect/rpc` over a worker costs ten times
 * the processor time for each exchange, 90 µs and more instead of 8, because it sends every message by itself and through a codec; the thread
 * cannot ask the host there (`reserve`), nor can the host stream a body; and its worker for Node is in a package that a server does not
 * need otherwise.
 */
import type { CommitLimitsValue, PriceSource, StaleSession, StorageModule } from "@tachograph/core"
import type * as LogLevel from "effect/LogLevel"
import type { Exchange } from "../../Engine.ts"
import type { Answer } from "../../response/Answer.ts"
import type { ErrorData } from "./ErrorData.ts"
import type { StreamMessage } from "./Streams.ts"
import type { SpanBegan, SpanEnded, SpanReference } from "./Spans.ts"

/** What the engine's thread is started with. */
export interface Start {
  readonly storage: StorageModule
  /** Whether it is the reading thread. */
  readonly isReading: boolean
  /** The largest heap of the thread, in MiB. */
  readonly heapMib: number
  readonly basePath: string
  readonly commitLimits: CommitLimitsValue
  readonly sessionCacheBytes: number
  readonly prices: PriceSource
  /** The patterns whose matches are masked, as they were given. */
  readonly redact: string | null
  readonly otlpWaitMs: number
  readonly servesViewer: boolean
  /** The names of the proxy's upstreams; null if it is off. */
  readonly proxyUpstreams: ReadonlyArray<string> | null
  readonly logLevel: LogLevel.LogLevel
  /** Whether the host has a tracer, which gets the spans of the thread. */
  readonly isTraced: boolean
  /** Shared with the host: see `ThreadStatus`. */
  readonly status: SharedArrayBuffer
}

/** A request for a value, by the name of the function in `Thread.ts` that returns it. */
export interface Call {
  readonly type: "call"
  readonly id: number
  readonly name: string
  readonly args: ReadonlyArray<unknown>
}

export type ToThread =
  | {
      readonly type: "exchange"
      readonly id: number
      /** `arrivedAtMs` counts from the time origin of the epoch, not of a thread. */
      readonly exchange: Omit<Exchange, "stream">
      /** Whether the pieces of its body follow. */
      readonly isStreamed: boolean
      /** The parent of the spans of the exchange. */
      readonly span: SpanReference | undefined
    }
  /** The client of this exchange has gone. */
  | { readonly type: "cancel"; readonly id: number }
  /** Answers a `reserve`. */
  | { readonly type: "reserved"; readonly id: number; readonly isReserved: boolean }
  | Call
  | StreamMessage
  | { readonly type: "close" }

export type FromThread =
  /** The modules are loaded. */
  | { readonly type: "loaded" }
  /** The storage is open. */
  | { readonly type: "opened" }
  /** The storage cannot be opened; the thread ends. */
  | { readonly type: "failed"; readonly error: ErrorData }
  /** Where its body is made while it is taken, the pieces follow. */
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer; readonly isStreamed?: true }
  /** The exchange has no answer. */
  | { readonly type: "lost"; readonly id: number }
  /** Asks whether the answer may take this number of bytes. */
  | { readonly type: "reserve"; readonly id: number; readonly bytes: number }
  | { readonly type: "returned"; readonly id: number; readonly value: unknown }
  | { readonly type: "threw"; readonly id: number; readonly error: ErrorData }
  | {
      readonly type: "log"
      readonly level: LogLevel.Severity
      readonly message: ReadonlyArray<string>
      readonly cause: ErrorData | undefined
      readonly annotations: Readonly<Record<string, unknown>>
    }
  /** Damage was found in the session of this number, or something of it was erased. */
  | { readonly type: "stale"; readonly stale: StaleSession }
  | StreamMessage
  | SpanBegan
  | SpanEnded
  | { readonly type: "closed" }
