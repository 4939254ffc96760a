/** The list of sessions as it was last looked at, with its filters: where `Escape` goes to from a session. */
import * as Key from "../server/Key.ts"
import * as Route from "./Route.ts"

const all = Route.to(["sessions"])

let place = all

// Another key may open another project.
Key.whenSet(() => (place = all))

export const set = (query: URLSearchParams): void => void (place = Route.to(["sessions"], Object.fromEntries(query)))

export const get = (): string => place
