/** `#/failures`: how calls failed, by status, type and code, with what the provider said at the latest. */
import { useEffect, useRef } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Filters, namesOf, namesOfCalls, valuesOf } from "../../parts/Filters.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { Table } from "../../parts/Table.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import type { Failure, FailurePage } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { columnsOf } from "./columns.tsx"

export const FailuresPage = ({ query }: PageProps) => {
  const filterNames = namesOfCalls(query)
  const values = valuesOf(query, filterNames)
  const { error: _, ...filters } = values
  const asked = Client.given({ ...filters, ...namesOf(query, ["cursor"]) })
  const { again, error, value } = useAnswer(
    (signal) => Client.api.listFailures(asked, { signal }),
    JSON.stringify(asked)
  )
  useEffect(() => void (document.title = "Failures · Tachograph"), [])
  return (
    <section class="page failures-page">
      <div class="page-head">
        <h1>Failures</h1>
        <PageHelp />
        <Filters
          names={filterNames}
          values={filters}
          set={(changes) => Route.amend({ ...changes, cursor: null }, "go")}
          mayFail={false}
        />
      </div>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="the failures" />}
      {value !== undefined && <Found page={value} filters={filters} isLater={query.has("cursor")} />}
    </section>
  )
}

interface FoundProps {
  readonly page: FailurePage
  readonly filters: Route.Query
  /** Whether the calls that were recorded last were looked at on the page before. */
  readonly isLater: boolean
}

const Found = ({ filters, isLater, page: { damaged_events, events, failures, next_cursor } }: FoundProps) => {
  const callsOf = ({ failure }: Failure) => Route.to(["calls"], { ...filters, failure })
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(
    failures.map(({ failure }) => failure),
    list,
    (index) => Route.go(callsOf(failures[index]!))
  )
  return (
    <>
      {(isLater || next_cursor !== null) && (
        <p class="hint" role="status">
          Of {Format.counted(events, "failed call")}
          {isLater ? "" : ", those that were recorded last"}.{" "}
          {next_cursor !== null && (
            <a href={Route.to(["failures"], { ...filters, cursor: next_cursor })}>The failures before these</a>
          )}
        </p>
      )}
      {damaged_events > 0 && (
        <p class="hint">{Format.counted(damaged_events, "damaged call")} cannot be told apart, and are not shown.</p>
      )}
      {failures.length === 0 ? (
        <Empty title="No call failed" />
      ) : (
        <Table
          label="Failures"
          columns={columnsOf(callsOf)}
          rows={failures}
          keyOf={({ failure }) => failure}
          {...{ list, selection }}
        />
      )}
    </>
  )
}
