/** `tachograph calls`: which calls there were, and how each ended. */
import { callSorts } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as ErrorMessages from "../access/ErrorMessages.ts"
import * as Filters from "../access/Filters.ts"
import * as Unseen from "../access/Unseen.ts"
import * as CallLine from "../terminal/CallLine.ts"
import * as Output from "../terminal/Output.ts"

const examples = [
  { command: "tachograph calls --errors --after 24h", description: "Which calls of the last day failed" },
  { command: "tachograph calls --sort duration --after today", description: "The slowest calls of today" },
  { command: "tachograph calls --retried --after 24h", description: "Which of them were tried again" },
  { command: "tachograph calls --stop-reason length", description: "Which answers were cut off" },
  {
    command: "tachograph calls --session checkout-4711 --url https://tachograph.example.com --json",
    description: "The calls of a session, from a server, as JSON"
  }
]

export const calls = Command.make(
  "calls",
  {
    ...Access.flags,
    ...Filters.ofCalls,
    errors: Filters.failedCalls,
    failure: Filters.failure,
    retried: Flag.Boolean("retried").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Only calls that failed and were tried again, each with the call that did")
    ),
    stopReason: Filters.text(
      "stop-reason",
      "REASON",
      "Only calls that ended so: end, length, refusal, or a provider's own word"
    ),
    ...Filters.sort(callSorts, "the call that was recorded last"),
    ...Filters.order,
    limit: Filters.limit(20),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    const query = {
      ...(yield* Filters.queryOf(flags)),
      error: Option.getOrUndefined(flags.errors),
      failure: Option.getOrUndefined(flags.failure),
      retried: flags.retried ? (true as const) : undefined,
      stop_reason: Option.getOrUndefined(flags.stopReason),
      sort: Option.getOrUndefined(flags.sort),
      order: Option.getOrElse(flags.order, () => "desc" as const)
    }
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        const events = yield* access.list("listEvents", query, limit)
        if (events.length === 0) yield* Unseen.explain(access, query, flags.json)
        const lineOf = flags.json ? ErrorMessages.json : CallLine.of
        yield* ErrorMessages.forEach(access, events, (event, message) => Output.print(lineOf(event, message)))
      })
    )
  })
).pipe(
  Command.withDescription(
    "List calls, the one that was recorded last first or sorted, with what they took and how they ended"
  ),
  Command.withExamples(examples)
)
