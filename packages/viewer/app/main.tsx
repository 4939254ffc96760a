/** Starts the pages. */
import { render } from "preact"
import { App } from "./App.tsx"
import * as Key from "./server/Key.ts"
import * as Theme from "./settings/Theme.ts"
import "./styles/index.css"

Key.takeFromFragment()
Theme.apply()
render(<App />, document.querySelector("#app")!)
