/** A call, as a mark in the stream: when it was, what it cost, and what it did to the history. */
import { Damaged } from "../../parts/Damaged.tsx"
import { Colored } from "../../parts/Colored.tsx"
import { CallCost } from "../../parts/Costs.tsx"
import { Duration, Time, Tokens } from "../../parts/Facts.tsx"
import { FailedCall } from "../../parts/FailedCall.tsx"
import { Rebuilt } from "../../parts/Rebuilt.tsx"
import * as Route from "../../route/Route.ts"
import type { Call } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import type { Retried } from "./Retries.ts"
import { isRewrite, timeOf } from "./StreamItems.ts"

interface Props {
  readonly call: Call
  readonly number: number
  readonly retried: Retried
  /** Where the session has several. */
  readonly thread: number | undefined
}

/** What changed beside the messages. */
const changesOf = (call: Call): ReadonlyArray<string> => [
  ...(call.instructions_changed ? ["instructions changed"] : []),
  ...(call.tools_changed ? ["tools changed"] : []),
  ...(call.parameters_changed ? ["settings changed"] : [])
]

interface OtherCallProps {
  readonly session: string
  readonly id: string
  readonly number: number
}

const OtherCall = ({ id, number, session }: OtherCallProps) => (
  <a href={Route.to(["sessions", session], { call: id })}>call {number}</a>
)

export const CallMark = ({ call, number, retried, thread }: Props) => {
  const changes = changesOf(call)
  return (
    <div class={call.error_type === null && !call.is_damaged ? "call-mark" : "call-mark failed"}>
      <div class="call-line">
        <a class="call-number" href={Route.to(["events", call.event_id])}>
          Call {number}
        </a>
        {thread !== undefined && <span class="thread">thread {thread}</span>}
        <Time at={timeOf(call)} />
        <Colored name={call.response_model ?? call.model ?? ""}>
          <Plain text={call.response_model ?? call.model ?? ""} />
        </Colored>
        <Rebuilt call={call} />
        <Tokens isNamed input={call.input_tokens} cached={call.cache_read_tokens} output={call.output_tokens} />
        <CallCost call={call} />
        <Duration ms={call.duration_ms} />
      </div>
      {call.is_damaged && <Damaged />}
      {isRewrite(call) && (
        <p class="rewrite">
          History rewritten: {Format.counted(call.gone_messages.length, "message")} gone, {call.kept_messages} kept
        </p>
      )}
      {call.new_messages.length === 0 && call.kept_messages > 0 && !isRewrite(call) && (
        <p class="hint">It sent nothing new</p>
      )}
      {changes.length > 0 && <p class="rewrite">{changes.join(", ")}</p>}
      {call.error_type !== null && (
        <p class="error">
          <FailedCall call={call} />
        </p>
      )}
      {(retried.of !== undefined || retried.by !== undefined) && (
        <p class="hint">
          {retried.of !== undefined && (
            <>
              Retry of <OtherCall session={call.session} {...retried.of} />
            </>
          )}
          {retried.of !== undefined && retried.by !== undefined && ", "}
          {retried.by !== undefined && (
            <>
              {retried.of === undefined ? "Retried" : "retried"} by <OtherCall session={call.session} {...retried.by} />
            </>
          )}
        </p>
      )}
    </div>
  )
}
