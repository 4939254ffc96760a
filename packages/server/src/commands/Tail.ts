/** `tachograph tail`: calls as they are recorded. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Command } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as ErrorMessages from "../access/ErrorMessages.ts"
import * as Filters from "../access/Filters.ts"
import * as Follow from "../access/Follow.ts"
import * as Unseen from "../access/Unseen.ts"
import * as CallLine from "../terminal/CallLine.ts"
import * as Output from "../terminal/Output.ts"

const examples = [
  { command: "tachograph tail --errors", description: "Calls that fail, as they are recorded" },
  {
    command: "tachograph tail --url https://tachograph.example.com --agent support --json",
    description: "The calls of an agent, from a server, as JSON with cursors"
  }
]

export const tail = Command.make(
  "tail",
  {
    ...Access.flags,
    ...Filters.ofCalls,
    errors: Filters.failedCalls,
    failure: Filters.failure,
    cursor: Filters.text(
      "cursor",
      "CURSOR",
      "Go on after the call with this cursor, from --json; from now on by default"
    ),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const query = {
      ...(yield* Filters.queryOf(flags)),
      error: Option.getOrUndefined(flags.errors),
      failure: Option.getOrUndefined(flags.failure),
      cursor: Option.getOrUndefined(flags.cursor)
    }
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.andThen(
        Unseen.warn(access, query),
        Follow.follow(access, query, (event) =>
          Effect.flatMap(ErrorMessages.of(access, event), (message) =>
            Output.print(flags.json ? ErrorMessages.json(event, message) : CallLine.of(event, message))
          )
        )
      )
    )
  })
).pipe(
  Command.withDescription("Print calls as they are recorded, until it is interrupted"),
  Command.withExamples(examples)
)
