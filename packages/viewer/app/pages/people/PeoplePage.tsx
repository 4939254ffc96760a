/** `#/people`: the people of the project, in the order in which they were first seen. */
import { useEffect, useRef } from "preact/hooks"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Time } from "../../parts/Facts.tsx"
import { More } from "../../parts/More.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import type { Person } from "../../server/Types.ts"
import { usePages } from "../../server/usePages.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

const read = async (cursor: string | null, signal: AbortSignal) => {
  const page = await api.listPeople({ cursor: cursor ?? undefined }, { signal })
  return { rows: page.people, next: page.next_cursor }
}

const source = { read, idOf: ({ person_id }: Person) => person_id }

export const PeoplePage = () => {
  const pages = usePages("people", source, "")
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(pages.rows.map(source.idOf), list, (index) =>
    Route.go(Route.to(["people", pages.rows[index]!.person_id]))
  )
  useEffect(() => void (document.title = "People · Tachograph"), [])
  const isEmpty = pages.rows.length === 0
  return (
    <section class="page">
      <div class="page-head">
        <h1>People</h1>
      </div>
      {pages.error !== undefined && isEmpty && <Failed error={pages.error} again={pages.again} />}
      {isEmpty && pages.isLoading && <Loading what="the people" />}
      {isEmpty && !pages.isLoading && pages.error === undefined && (
        <Empty title="Nobody is known yet">
          <p>People appear here when a call names its person.</p>
        </Empty>
      )}
      {!isEmpty && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="People">
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">Person</th>
                <th scope="col">Properties</th>
                <th scope="col" class="number">
                  Known since
                </th>
              </tr>
            </thead>
            <tbody ref={list}>
              {pages.rows.map(({ created_at, person_id, properties }, index) => (
                <tr key={person_id} aria-current={index === selection ? "true" : undefined}>
                  <td class="title">
                    <a href={Route.to(["people", person_id])}>
                      <Plain text={person_id} />
                    </a>
                  </td>
                  <td>
                    <span class="soft">
                      <Plain text={propertiesOf(properties)} />
                    </span>
                  </td>
                  <td class="number">
                    <Time at={created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More pages={pages} />
    </section>
  )
}

/** On one line. */
const propertiesOf = (properties: Person["properties"]): string => {
  const text = Object.entries(properties)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ")
  return text === "" ? "none" : Words.line(text)
}
