/** The filters of the list. They are in the place, so that a link holds them. */
import * as Route from "../../route/Route.ts"

const fields = [
  ["agent", "Agent"],
  ["agent_version", "Version"],
  ["person", "Person"],
  ["model", "Model"]
] as const

export const filterNames = ["agent", "agent_version", "person", "model", "error", "after", "before"] as const

type Values = Readonly<Record<string, string | null | undefined>>

export const Filters = ({ values }: { readonly values: Values }) => (
  <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
    {fields.map(([name, label]) => (
      <label key={name}>
        <span>{label}</span>
        <input
          name={name}
          defaultValue={values[name] ?? ""}
          key={values[name] ?? ""}
          placeholder="any"
          spellcheck={false}
          onChange={({ currentTarget }) => Route.amend({ [name]: currentTarget.value }, "go")}
        />
      </label>
    ))}
    <label class="check">
      <input
        type="checkbox"
        checked={values["error"] === "true"}
        onChange={({ currentTarget }) => Route.amend({ error: currentTarget.checked ? "true" : null }, "go")}
      />
      <span>With errors</span>
    </label>
  </form>
)
