/** How a session is shown: as its conversation, as a table of its calls, or as the timeline of its calls and steps. It is in the place. */
import * as Route from "../../route/Route.ts"

const others = ["table", "timeline"] as const

export type View = "stream" | (typeof others)[number]

export const viewOf = (query: URLSearchParams): View => others.find((view) => view === query.get("view")) ?? "stream"

export const show = (view: View): void => Route.amend({ view: view === "stream" ? null : view })

/** Shows the session so, or, where it is already, as its conversation. */
export const toggle = (shown: View, view: View): void => show(shown === view ? "stream" : view)
