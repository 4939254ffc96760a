/** In which zone all times are shown, and days begin. */
import * as Zone from "../settings/Zone.ts"
import { Choice, Menu } from "./Menu.tsx"

export const ZoneMenu = () => {
  const chosen = Zone.setting.use()
  const others = Zone.all.filter((zone) => zone !== "UTC" && zone !== Zone.ofBrowser())
  return (
    <Menu label="Times in" value={Zone.get()}>
      {(close) => {
        const choose = (zone: string) => {
          Zone.setting.set(zone)
          close()
        }
        return (
          <>
            <p class="hint">Days begin in it too. It is kept in this browser.</p>
            <Choice isChosen={chosen === ""} choose={() => choose("")}>
              {Zone.ofBrowser()} <small>as this browser</small>
            </Choice>
            {Zone.ofBrowser() !== "UTC" && (
              <Choice isChosen={chosen === "UTC"} choose={() => choose("UTC")}>
                UTC
              </Choice>
            )}
            <label class="choices">
              <span>Another</span>
              <select
                value={others.includes(chosen) ? chosen : ""}
                onChange={({ currentTarget }) => choose(currentTarget.value)}
              >
                <option value="">choose</option>
                {others.map((zone) => (
                  <option key={zone} value={zone}>
                    {zone.replaceAll("_", " ")}
                  </option>
                ))}
              </select>
            </label>
          </>
        )
      }}
    </Menu>
  )
}
