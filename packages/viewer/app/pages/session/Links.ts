/** Places in the session that is shown. A link to a call of another thread than the one that is shown alone shows all of them. */
import * as Route from "../../route/Route.ts"
import type { Message } from "../../server/Types.ts"

/** The calls of the thread that is shown alone. Undefined where all are. */
export type Shown = ReadonlySet<string> | undefined

const linkTo = (event: string, shown: Shown, query: Route.Query): string => {
  const { path, query: now } = Route.current()
  const isElsewhere = shown?.has(event) === false
  return Route.to(path, { ...Object.fromEntries(now), ...(isElsewhere ? { thread: null } : {}), ...query })
}

export const toCall = (event: string, shown: Shown): string => linkTo(event, shown, { call: event, message: null })

export const toMessage = ({ event_id, number }: Message, shown: Shown): string =>
  linkTo(event_id, shown, { message: number, call: null })
