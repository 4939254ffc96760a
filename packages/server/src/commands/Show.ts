/** `tachograph show`: a session, as what was said and which call added what. */
import type { SessionCall as Call, SessionMessage as Message, Step } from "@tachograph/client/api"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as ErrorMessages from "../access/ErrorMessages.ts"
import type { CommandError, Ended } from "../terminal/CliErrors.ts"
import { Conversation } from "../terminal/Conversation.ts"
import { Instructions } from "../terminal/Instructions.ts"
import * as Filters from "../access/Filters.ts"
import * as SessionName from "../access/SessionName.ts"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"

/** The rows of a list, of which the next ones can be looked at. */
class Rows<Row> {
  readonly #read: Effect.Effect<Row | undefined, CommandError>
  #next: readonly [Row | undefined] | undefined

  constructor(read: Effect.Effect<Row | undefined, CommandError>) {
    this.#read = read
  }

  /** The next row, without going on. Undefined after the last one. */
  peek(): Effect.Effect<Row | undefined, CommandError> {
    return Effect.suspend(() => {
      if (this.#next !== undefined) return Effect.succeed(this.#next[0])
      return Effect.map(this.#read, (row) => {
        this.#next = [row]
        return row
      })
    })
  }

  pass(): void {
    this.#next = undefined
  }
}

/** The rows of a session. Fails at once where there is no such session. */
const open = Effect.fnUntraced(function* ({ rows }: Access.Access, session: string, withSteps: boolean) {
  const calls = new Rows(rows("listSessionCalls", { session }))
  yield* calls.peek()
  return {
    calls,
    messages: new Rows(rows("listSessionMessages", { session })),
    steps: new Rows(withSteps ? rows("listSessionSteps", { session }) : Effect.undefined)
  }
})

type Opened = Effect.Success<ReturnType<typeof open>>

const startOf = (of: Call | Step): number => Date.parse(of.occurred_at ?? of.received_at)

/**
 * Prints each call, and the messages that it carried first. A call that was made meanwhile may be left out. Steps come before the first
 * call that started later.
 */
const print = Effect.fnUntraced(function* (
  { calls, messages, steps }: Opened,
  printed: {
    readonly call: (call: Call, known: ReadonlyArray<number>) => Effect.Effect<string>
    /** Undefined for what was printed with its call. */
    readonly message: (message: Message) => string | undefined
    readonly steps: (steps: ReadonlyArray<Step>) => string
    /** What parts a call without new messages from the next one. */
    readonly gap: Effect.Effect<void, CommandError | Ended>
  }
) {
  const printSteps = Effect.fnUntraced(function* (beforeMs: number) {
    const started: Array<Step> = []
    for (let step = yield* steps.peek(); step !== undefined && startOf(step) < beforeMs; step = yield* steps.peek()) {
      steps.pass()
      started.push(step)
    }
    if (started.length > 0) yield* Output.print(printed.steps(started))
  })
  let lastNumber = 0
  for (let call = yield* calls.peek(); call !== undefined; call = yield* calls.peek()) {
    calls.pass()
    yield* printSteps(startOf(call))
    const before = lastNumber
    const known = [...call.new_messages, ...call.output].filter((number) => number <= before)
    let hasMessage = false
    yield* Output.print(yield* printed.call(call, known))
    for (let message = yield* messages.peek(); message?.event_id === call.event_id; message = yield* messages.peek()) {
      messages.pass()
      lastNumber = message.number
      const text = printed.message(message)
      if (text === undefined) continue
      yield* Output.print(text)
      hasMessage = true
    }
    if (!hasMessage) yield* printed.gap
  }
  yield* printSteps(Infinity)
})

/** The largest inputs that are read for the instructions in them, unless these are printed whole. They hold the history too. */
const maxInputsBytes = 4 * 1024 * 1024

/** The call in normal form, where its instructions may differ from what was printed. Undefined where it cannot be read. */
const instructionsOf = (access: Access.Access, call: Call, isWhole: boolean) => {
  const isLarge = call.inputs_bytes > maxInputsBytes && !isWhole
  if (!Instructions.areNew(call) || call.is_damaged || isLarge) return Effect.undefined
  return access.read("getEventMessages", { event_id: call.event_id }).pipe(Effect.catch(() => Effect.undefined))
}

/** For people: the mark of a call, why it failed, its instructions, and which messages are known. */
const describe = Effect.fnUntraced(function* (
  access: Access.Access,
  conversation: Conversation,
  call: Call,
  {
    isFull,
    isWhole,
    known
  }: {
    readonly isFull: boolean
    readonly isWhole: boolean
    readonly known: ReadonlyArray<number>
  }
) {
  // What the call says of its error may be cut.
  const message = isFull ? yield* ErrorMessages.of(access, call) : call.error_message
  const lines = [conversation.call(call, message)]
  const read = yield* instructionsOf(access, call, isWhole)
  if (known.length > 0) lines.push(conversation.known(known))
  lines.push(...conversation.instructions(call, read))
  return lines.join("\n")
})

export const show = Command.make(
  "show",
  {
    session: Argument.String("SESSION").pipe(
      Argument.withDescription(
        `The name of the session, its beginning (${SessionName.minCharacters} characters or more), or the id of a call in it`
      )
    ),
    ...Access.flags,
    full: Flag.Boolean("full").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print texts whole, not only their first 2,000 characters")
    ),
    instructions: Flag.Boolean("instructions").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print instructions whole, and not only how long they are and what changed in them")
    ),
    steps: Flag.Boolean("steps").pipe(
      Flag.withDefault(false),
      Flag.withDescription(
        "Print what the agent did between its calls, as OpenTelemetry told it: tools, agents, retrievals"
      )
    ),
    json: Filters.json
  },
  Effect.fnUntraced(function* ({ full, instructions, json, session, steps, ...flags }) {
    yield* Access.use(flags, Access.reading, (access) => {
      const conversation = new Conversation({ isFull: full, hasInstructions: instructions })
      const found = Effect.catchIf(
        open(access, session, steps),
        ({ refusal }) => refusal === "session-not-found",
        () =>
          Effect.gen(function* () {
            const name = yield* SessionName.find(access, session)
            if (!json) yield* Console.error(`The session is ${Table.printable(name)}`)
            return yield* open(access, name, steps)
          })
      )
      return Effect.flatMap(found, (rows) =>
        print(rows, {
          call: (call, known) =>
            json
              ? Effect.succeed(JSON.stringify({ call }))
              : describe(access, conversation, call, { isFull: full, isWhole: instructions, known }),
          steps: (steps) =>
            json ? steps.map((step) => JSON.stringify({ step })).join("\n") : `${conversation.steps(steps)}\n`,
          message: (message) => {
            if (json) return JSON.stringify({ message })
            const text = conversation.message(message)
            return text && `${text}\n`
          },
          gap: json ? Effect.void : Output.print("")
        })
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
      command: "tachograph show 210dad8b",
      description: "One whose name the client made, by its beginning"
    },
    {
      command: "tachograph show checkout-4711 --instructions",
      description: "With the system prompt, and each that changed, whole"
    },
    {
      command: "tachograph show checkout-4711 --steps",
      description: "With the tools that ran between the calls: how long each took, and which failed"
    },
    {
      command: "tachograph show checkout-4711 --json",
      description: "Each call as a line, followed by the messages that it carried first"
    }
  ])
)
