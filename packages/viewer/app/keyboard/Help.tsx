/** All keys that do something on the page that is shown. */
import { Dialog } from "../parts/Dialog.tsx"
import { shortcuts } from "../settings/Reading.ts"
import * as Keys from "./Keys.ts"

const shown = (keys: string): ReadonlyArray<string> =>
  keys.split(" ").map((key) => key.replace("Mod+", Keys.isMac ? "⌘" : "Ctrl ").replace("Escape", "Esc"))

export const Help = ({ close }: { readonly close: () => void }) => {
  const state = shortcuts.use()
  return (
    <Dialog title="Keys" close={close}>
      <table class="keys">
        <tbody>
          {Keys.all().map(({ does, keys }) => (
            <tr key={keys}>
              <th scope="row">
                {shown(keys).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </th>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label class="check">
        <input
          type="checkbox"
          checked={state === "on"}
          onChange={({ currentTarget }) => shortcuts.set(currentTarget.checked ? "on" : "off")}
        />
        Keys without Ctrl or ⌘ do something
      </label>
    </Dialog>
  )
}
