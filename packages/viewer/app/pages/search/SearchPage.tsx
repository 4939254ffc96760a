/** `#/search?q=…`: where something was said. Each message counts once: in the call that carried it first. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import { Filters, valuesOf } from "../../parts/Filters.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import { Results } from "./Results.tsx"

/** Who said it, as the place names them. */
const speakers = [
  ["", "people, models and tools"],
  ["user", "people"],
  ["assistant", "models"],
  ["tool", "tools"],
  ["system", "instructions"],
  ["any", "all of them"]
] as const

const filterNames = ["agent", "agent_version", "person", "model", "session"] as const

export const SearchPage = ({ query }: PageProps) => {
  const words = query.get("q") ?? ""
  const isCaseSensitive = query.get("case") === "sensitive"
  const filters = valuesOf(query, filterNames)
  const role = query.get("role") ?? ""
  const asked = { q: words, case: query.get("case"), role, ...filters }
  useEffect(() => void (document.title = "Search · Tachograph"), [])
  return (
    <section class="page">
      <div class="page-head">
        <h1>Search</h1>
        <PageHelp />
      </div>
      <Asking {...{ isCaseSensitive, role, words }} />
      <Filters names={filterNames} values={filters} set={(changes) => Route.amend(changes, "go")} />
      {words !== "" && <Results key={JSON.stringify(asked)} query={{ q: words, ...Client.given(asked) }} />}
    </section>
  )
}

interface AskingProps {
  readonly words: string
  readonly role: string
  readonly isCaseSensitive: boolean
}

const Asking = ({ isCaseSensitive, role, words }: AskingProps) => {
  const field = useRef<HTMLInputElement>(null)
  // Before the page is painted: a person may type at once.
  useLayoutEffect(() => {
    if (words === "") field.current!.focus()
  }, [])
  useKeys([{ keys: "/", does: "Go to the search field", run: () => field.current!.focus() }])
  return (
    <form
      class="search"
      role="search"
      aria-label="Search"
      onSubmit={(event) => {
        event.preventDefault()
        Route.amend({ q: field.current!.value }, "go")
      }}
    >
      <input
        ref={field}
        type="search"
        aria-label="What was said"
        placeholder="What was said, in messages and tools"
        key={words}
        defaultValue={words}
        maxLength={1_000}
      />
      <button type="submit" class="primary">
        Search
      </button>
      <label class="check">
        Said by
        <select
          value={role}
          onChange={({ currentTarget }) =>
            // What was typed is searched for too.
            Route.amend({ q: field.current!.value, role: currentTarget.value }, "go")
          }
        >
          {speakers.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isCaseSensitive}
          onChange={() => Route.amend({ case: isCaseSensitive ? null : "sensitive" }, "go")}
        />
        Match case
      </label>
    </form>
  )
}
