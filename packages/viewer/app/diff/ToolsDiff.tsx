/** Two lists of tools, compared by name. */
import * as Words from "../text/Words.ts"
import { Plain } from "../text/Plain.tsx"
import { WordDiff } from "./WordDiff.tsx"

type Tool = Readonly<Record<string, unknown>>

const nameOf = (tool: Tool, index: number): string => Words.textOf(tool["name"]) || `tool ${index + 1}`

const byName = (tools: ReadonlyArray<Tool>): ReadonlyMap<string, string> =>
  new Map(tools.map((tool, index) => [nameOf(tool, index), JSON.stringify(tool, undefined, 2)]))

interface Props {
  readonly before: ReadonlyArray<Tool>
  readonly after: ReadonlyArray<Tool>
}

export const ToolsDiff = ({ after, before }: Props) => {
  const old = byName(before)
  const now = byName(after)
  const names = Array.from(new Set([...old.keys(), ...now.keys()]))
  const changed = names.filter((name) => old.get(name) !== now.get(name))
  if (changed.length === 0) return <p class="hint">The same in both: {names.length}.</p>
  return (
    <>
      {changed.map((name) => (
        <section key={name} class="tool-diff">
          <h3>
            <Plain text={name} />
            {!old.has(name) && <small> added</small>}
            {!now.has(name) && <small> removed</small>}
          </h3>
          <WordDiff before={old.get(name) ?? ""} after={now.get(name) ?? ""} />
        </section>
      ))}
      {changed.length < names.length && <p class="hint">The same in both: {names.length - changed.length}.</p>}
    </>
  )
}
