/** What a call has in the place of an answer: often why it failed. */
import { Value } from "../../parts/message/Value.tsx"
import { Failed } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import type { Call } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"

/** Longer outputs (bytes) have their own tabs. */
const shownBytes = 64 * 1024

export const NoAnswer = ({ call }: { readonly call: Call }) => (
  <>
    <p>
      <b>There is no answer.</b>
    </p>
    {call.output_bytes <= shownBytes ? (
      <Output id={call.event_id} />
    ) : (
      <p class="hint">
        <a href={Route.to(["events", call.event_id], { tab: "json", of: "output" })}>Its output, as it was recorded</a>
      </p>
    )}
  </>
)

const Output = ({ id }: { readonly id: string }) => {
  const { again, error, value } = useAnswer((signal) => api.getEventOutput({ event_id: id }, { signal }), id)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return null
  return (
    <>
      <p class="hint">Its output, as it was recorded:</p>
      <div class="fold">
        <Value value={value} />
      </div>
    </>
  )
}
