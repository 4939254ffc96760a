/** Calls that were put together from what OpenTelemetry told: a rebuilt one is not taken for a verbatim one. */
import * as Format from "../text/Format.ts"
import { plain } from "../text/Hidden.ts"
import { Plain } from "../text/Plain.tsx"
import { Fact } from "./Facts.tsx"
import { isRebuilt, listIn, otlpOf, textOf, type Told } from "./Recorded.ts"

/** How much of the call is not the wire's, as a sentence. */
const meaningOf = (call: Told): string => {
  const source = "put together from what OpenTelemetry told; not the bytes of the wire."
  const [verbatim, ...others] = listIn(call, "verbatim").filter((text) => text === "inputs" || text === "output")
  if (verbatim === undefined || others.length > 0) return `P${source.slice(1)}`
  return verbatim === "inputs"
    ? `The inputs are verbatim. The output was ${source}`
    : `The output is verbatim. The inputs were ${source}`
}

/** What is known of the span, by name. */
const factsOf = (call: Told): ReadonlyArray<readonly [name: string, value: string]> => {
  const otlp = otlpOf(call) ?? {}
  const dropped = otlp["dropped"]
  const cut = listIn(call, "cut")
  return (
    [
      ["Scope", `${textOf(otlp["scope"])} ${textOf(otlp["scope_version"])}`.trim()],
      ["Span", textOf(otlp["span"])],
      ["Service", textOf(otlp["service"])],
      [
        "Dropped",
        typeof dropped === "number" && dropped > 0 ? `${Format.counted(dropped, "attribute")} by its SDK` : ""
      ],
      ["Cut at the end", cut.join(", ")]
    ] as const
  ).filter(([, value]) => value !== "")
}

/** A word beside the model. Nothing, where the call is verbatim. */
export const Rebuilt = ({ call }: { readonly call: Told }) =>
  isRebuilt(call) ? (
    <span
      class="rebuilt"
      title={[meaningOf(call), ...factsOf(call).map(([name, value]) => `${name}: ${plain(value)}`)].join("\n")}
    >
      rebuilt
    </span>
  ) : null

/** The same sentence where there is room for it. */
export const RebuiltHint = ({ call }: { readonly call: Told }) =>
  isRebuilt(call) ? (
    <p class="hint">
      <b class="rebuilt">Rebuilt</b> {meaningOf(call)}
    </p>
  ) : null

/** Of which span the call was made, also where all of it is verbatim. */
export const SpanFacts = ({ call }: { readonly call: Told }) => (
  <>
    {factsOf(call).map(([name, value]) => (
      <Fact key={name} name={name}>
        <Plain text={value} />
      </Fact>
    ))}
  </>
)
