/** Says why a filtered list is empty: a name that was never recorded may be misspelt. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"
import type { Access, Query } from "./Access.ts"

/** The parameters that have names, with the paths of what they name. */
const paths = { person: "/people", agent: "/agents", session: "/sessions" } as const

/** Prints one line on standard error: the first name that nothing has, or else, for people, that nothing was found. */
export const explain = Effect.fnUntraced(function* ({ request }: Access, query: Query, isJson: boolean) {
  for (const [what, path] of Object.entries(paths)) {
    const name = query[what]
    if (name === undefined) continue
    const isUnseen = yield* request(`${path}/${encodeURIComponent(String(name).toWellFormed())}`).pipe(
      Effect.as(false),
      Effect.catch(({ refusal }) => Effect.succeed(refusal === `${what}-not-found`))
    )
    if (isUnseen)
      return yield* Console.error(
        `No ${what} "${Table.printable(String(name))}" is recorded in this project: is it misspelt?`
      )
  }
  if (!isJson) yield* Output.nothingFound
})
