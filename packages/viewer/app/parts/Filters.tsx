/** Filters of a list. They are in the place, so that a link holds them. */
import * as Format from "../text/Format.ts"

const fields = {
  agent: "Agent",
  agent_version: "Version",
  person: "Person",
  model: "Model",
  session: "Session"
} as const

type Field = keyof typeof fields

/** Filters that are no names. */
const others = ["error", "after", "before"] as const

type Values = Readonly<Record<string, string | null>>

export const valuesOf = (query: URLSearchParams, names: ReadonlyArray<Field>): Values =>
  Object.fromEntries([...names, ...others].map((name) => [name, query.get(name)]))

interface Props {
  readonly names: ReadonlyArray<Field>
  readonly values: Values
  readonly set: (changes: Values) => void
}

export const Filters = ({ names, set, values }: Props) => (
  <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
    {names.map((name) => (
      <label key={name}>
        <span>{fields[name]}</span>
        <input
          name={name}
          defaultValue={values[name] ?? ""}
          key={values[name] ?? ""}
          placeholder="any"
          spellcheck={false}
          onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
        />
      </label>
    ))}
    {(["after", "before"] as const).map((name) => (
      <label key={name} class="time">
        <span title={`In ${Format.zone}`}>{name === "after" ? "From" : "Until"}</span>
        <input
          name={name}
          type="datetime-local"
          defaultValue={Format.localMinute(values[name] ?? null)}
          key={values[name] ?? ""}
          onChange={({ currentTarget: { value } }) =>
            set({ [name]: value === "" ? null : new Date(value).toISOString() })
          }
        />
      </label>
    ))}
    <label class="check">
      <input
        type="checkbox"
        checked={values["error"] === "true"}
        onChange={({ currentTarget }) => set({ error: currentTarget.checked ? "true" : null })}
      />
      <span>With errors</span>
    </label>
  </form>
)
