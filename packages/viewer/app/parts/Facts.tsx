/** Small texts that many pages show, each with its exact value as a title. */
import type { ComponentChildren } from "preact"
import type { EventSummary } from "../server/Types.ts"
import * as Format from "../text/Format.ts"

/** A row of a list of facts. One that is not known is left out. */
export const Fact = ({ children, name }: { readonly name: string; readonly children: ComponentChildren }) =>
  children === null || children === false ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )

export const Time = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={Format.exactly(at)}>
    {Format.moment(at)}
  </time>
)

/** When a call took place, as far as that is known, with when it was recorded in the title. */
export const CallTime = ({ call }: { readonly call: Pick<EventSummary, "occurred_at" | "received_at"> }) => {
  const { occurred_at, received_at } = call
  if (occurred_at === null) return <Time at={received_at} />
  return (
    <time dateTime={occurred_at} title={`${Format.exactly(occurred_at)}\nRecorded ${Format.exactly(received_at)}`}>
      {Format.moment(occurred_at)}
    </time>
  )
}

export const Bytes = ({ value }: { readonly value: number }) => (
  <span title={`${Format.count(value)} bytes`}>{Format.bytes(value)}</span>
)

export const Duration = ({ ms }: { readonly ms: number | null }) => (
  <span title={ms === null ? "Not known" : `${ms} ms`}>{Format.duration(ms)}</span>
)

interface TokensProps {
  readonly input: number | null
  readonly cached: number | null
  readonly output: number | null
  /** Whether it says that they are tokens, where no title does. */
  readonly isNamed?: boolean
}

/** What went in, the part of it that was read from the cache, and what came out. */
export const Tokens = ({ cached, input, isNamed = false, output }: TokensProps) => {
  // Sums of calls that do not say are 0. No call that says has none.
  if (!input && !output)
    return (
      <span class="soft" title="The answers say nothing of their tokens">
        no usage
      </span>
    )
  const title = `${Format.count(input ?? 0)} tokens in, ${Format.count(cached ?? 0)} of them from the cache; ${Format.count(output ?? 0)} out`
  return (
    <span class="tokens" title={title}>
      {Format.short(input ?? 0)}
      {cached !== null && cached > 0 && <small> {Format.percent(cached, input ?? 0)} cached</small>}
      <span class="out"> → {Format.short(output ?? 0)}</span>
      {isNamed && " tokens"}
    </span>
  )
}
