/** Filters of a list. They are in the place, so that a link holds them. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import * as Zone from "../settings/Zone.ts"
import * as Format from "../text/Format.ts"
import * as Moments from "../text/Moments.ts"

const fields = {
  agent: "Agent",
  agent_version: "Version",
  person: "Person",
  model: "Model",
  session: "Session"
} as const

type Field = keyof typeof fields

const common = ["agent", "agent_version", "person", "model"] as const

/** By which calls are filtered. Few look for a session among them; who comes from one sees that. */
export const namesOfCalls = (query: URLSearchParams): ReadonlyArray<Field> =>
  query.has("session") ? [...common, "session"] : common

/** Filters that are no names. */
const others = ["error", "after", "before"] as const

type Values = Readonly<Record<string, string | null>>

export const namesOf = (query: URLSearchParams, names: ReadonlyArray<string>): Values =>
  Object.fromEntries(names.map((name) => [name, query.get(name)]))

export const valuesOf = (query: URLSearchParams, names: ReadonlyArray<Field>): Values =>
  namesOf(query, [...names, ...others])

interface Props {
  readonly names: ReadonlyArray<Field>
  readonly values: Values
  readonly set: (changes: Values) => void
}

/** Times before it are not those of calls. */
const firstTime = "1970"

interface FieldProps {
  readonly name: string
  readonly type: "text" | "datetime-local"
  readonly value: string
  readonly set: (value: string) => void
}

/** A field that stays the same element while its own changes come back as `value`, so that a person can go on typing. */
const Field = ({ name, set, type, value }: FieldProps) => {
  const field = useRef<HTMLInputElement>(null)
  const own = useRef("")
  useLayoutEffect(() => {
    if (value === own.current) return
    own.current = value
    field.current!.value = value
  }, [value])
  const common = {
    name,
    ref: field,
    spellcheck: false,
    onChange: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      own.current = currentTarget.value
      set(currentTarget.value)
    }
  }
  return type === "text" ? (
    <input type="text" placeholder="any" {...common} />
  ) : (
    <input type="datetime-local" {...common} />
  )
}

/** Names a stretch of time by a word, which stays one in the place. */
const When = ({ set, values }: Pick<Props, "set" | "values">) => {
  const [after, before] = [values["after"] || null, values["before"] || null]
  const chosen = Moments.stretches.findIndex((each) => each.after === after && each.before === before)
  const isOther = chosen === -1 && (after !== null || before !== null)
  return (
    <label>
      <span>When</span>
      <select
        value={isOther ? "other" : String(chosen)}
        onChange={({ currentTarget: { value } }) => {
          const { after = null, before = null } = Moments.stretches[Number(value)] ?? {}
          set({ after, before })
        }}
      >
        <option value="-1">any time</option>
        {isOther && <option value="other">as below</option>}
        {Moments.stretches.map(({ title }, index) => (
          <option key={title} value={String(index)}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}

export const NameFilters = ({ names, set, values }: Props) => (
  <>
    {names.map((name) => (
      <label key={name}>
        <span>{fields[name]}</span>
        <Field name={name} value={values[name] ?? ""} type="text" set={(value) => set({ [name]: value })} />
      </label>
    ))}
  </>
)

export const FailedOnly = ({ set, values }: Pick<Props, "set" | "values">) => (
  <label class="check">
    <input
      type="checkbox"
      checked={values["error"] === "true"}
      onChange={({ currentTarget }) => set({ error: currentTarget.checked ? "true" : null })}
    />
    <span>Failed only</span>
  </label>
)

interface FiltersProps extends Props {
  /** Whether those that failed can be told from others. */
  readonly mayFail?: boolean
  /** Stands behind them. */
  readonly children?: ComponentChildren
}

export const Filters = ({ children, mayFail = true, names, set, values }: FiltersProps) => (
  <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
    <NameFilters {...{ names, set, values }} />
    <When values={values} set={set} />
    {(["after", "before"] as const).map((name) => (
      <label key={name} class="time">
        <span title={`In ${Zone.get()}`}>{name === "after" ? "From" : "Until"}</span>
        <Field
          name={name}
          type="datetime-local"
          value={Format.localMinute(Moments.resolve(values[name] ?? ""))}
          set={(value) => {
            // While a year is typed, its first digits are one too.
            if (value === "" || value >= firstTime) set({ [name]: value === "" ? null : Format.ofLocalMinute(value) })
          }}
        />
      </label>
    ))}
    {mayFail && <FailedOnly values={values} set={set} />}
    {children}
  </form>
)
