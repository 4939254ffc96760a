/** What the list says of a failure. */
import { Name } from "../../parts/CallCells.tsx"
import { Colored } from "../../parts/Colored.tsx"
import { Time } from "../../parts/Facts.tsx"
import { type Column, number } from "../../parts/Table.tsx"
import * as Route from "../../route/Route.ts"
import type { Failure } from "../../server/Types.ts"
import { kindOf, meaningOf } from "../../text/Failure.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import { line } from "../../text/Words.ts"

/** Names of a cell, and characters of what was said. */
const maxNames = 3
const maxCharacters = 300

const others = (shown: number, others: number) => {
  const more = Math.max(0, shown - maxNames) + others
  return more === 0 ? null : <small>and {Format.count(more)} more</small>
}

export const columnsOf = (callsOf: (failure: Failure) => string): ReadonlyArray<Column<Failure>> => [
  {
    title: "Failure",
    of: ({ error_code, error_type, event_id, http_status }) => (
      <>
        <a class="bad" href={Route.to(["events", event_id])} title="The latest call that failed so">
          <Plain text={kindOf(http_status, error_type, error_code)} />
        </a>
        <small>{meaningOf(http_status)}</small>
      </>
    )
  },
  {
    title: "The provider said, at the latest",
    class: "said-there",
    of: ({ message }) =>
      message === null ? (
        <span class="hint">nothing that can be read</span>
      ) : (
        <Plain text={line(message, maxCharacters)} />
      )
  },
  number("Calls", (failure) => (
    <a href={callsOf(failure)} title="Show these calls">
      {Format.count(failure.events)}
    </a>
  )),
  number("Sessions", ({ sessions }) => Format.count(sessions)),
  number("People", ({ people }) => Format.count(people)),
  {
    title: "Agents",
    of: ({ agent_versions, other_agent_versions }) => (
      <>
        {agent_versions.slice(0, maxNames).map(({ agent, agent_version }) => (
          <div key={`${agent} ${agent_version}`}>
            <Colored name={agent}>
              <Name text={agent} />
            </Colored>{" "}
            <Colored name={agent_version}>
              <Name text={agent_version} />
            </Colored>
          </div>
        ))}
        {others(agent_versions.length, other_agent_versions)}
      </>
    )
  },
  {
    title: "Models",
    of: ({ models, other_models }) => (
      <>
        {models.slice(0, maxNames).map(({ model }) => (
          <div key={model ?? ""}>
            <Colored name={model ?? ""}>
              <Name text={model ?? "no model"} />
            </Colored>
          </div>
        ))}
        {others(models.length, other_models)}
      </>
    )
  },
  number("First", ({ first_at }) => <Time at={first_at} />),
  number("Last", ({ last_at }) => <Time at={last_at} />)
]
