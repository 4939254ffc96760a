/** Which project the pages show. A key opens one: another project needs another key, which this tab keeps beside the first. */
import { useState } from "preact/hooks"
import { titleOf } from "../parts/States.tsx"
import { useKeyField } from "../parts/useKeyField.ts"
import * as Client from "../server/Client.ts"
import * as Key from "../server/Key.ts"
import type { Me } from "../server/Types.ts"
import { Plain } from "../text/Plain.tsx"
import { LogOut } from "./LogOut.tsx"
import { Choice, Menu } from "./Menu.tsx"

interface Props {
  readonly me: Me
}

export const ProjectMenu = ({ me }: Props) => (
  <Menu label="Project" value={me.project}>
    {(close) => {
      const others = Key.projects().filter((name) => name !== me.project)
      return (
        <>
          {others.length > 0 && (
            <>
              <Choice isChosen choose={close}>
                <Plain text={me.project} />
              </Choice>
              {others.map((name) => (
                <Choice key={name} isChosen={false} choose={() => Key.open(name)}>
                  <Plain text={name} />
                </Choice>
              ))}
            </>
          )}
          {Key.get() === undefined ? (
            <LogOut actor={me.actor} />
          ) : (
            <>
              <p class="hint">A key opens one project. Another project needs another key.</p>
              <OtherProject />
              <button type="button" onClick={Key.forget}>
                Forget key
              </button>
            </>
          )}
        </>
      )
    }}
  </Menu>
)

/** A key that opens nothing does not take the place of the one that does. */
const OtherProject = () => {
  const [problem, setProblem] = useState<string>()
  const open = async (key: string) => {
    try {
      await Client.check(key)
      Key.set(key)
    } catch (error) {
      setProblem(`${titleOf(Client.toError(error))}.`)
    }
  }
  const { field, foreign, onSubmit } = useKeyField((key) => void open(key))
  const shown = foreign === undefined ? problem : "This is not a key."
  return (
    <form onSubmit={onSubmit}>
      <label>
        <span>Another key</span>
        <input {...field} />
      </label>
      <button type="submit">Open</button>
      {shown !== undefined && <p role="alert">{shown}</p>}
    </form>
  )
}
