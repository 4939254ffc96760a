import { Name } from "../../parts/CallCells.tsx"
import { SumCost } from "../../parts/Costs.tsx"
import { Time, Tokens } from "../../parts/Facts.tsx"
import * as Route from "../../route/Route.ts"
import type { Session } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { plain } from "../../text/Hidden.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

/** A session is live if its last call is no older (ms), or no further ahead by the clock of its client. */
const liveMs = 60_000

interface Props {
  readonly session: Session
  readonly isSelected: boolean
  readonly now: number
  readonly peek: () => void
}

export const Row = ({ isSelected, now, peek, session }: Props) => {
  const isLive = Math.abs(now - Date.parse(session.last_event_at)) < liveMs
  const lasted = Date.parse(session.last_event_at) - Date.parse(session.first_event_at)
  return (
    <tr aria-current={isSelected ? "true" : undefined}>
      <td class="title">
        <a href={Route.to(["sessions", session.session])}>
          {isLive && <span class="live" role="img" aria-label="Live" title="A call within the last minute" />}
          {session.title === null ? <i>No words of a user</i> : <Plain text={Words.title(session.title)} />}
        </a>
        <small class="id">
          <Plain text={session.session} />
        </small>
        <button type="button" class="quiet peek-at" onClick={peek} aria-label="Preview" title="Preview (o)">
          ⇥
        </button>
      </td>
      <td class="agent">
        <Name text={session.agents.join(", ")} />
        <small>
          <Name text={[...session.agent_versions, ...session.people].join(" · ")} />
        </small>
      </td>
      <td class="number">
        {Format.count(session.events)}
        {session.errors > 0 && <small class="bad">{Format.count(session.errors)} failed</small>}
      </td>
      <td class="number">
        <Tokens input={session.input_tokens} cached={session.cache_read_tokens} output={session.output_tokens} />
        <small class="model" title={plain(session.models.join(", "))}>
          <Plain text={session.models.join(", ")} />
        </small>
      </td>
      <td class="number">
        <SumCost of={session} />
      </td>
      <td
        class="number"
        title={`${Format.bytes(session.sent_bytes)} recorded, ${Format.bytes(session.new_bytes)} of them for the first time`}
      >
        {Format.percent(session.sent_bytes - session.new_bytes, session.sent_bytes)}
      </td>
      <td class="number">
        <Time at={session.last_event_at} />
        <small title="From the first call to the last, as they were recorded">{Format.duration(lasted)}</small>
      </td>
    </tr>
  )
}
