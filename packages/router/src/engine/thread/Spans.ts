/**
 * Spans of the thread, which the host's tracer shows as its own: their beginnings and ends cross. Links do not. Only if the host
 * has a tracer.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { type ErrorData, errorData, toError } from "./ErrorData.ts"

/** A span of either side, by which another one says its parent. */
export interface SpanReference {
  readonly spanId: string
  readonly traceId: string
  readonly sampled: boolean
}

export interface SpanBegan extends Pick<Tracer.Span, "name" | "kind" | "sampled"> {
  readonly type: "span-began"
  readonly startTime: bigint
  readonly spanId: string
  readonly parent: SpanReference | undefined
}

export interface SpanEnded {
  readonly type: "span-ended"
  readonly spanId: string
  readonly endTime: bigint
  readonly attributes: Attributes
  readonly events: ReadonlyArray<readonly [name: string, startTime: bigint, attributes: Attributes]>
  /** What it failed with. */
  readonly error: ErrorData | undefined
}

type Attributes = Readonly<Record<string, string | number | boolean | bigint>>

export const referenceOf = ({ sampled, spanId, traceId }: Tracer.AnySpan): SpanReference => ({
  sampled,
  spanId,
  traceId
})

const attributesOf = (attributes: Iterable<readonly [string, unknown]>): Attributes => {
  const cloneable: Record<string, string | number | boolean | bigint> = {}
  for (const [key, value] of attributes) {
    const isScalar = ["string", "number", "boolean", "bigint"].includes(typeof value)
    cloneable[key] = isScalar ? (value as string) : (JSON.stringify(value) ?? "")
  }
  return cloneable
}

type Send = (item: SpanBegan | SpanEnded) => void

class ForwardedSpan extends Tracer.NativeSpan {
  readonly #send: Send

  constructor(options: ConstructorParameters<typeof Tracer.NativeSpan>[0], send: Send) {
    super(options)
    this.#send = send
    const { kind, name, sampled, spanId, startTime } = this
    const parent = Option.getOrUndefined(Option.map(this.parent, referenceOf))
    send({ type: "span-began", spanId, name, kind, startTime, sampled, parent })
  }

  override end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (this.status._tag === "Ended") return
    super.end(endTime, exit)
    this.#send({
      type: "span-ended",
      spanId: this.spanId,
      endTime,
      attributes: attributesOf(this.attributes),
      events: this.events.map(
        ([name, startTime, attributes]) => [name, startTime, attributesOf(Object.entries(attributes))] as const
      ),
      error: Exit.isSuccess(exit) ? undefined : errorData(Cause.squash(exit.cause))
    })
  }
}

/** The tracer of the thread. */
export const forwarding = (send: Send): Tracer.Tracer =>
  Tracer.make({ span: (options) => new ForwardedSpan(options, send) })

/** The spans of a thread that have begun, on the side of the host. */
export class HostSpans {
  readonly #tracer: Tracer.Tracer
  readonly #open = new Map<string, Tracer.Span>()

  constructor(tracer: Tracer.Tracer) {
    this.#tracer = tracer
  }

  began({ kind, name, parent, sampled, spanId, startTime }: SpanBegan): void {
    const open = parent && (this.#open.get(parent.spanId) ?? Tracer.externalSpan(parent))
    const span = this.#tracer.span({
      name,
      kind,
      startTime,
      sampled,
      parent: Option.fromUndefinedOr(open),
      root: open === undefined,
      annotations: Context.empty(),
      links: []
    })
    this.#open.set(spanId, span)
  }

  ended({ attributes, endTime, error, events, spanId }: SpanEnded): void {
    const span = this.#open.get(spanId)
    if (span === undefined) return
    this.#open.delete(spanId)
    for (const key in attributes) span.attribute(key, attributes[key])
    for (const event of events) span.event(...event)
    span.end(endTime, error === undefined ? Exit.void : Exit.die(toError(error)))
  }

  /** Ends what the thread has not ended. */
  lost(endTime: bigint): void {
    for (const span of this.#open.values()) span.end(endTime, Exit.die(new Error("The thread has ended")))
    this.#open.clear()
  }
}
