/** The calls of a session as a table. */
import { Bytes, Cost, Duration, Time, Tokens } from "../../parts/Facts.tsx"
import * as Route from "../../route/Route.ts"
import type { Call } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import { isRewrite, timeOf } from "./Items.ts"

interface Props {
  readonly calls: ReadonlyArray<Call>
  readonly shown: ReadonlySet<string> | undefined
}

const Changes = ({ call }: { readonly call: Call }) => {
  if (call.error_type !== null) {
    return (
      <span class="bad">
        <Plain text={call.error_type} />
      </span>
    )
  }
  if (isRewrite(call)) return <span class="warn">rewritten, {Format.count(call.gone_messages.length)} gone</span>
  return <>{call.stop_reason ?? ""}</>
}

export const CallsTable = ({ calls, shown }: Props) => (
  <div class="calls-table">
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">Call</th>
          <th scope="col">When</th>
          <th scope="col">Model</th>
          <th scope="col" class="number">
            New messages
          </th>
          <th scope="col" class="number">
            Sent
          </th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col" class="number">
            Cost
          </th>
          <th scope="col" class="number">
            Took
          </th>
          <th scope="col">Ended</th>
        </tr>
      </thead>
      <tbody>
        {calls.map((call, index) =>
          shown !== undefined && !shown.has(call.event_id) ? null : (
            <tr key={call.event_id}>
              <td>
                <a href={Route.to(["events", call.event_id])}>{index + 1}</a>
              </td>
              <td>
                <Time at={timeOf(call)} />
              </td>
              <td>
                <Plain text={call.response_model ?? call.model ?? ""} />
              </td>
              <td class="number">{Format.count(call.new_messages.length)}</td>
              <td class="number">
                <Bytes value={call.inputs_bytes} />
              </td>
              <td class="number">
                <Tokens input={call.input_tokens} cached={call.cache_read_tokens} output={call.output_tokens} />
              </td>
              <td class="number">
                <Cost usd={call.cost_usd} />
              </td>
              <td class="number">
                <Duration ms={call.duration_ms} />
              </td>
              <td>
                <Changes call={call} />
              </td>
            </tr>
          )
        )}
      </tbody>
    </table>
  </div>
)
