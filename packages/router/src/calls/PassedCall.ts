/**
 * A call that passed the proxy and is over: what is known of it beside the copies of its bodies. The engine makes the event of it, off
 * the thread on which calls pass. It can be cloned.
 */
import type * as Failures from "@tachograph/capture/Failures"
import type { Grouping } from "@tachograph/capture/Grouping"
import type { Kind } from "@tachograph/capture/Kinds"

/** What ended a call early: the client, the connection to the upstream, or the end of the proxy. */
export type Interruption = Extract<Failures.Interruption, "aborted" | "connection_error" | "timeout" | "exit">

export interface PassedCall {
  readonly kind: Kind
  readonly fingerprintId: string
  readonly method: string
  /** Path and query below the upstream. */
  readonly rest: string
  /** The header `anthropic-beta`. */
  readonly beta: string | undefined
  readonly grouping: Grouping
  /** The program that makes the call, as it names itself. */
  readonly program?: string | undefined
  /** What the event must not hold, the longest first. */
  readonly credentials: ReadonlyArray<string>
  /** What it must not hold either, unless the request's body does. */
  readonly suspects: ReadonlyArray<string>
  /** The length of the request's copy, which is followed by that of the response. */
  readonly requestBytes: number
  /** False where it broke off: an application need not send the rest once it has its answer. */
  readonly isRequestWhole: boolean
  /** All values of `Content-Encoding`, in their order. */
  readonly requestEncoding: string | undefined
  readonly responseEncoding: string | undefined
  /** The content type of the response; empty where it has none. */
  readonly contentType: string
  /** 0 where no response came. */
  readonly status: number
  readonly interruption: Interruption | undefined
  /** The code of the error that ended it, such as `ECONNREFUSED`. */
  readonly failureCode: string | undefined
  /** ISO 8601. */
  readonly occurredAt: string
  readonly durationMs: number
  /** Until the first byte of the response's body; undefined if none came. */
  readonly firstByteMs: number | undefined
}
