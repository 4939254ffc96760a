/** The calls of a session as a table. */
import { useEffect, useMemo, useRef } from "preact/hooks"
import { Ended, Model, Numbers, NumberTitles } from "../../parts/CallCells.tsx"
import { Bytes, Time } from "../../parts/Facts.tsx"
import * as Route from "../../route/Route.ts"
import type { Call } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { isRewrite, timeOf } from "./StreamItems.ts"

interface Props {
  readonly calls: ReadonlyArray<Call>
  readonly shown: ReadonlySet<string> | undefined
  readonly selected: string | undefined
}

const Changes = ({ call }: { readonly call: Call }) =>
  call.error_type === null && !call.is_damaged && isRewrite(call) ? (
    <span class="warn">rewritten, {Format.count(call.gone_messages.length)} gone</span>
  ) : (
    <Ended call={call} />
  )

export const CallsTable = ({ calls, selected, shown }: Props) => {
  const body = useRef<HTMLTableSectionElement>(null)
  // Thousands of rows are not drawn again for another selection.
  const rows = useMemo(
    () =>
      calls.map((call, index) =>
        shown !== undefined && !shown.has(call.event_id) ? null : (
          <tr key={call.event_id} data-call={call.event_id}>
            <td>
              <a href={Route.to(["events", call.event_id])}>{index + 1}</a>
            </td>
            <td>
              <Time at={timeOf(call)} />
            </td>
            <td>
              <Model call={call} />
            </td>
            <td class="number">{Format.count(call.new_messages.length)}</td>
            <td class="number">
              <Bytes value={call.inputs_bytes} />
            </td>
            <Numbers call={call} />
            <td>
              <Changes call={call} />
            </td>
          </tr>
        )
      ),
    [calls, shown]
  )
  const rowOf = () =>
    selected === undefined ? null : (body.current?.querySelector(`[data-call="${selected}"]`) ?? null)
  useEffect(() => {
    const row = rowOf()
    row?.setAttribute("aria-current", "true")
    return () => row?.removeAttribute("aria-current")
  }, [selected, rows])
  useEffect(() => rowOf()?.scrollIntoView({ block: "nearest" }), [selected])
  return (
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
            <NumberTitles />
            <th scope="col">Ended</th>
          </tr>
        </thead>
        <tbody ref={body}>{rows}</tbody>
      </table>
    </div>
  )
}
