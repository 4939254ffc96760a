/** `#/people`: the people of the project, in the order in which they were first seen. */
import { Time } from "../../parts/Facts.tsx"
import { Link } from "../../parts/Link.tsx"
import { ListPage } from "../../parts/ListPage.tsx"
import { Empty } from "../../parts/States.tsx"
import { type Column, number } from "../../parts/Table.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import type { Person } from "../../server/Types.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

const read = async (cursor: string | null, signal: AbortSignal) => {
  const page = await api.listPeople({ cursor: cursor ?? undefined }, { signal })
  return { rows: page.people, next: page.next_cursor }
}

const source = { read, idOf: ({ person_id }: Person) => person_id }

/** On one line. */
const propertiesOf = ({ properties }: Person): string => {
  const text = Object.entries(properties)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ")
  return text === "" ? "none" : Words.line(text)
}

const placeOf = (id: string): string => Route.to(["people", id])

const columns: ReadonlyArray<Column<Person>> = [
  {
    title: "Person",
    class: "title",
    of: ({ person_id }) => <Link to={placeOf(person_id)} text={person_id} />
  },
  {
    title: "Properties",
    of: (person) => <Plain as="span" class="soft" text={propertiesOf(person)} />
  },
  number("Known since", ({ created_at }) => <Time at={created_at} />)
]

const nobody = (
  <Empty title="Nobody is known yet">
    <p>People appear here when a call names its person.</p>
  </Empty>
)

export const PeoplePage = () => (
  <ListPage title="People" name="people" open={(id) => Route.go(placeOf(id))} empty={nobody} {...{ source, columns }} />
)
