/** `tachograph show`: a session, as what was said and which call added what. */
import type { InProcess } from "@tachograph/router"
import * as Effect from "effect/Effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as ErrorMessages from "../access/ErrorMessages.ts"
import type { CommandError } from "../terminal/CliErrors.ts"
import { Conversation } from "../terminal/Conversation.ts"
import * as Filters from "../access/Filters.ts"
import * as Output from "../terminal/Output.ts"

type Call = InProcess.RecordedSessionCall
type Message = InProcess.RecordedSessionMessage

const pageRows = 1_000

/** The rows of a list, a page at a time. */
class Rows<Row> {
  readonly #read: (
    cursor: string | undefined
  ) => Effect.Effect<{ readonly rows: ReadonlyArray<Row>; readonly next: string | null }, CommandError>
  #page: ReadonlyArray<Row> = []
  #at = 0
  #next: string | null | undefined

  constructor(access: Access.Access, path: string, name: string) {
    this.#read = (cursor) =>
      Effect.map(
        access.read<{ readonly [key: string]: unknown; readonly next_cursor: string | null }>(path, {
          limit: pageRows,
          cursor
        }),
        (page) => ({ rows: page[name] as ReadonlyArray<Row>, next: page.next_cursor })
      )
  }

  /** The next row, without going on. Undefined after the last one. */
  readonly peek = Effect.fnUntraced(function* (this: Rows<Row>): Effect.fn.Return<Row | undefined, CommandError> {
    while (this.#at === this.#page.length && this.#next !== null) {
      const { next, rows } = yield* this.#read(this.#next)
      this.#page = rows
      this.#at = 0
      this.#next = next
    }
    return this.#page[this.#at]
  })

  pass(): void {
    this.#at++
  }
}

/** Prints each call, and the messages that it carried first. A call that was made meanwhile may be left out. */
const print = Effect.fnUntraced(function* (
  calls: Rows<Call>,
  messages: Rows<Message>,
  printed: {
    readonly call: (call: Call, known: ReadonlyArray<number>) => Effect.Effect<string>
    readonly message: (message: Message) => string
  }
) {
  let lastNumber = 0
  for (let call = yield* calls.peek(); call !== undefined; call = yield* calls.peek()) {
    calls.pass()
    const before = lastNumber
    const known = [...call.new_messages, ...call.output].filter((number) => number <= before)
    yield* Output.print(yield* printed.call(call, known))
    for (let message = yield* messages.peek(); message?.event_id === call.event_id; message = yield* messages.peek()) {
      messages.pass()
      lastNumber = message.number
      yield* Output.print(printed.message(message))
    }
  }
})

export const show = Command.make(
  "show",
  {
    session: Argument.String("SESSION").pipe(Argument.withDescription("The name of the session")),
    ...Access.flags,
    full: Flag.Boolean("full").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print texts whole, not only their first 2,000 characters")
    ),
    json: Filters.json
  },
  Effect.fnUntraced(function* ({ full, json, session, ...flags }) {
    yield* Access.use(flags, Access.reading, (access) => {
      const path = `/sessions/${encodeURIComponent(session)}`
      const conversation = new Conversation(full)
      return print(
        new Rows<Call>(access, `${path}/calls`, "calls"),
        new Rows<Message>(access, `${path}/messages`, "messages"),
        {
          call: (call, known) => {
            if (json) return Effect.succeed(JSON.stringify({ call }))
            return Effect.map(ErrorMessages.of(access, call), (message) =>
              [conversation.call(call, message), ...(known.length > 0 ? [conversation.known(known)] : [])].join("\n")
            )
          },
          message: (message) => (json ? JSON.stringify({ message }) : `${conversation.message(message)}\n`)
        }
      )
    })
  })
).pipe(
  Command.withDescription("Show a session: its messages, each once, and what each call added, kept, rewrote and cost"),
  Command.withExamples([
    {
      command: "tachograph show checkout-4711 | less -R",
      description: "A session of the storage that a server uses by default"
    },
    {
      command: "tachograph show checkout-4711 --json",
      description: "Each call as a line, followed by the messages that it carried first"
    }
  ])
)
