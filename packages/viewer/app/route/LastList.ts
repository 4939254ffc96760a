/** The list of sessions as it was last looked at, with its filters: where `Escape` goes back to from a session. */
import * as Route from "./Route.ts"

let place = Route.to(["sessions"])

export const remember = (query: URLSearchParams): void =>
  void (place = Route.to(["sessions"], Object.fromEntries(query)))

export const get = (): string => place
