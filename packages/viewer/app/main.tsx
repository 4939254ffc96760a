/** Starts the pages. */
import { render } from "preact"
import { App } from "./App.tsx"
import * as NewTab from "./route/NewTab.ts"
import * as Return from "./route/Return.ts"
import * as Key from "./server/Key.ts"
import * as Theme from "./settings/Theme.ts"
import "./styles/index.css"

Return.restore()
Key.takeFromFragment()
// The link may be pasted into a tab that is open. Before the pages read the place: it is none.
addEventListener("hashchange", Key.takeFromFragment, { capture: true })
NewTab.listen()
Theme.apply()
render(<App />, document.querySelector("#app")!)
