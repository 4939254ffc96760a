/** What every table of calls says of a call: its model, what it took and how it ended. */
import type { EventSummary, ListedEvent } from "../server/Types.ts"
import { plain } from "../text/Hidden.ts"
import { Plain } from "../text/Plain.tsx"
import { damagedTitle } from "./Damaged.tsx"
import { CallCost } from "./Costs.tsx"
import { Duration, Tokens } from "./Facts.tsx"

/** The titles of `Numbers`. */
export const NumberTitles = () => (
  <>
    {["Tokens", "Cost", "Took"].map((title) => (
      <th key={title} scope="col" class="number">
        {title}
      </th>
    ))}
  </>
)

/** On one line, however long it is. */
export const Name = ({ text }: { readonly text: string }) => (
  <span class="name" title={plain(text)}>
    <Plain text={text} />
  </span>
)

export const Model = ({ call }: { readonly call: EventSummary }) => {
  const model = call.response_model ?? call.model ?? ""
  return (
    <span class="model" title={plain(model)}>
      <Plain text={model} />
    </span>
  )
}

export const Numbers = ({ call }: { readonly call: EventSummary }) => (
  <>
    <td class="number">
      <Tokens input={call.input_tokens} cached={call.cache_read_tokens} output={call.output_tokens} />
    </td>
    <td class="number">
      <CallCost call={call} />
    </td>
    <td class="number">
      <Duration ms={call.duration_ms} />
    </td>
  </>
)

/** That it is damaged, or its error, or why it stopped. */
export const Ended = ({ call }: { readonly call: ListedEvent }) => {
  if (call.is_damaged === true) {
    return (
      <span class="bad" title={damagedTitle}>
        damaged
      </span>
    )
  }
  if (call.error_type === null) return <Plain text={call.stop_reason ?? ""} />
  return (
    <span class="bad">
      <Plain text={call.error_type} />
    </span>
  )
}
