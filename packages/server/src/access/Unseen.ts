/** Says that a filter has a name that was never recorded: it may be misspelt. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { CommandError } from "../terminal/CliErrors.ts"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"
import type { Access } from "./Access.ts"

/** The parameters that have names. */
interface Query {
  readonly person?: string | undefined
  readonly agent?: string | undefined
  readonly session?: string | undefined
}

/** Reads what has the name. */
const reads = {
  person: ({ read }: Access, person_id: string) => read("getPerson", { person_id }),
  agent: ({ read }: Access, agent_name: string) => read("getAgent", { agent_name }),
  session: ({ read }: Access, session: string) => read("getSession", { session })
}

/** Prints the first name that nothing has, on standard error. Returns whether there is one. */
export const warn = Effect.fnUntraced(function* (access: Access, query: Query) {
  for (const what of ["person", "agent", "session"] as const) {
    const name = query[what]
    if (name === undefined) continue
    const isUnseen = yield* (reads[what](access, name) as Effect.Effect<unknown, CommandError>).pipe(
      Effect.as(false),
      Effect.catch(({ refusal }) => Effect.succeed(refusal === `${what}-not-found`))
    )
    if (!isUnseen) continue
    yield* Console.error(`No ${what} "${Table.printable(name)}" is recorded in this project: is it misspelt?`)
    return true
  }
  return false
})

/** Says of an empty list which name nothing has, or else, for people, that nothing was found. */
export const explain = Effect.fnUntraced(function* (access: Access, query: Query, isJson: boolean) {
  if (!(yield* warn(access, query)) && !isJson) yield* Output.nothingFound
})
