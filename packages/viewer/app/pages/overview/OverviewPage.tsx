/** `#/overview`: the last thirty days, day by day and model by model, and what is stored. */
import { useEffect } from "preact/hooks"
import { Bytes } from "../../parts/Facts.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import * as Lists from "../../server/Lists.ts"
import type { StorageUsage, UsageRow } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"

const days = 30
const dayMs = 86_400_000

/** Height of the bars (pixels). */
const height = 72

const read = async (signal: AbortSignal) => {
  const after = new Date(Date.now() - days * dayMs).toISOString()
  const [byDay, byModel, storage] = await Promise.all([
    Lists.usage({ group_by: "day", after, time_zone: Format.zone }, signal),
    Lists.usage({ group_by: "model", after }, signal),
    Client.get<StorageUsage>(["storage"], {}, signal)
  ])
  return { byDay, byModel, storage }
}

const dayOf = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" })

/** All days of the time that is shown, also those without a call. */
const allDays = (): ReadonlyArray<string> =>
  Array.from({ length: days }, (_, index) => dayOf.format(Date.now() - (days - 1 - index) * dayMs))

interface ChartProps {
  readonly title: string
  readonly rows: ReadonlyArray<UsageRow>
  readonly valueOf: (row: UsageRow) => number
  readonly show: (value: number) => string
}

const Chart = ({ rows, show, title, valueOf }: ChartProps) => {
  const byDay = new Map(rows.map((row) => [row.day, valueOf(row)]))
  const bars = allDays().map((day) => ({ day, value: byDay.get(day) ?? 0 }))
  const most = Math.max(1e-9, ...bars.map(({ value }) => value))
  const total = rows.reduce((sum, row) => sum + valueOf(row), 0)
  return (
    <figure class="chart">
      <figcaption>
        {title} <b>{show(total)}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${10 * bars.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} by day, ${show(total)} in all. The table says the same.`}
      >
        {bars.map(({ day, value }, index) => {
          const size = value === 0 ? 0 : Math.max(1, (height * value) / most)
          return (
            <rect key={day} x={10 * index} y={height - size} width={8} height={size}>
              <title>{`${day}: ${show(value)}`}</title>
            </rect>
          )
        })}
      </svg>
    </figure>
  )
}

export const OverviewPage = () => {
  const { again, error, value } = useAnswer(read, "overview")
  useEffect(() => void (document.title = "Overview · Tachograph"), [])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the overview" />
  const { byDay, byModel, storage } = value
  const stored = storage as unknown as Readonly<Record<string, unknown>>
  return (
    <section class="page">
      <div class="page-head">
        <h1>Overview</h1>
        <p class="hint">
          The last {days} days, in {Format.zone}
        </p>
      </div>
      {byDay.length === 0 ? (
        <Empty title="Nothing was recorded in this time" />
      ) : (
        <>
          <div class="charts">
            <Chart title="Calls" rows={byDay} valueOf={({ events }) => events} show={Format.count} />
            <Chart title="Failed" rows={byDay} valueOf={({ errors }) => errors} show={Format.count} />
            <Chart
              title="Tokens"
              rows={byDay}
              valueOf={({ input_tokens, output_tokens }) => input_tokens + output_tokens}
              show={Format.short}
            />
            <Chart
              title="Cost"
              rows={byDay}
              valueOf={({ cost_usd }) => Number(cost_usd ?? 0)}
              show={(value) => Format.dollars(String(value))}
            />
          </div>
          <UsageTable
            title="Day"
            rows={byDay.toReversed()}
            keyOf={({ day }) => day ?? ""}
            nameOf={({ day }) => day ?? ""}
          />
          <UsageTable
            title="Model"
            rows={byModel}
            keyOf={({ model }) => model ?? ""}
            nameOf={({ model }) => (
              <a href={Route.to(["sessions"], { model })}>
                <Plain text={model ?? "no model"} />
              </a>
            )}
          />
        </>
      )}
      <h2>Stored</h2>
      <dl class="facts narrow">
        {Object.entries(stored).map(([name, count]) =>
          typeof count === "number" ? (
            <div key={name}>
              <dt>{name.replaceAll("_", " ")}</dt>
              <dd>{name.endsWith("bytes") ? <Bytes value={count} /> : Format.count(count)}</dd>
            </div>
          ) : null
        )}
      </dl>
    </section>
  )
}
