/** `#/people?sort&order`: the people of the project with what their calls add up to, in the order in which they were first seen, or sorted. */
import type { ComponentChildren } from "preact"
import { Cost, digitsBy, missingOf, SumNote } from "../../parts/Costs.tsx"
import { Time, Tokens } from "../../parts/Facts.tsx"
import { FailedCount } from "../../parts/Failures.tsx"
import { Link } from "../../parts/Link.tsx"
import { ListPage } from "../../parts/ListPage.tsx"
import * as Sorting from "../../parts/Sorting.tsx"
import { Empty } from "../../parts/States.tsx"
import { type Column, number } from "../../parts/Table.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import * as Lists from "../../server/Lists.ts"
import type { Person, PersonWithUsage, UsageRow } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

const sorts = ["last", "cost", "calls", "tokens", "errors"] as const

const sourceOf = (sorting: Sorting.ListSorting) => ({
  read: async (cursor: string | null, signal: AbortSignal) => {
    const page = await api.listPeople({ ...Sorting.queryOf(sorting), cursor: cursor ?? undefined }, { signal })
    return { rows: page.people, next: page.next_cursor }
  },
  idOf: ({ person_id }: PersonWithUsage) => person_id
})

/** On one line. */
const propertiesOf = ({ properties }: Pick<Person, "properties">): string => {
  const text = Object.entries(properties)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ")
  return text === "" ? "none" : Words.line(text)
}

const placeOf = (id: string): string => Route.to(["people", id])

/** Of all calls, in the columns of a person. No person has that id. */
const totalOf = (usage: UsageRow): PersonWithUsage => ({ person_id: "", properties: {}, created_at: "", usage })

const isTotal = ({ person_id }: PersonWithUsage): boolean => person_id === ""

const noCalls = <span class="soft">none</span>

/** A figure of a person who has calls. */
const figure = (
  title: string,
  sort: Sorting.Sort | undefined,
  of: (usage: UsageRow, person: string, people: ReadonlyArray<PersonWithUsage>) => ComponentChildren
): Column<PersonWithUsage> =>
  number(
    title,
    ({ person_id, usage }, people) => (usage === null ? noCalls : of(usage, person_id, people)),
    undefined,
    sort
  )

const digitsIn = digitsBy(({ usage }: PersonWithUsage) => usage?.cost_usd ?? null)

const columns: ReadonlyArray<Column<PersonWithUsage>> = [
  {
    title: "Person",
    class: "title",
    of: ({ person_id }) => <Link to={placeOf(person_id)} text={person_id} />
  },
  {
    title: "Properties",
    of: (person) => (
      <Plain as="span" class="soft" text={isTotal(person) ? "all calls, with those of nobody" : propertiesOf(person)} />
    )
  },
  figure("Sessions", undefined, ({ sessions }) => (sessions === null ? "not known" : Format.count(sessions))),
  figure("Calls", "calls", ({ events }) => Format.count(events)),
  figure("Failed", "errors", ({ errors }, person) =>
    errors > 0 ? <FailedCount count={errors} to={Route.to(["failures"], { person })} /> : 0
  ),
  figure("Tokens", "tokens", (usage) => (
    <Tokens input={usage.input_tokens} cached={usage.cache_read_tokens} output={usage.output_tokens} />
  )),
  figure("Cost", "cost", (usage, _, people) => (
    <Cost usd={usage.cost_usd} missing={missingOf(usage)} digits={digitsIn(people)} />
  )),
  figure("Last seen", "last", ({ last_event_at }) =>
    last_event_at === null ? "not known" : <Time at={last_event_at} />
  ),
  number("Known since", (person) => !isTotal(person) && <Time at={person.created_at} />)
]

const nobody = (
  <Empty title="Nobody is known yet">
    <p>People appear here when a call names its person.</p>
  </Empty>
)

export const PeoplePage = ({ query }: PageProps) => {
  const sorting = Sorting.of(query, (changes) => Route.amend(changes, "go"))
  const { value } = useAnswer((signal) => Lists.usage({}, signal), "people")
  const total = value?.total && totalOf(value.total)
  return (
    <ListPage
      title="People"
      name="people"
      open={(id) => Route.go(placeOf(id))}
      empty={nobody}
      noteOf={(people) => <SumNote of={(total === undefined ? people : [total]).flatMap(({ usage }) => usage ?? [])} />}
      source={sourceOf(sorting)}
      {...{ columns, sorting, total }}
    >
      <Sorting.SortBy sorting={sorting} sorts={sorts} own="Known since" />
      {sorting.sort !== undefined && <p class="hint">People who have calls</p>}
    </ListPage>
  )
}
