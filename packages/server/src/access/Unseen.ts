/** Says that a filter has a name that was never recorded: it may be misspelt. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"
import type { Access, Query } from "./Access.ts"

/** The parameters that have names, with the paths of what they name. */
const paths = { person: "/people", agent: "/agents", session: "/sessions" } as const

/** Prints the first name that nothing has, on standard error. Returns whether there is one. */
export const warn = Effect.fnUntraced(function* ({ request }: Access, query: Query) {
  for (const [what, path] of Object.entries(paths)) {
    const name = query[what]
    if (name === undefined) continue
    const isUnseen = yield* request(`${path}/${encodeURIComponent(String(name).toWellFormed())}`).pipe(
      Effect.as(false),
      Effect.catch(({ refusal }) => Effect.succeed(refusal === `${what}-not-found`))
    )
    if (!isUnseen) continue
    yield* Console.error(`No ${what} "${Table.printable(String(name))}" is recorded in this project: is it misspelt?`)
    return true
  }
  return false
})

/** Says of an empty list which name nothing has, or else, for people, that nothing was found. */
export const explain = Effect.fnUntraced(function* (access: Access, query: Query, isJson: boolean) {
  if (!(yield* warn(access, query)) && !isJson) yield* Output.nothingFound
})
