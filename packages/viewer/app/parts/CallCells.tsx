/** What every table of calls says of a call: its model, what it took and how it ended. */
import type { EventSummary, ListedEvent } from "../server/Types.ts"
import * as Failure from "../text/Failure.ts"
import { plain } from "../text/Hidden.ts"
import * as Names from "../text/Names.ts"
import { Plain } from "../text/Plain.tsx"
import { Colored } from "./Colored.tsx"
import { damagedTitle } from "./Damaged.tsx"
import { callColumn } from "./Costs.tsx"
import { Duration, Tokens } from "./Facts.tsx"
import { Rebuilt } from "./Rebuilt.tsx"
import { type Column, number } from "./Table.tsx"

/** On one line, however long it is. */
export const Name = ({ text }: { readonly text: string }) => (
  <Plain as="span" class="name" title={plain(text)} text={text} />
)

export const Model = ({ call }: { readonly call: EventSummary }) => {
  const model = call.response_model ?? call.model ?? ""
  return (
    <>
      <Colored name={model}>
        <Plain as="span" class="model" title={plain(model)} text={model} />
      </Colored>{" "}
      <Rebuilt call={call} />
    </>
  )
}

/** What a call took and cost. */
export const numbers: ReadonlyArray<Column<EventSummary>> = [
  number(
    "Tokens",
    (call) => <Tokens input={call.input_tokens} cached={call.cache_read_tokens} output={call.output_tokens} />,
    undefined,
    "tokens"
  ),
  callColumn,
  number("Took", ({ duration_ms }) => <Duration ms={duration_ms} />, undefined, "duration")
]

/** Why a model stopped, with the word of the wire as its title. */
export const Ending = ({ reason }: { readonly reason: string | null }) =>
  reason === null ? (
    <span title="The answer does not say why it ended">–</span>
  ) : (
    <Plain as="span" title={plain(reason)} text={Names.ofEnd(reason)} />
  )

/** That it is damaged, or its error, or why it stopped. */
export const Ended = ({ call }: { readonly call: EventSummary & Pick<ListedEvent, "is_damaged"> }) => {
  if (call.is_damaged === true) {
    return (
      <span class="bad" title={damagedTitle}>
        damaged
      </span>
    )
  }
  if (call.error_type === null) return <Ending reason={call.stop_reason} />
  return <Plain as="span" class="bad" text={Failure.ofCall(call)} />
}
