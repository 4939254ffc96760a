/** `tachograph diff`: two sessions, or two calls, message by message. */
import { compare, type Compared as Row, countsOf } from "@tachograph/formats/normal/Comparison"
import { instructionsText } from "@tachograph/formats/normal/Noise"
import { stringify } from "@tachograph/formats/json/ExactJson"
import type { Part } from "@tachograph/formats"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Compared from "../access/Compared.ts"
import * as Filters from "../access/Filters.ts"
import * as SessionName from "../access/SessionName.ts"
import { CommandError, Ended } from "../terminal/CliErrors.ts"
import { Conversation } from "../terminal/Conversation.ts"
import * as Differences from "../terminal/Differences.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Indented from "../terminal/Indented.ts"
import * as Output from "../terminal/Output.ts"
import * as SideBySide from "../terminal/SideBySide.ts"
import * as Style from "../terminal/Style.ts"
import * as Table from "../terminal/Table.ts"

type Message = Compared.Numbered

/** With `--exit-code`. */
const exitCodes = { differs: 1, couldNotRun: 2 }

const json = (value: unknown): string => JSON.stringify(value, undefined, 2)

const sections: ReadonlyArray<readonly [name: string, textOf: (side: Compared.Side) => string]> = [
  ["instructions", ({ settings }) => (settings === undefined ? "" : instructionsText(settings))],
  ["tools", ({ settings }) => (settings?.tools ?? []).map(json).join("\n")],
  ["parameters", ({ settings }) => json(settings?.parameters ?? {})]
]

const said = (value: unknown): string => (typeof value === "string" ? value : json(value ?? ""))

const textOf = (part: Part): string => {
  if (part.type === "tool_call") return `${said(part["name"])} ${said(part["arguments"])}`
  if (part.type === "tool_call_response") return said(part["response"])
  return typeof part["content"] === "string" && part.type !== "blob" ? part["content"] : stringify(part)
}

const wordsOf = ({ parts }: Message): string => (parts as ReadonlyArray<Part>).map(textOf).join("\n")

const range = ([first, ...others]: ReadonlyArray<Message>): string =>
  others.length === 0 ? `${first!.number}` : `${first!.number}–${others.at(-1)!.number}`

/** For people: the lines of a row. */
const described = (row: Row<Message>, conversation: Conversation): string => {
  const alone = (message: Message, where: string) => {
    const lines = conversation.message({ event_id: "", at: "", from: "input", ...message })!.split("\n")
    return [`${lines[0]} ${Style.bold(`only in ${where}`)}`, ...lines.slice(1)].join("\n")
  }
  switch (row.kind) {
    case "equal":
      return Style.dim(
        `${Figures.counted(row.before.length, "equal message")} (A ${range(row.before)}, B ${range(row.after)})`
      )
    case "only-before":
      return alone(row.before, "A")
    case "only-after":
      return alone(row.after, "B")
    case "different": {
      const { after, before } = row
      const head = `${Style.dim(`[A ${before.number}, B ${after.number}]`)} ${Style.bold(Table.printable(before.role))} differs`
      const [one, other] = [wordsOf(before), wordsOf(after)]
      const lines = one === other ? ["what is no text differs"] : Differences.words(one, other)
      return [head, ...lines.map(Indented.of)].join("\n")
    }
  }
}

/** For programs: the numbers of messages that are equal, and all others whole. */
const encoded = (row: Row<Message>): object => {
  if (row.kind !== "equal") return row
  const numbers = (messages: ReadonlyArray<Message>) => messages.map(({ number }) => number)
  return { kind: row.kind, before: numbers(row.before), after: numbers(row.after) }
}

const encodedSide = (side: Compared.Side) => ({
  ...side.of,
  instructions: sections[0]![1](side),
  tools: side.settings?.tools ?? null,
  parameters: side.settings?.parameters ?? null,
  is_cut: side.isCut
})

const examples = [
  { command: "tachograph diff order-4711 order-4712", description: "What two sessions say, message by message" },
  {
    command: "tachograph diff 0197a4c2-5d3e-7b10-8f2a-3c4d5e6f7a8b 0197a4c2-6e4f-7c21-9a3b-4d5e6f7a8b9c",
    description: "Two calls, by their ids: a call and its retry, for example"
  },
  {
    command: "tachograph diff golden today --exit-code --json",
    description: "For a program: 1 if their messages or settings differ, 0 if they do not"
  }
]

const name = (which: string) =>
  Argument.String(which).pipe(
    Argument.withDescription(
      `A session, the beginning of its name (${SessionName.minCharacters} characters or more), or the id of a call`
    )
  )

/** Prints what differs, and says whether anything of the settings and messages does. */
const print = Effect.fnUntraced(function* (
  before: Compared.Side,
  after: Compared.Side,
  { full, json: isJson }: { readonly full: boolean; readonly json: boolean }
) {
  const rows = compare(before.messages, after.messages)
  const counts = countsOf(rows)
  const settings = sections.filter(([, textOf]) => textOf(before) !== textOf(after)).map(([name]) => name)
  if (isJson) {
    yield* Output.print(JSON.stringify({ kind: "sides", before: encodedSide(before), after: encodedSide(after) }))
    for (const row of rows) yield* Output.print(JSON.stringify(encoded(row)))
    yield* Output.print(JSON.stringify({ kind: "end", ...counts, settings }))
  } else {
    const conversation = new Conversation({ isFull: full, hasInstructions: true })
    yield* Output.print(`${SideBySide.facts(before.of, after.of)}\n`)
    for (const [name, textOf] of sections) {
      const lines = Differences.section(name, textOf(before), textOf(after), name === "instructions")
      for (const line of lines) yield* Output.print(line)
    }
    yield* Output.print("")
    for (const row of rows) yield* Output.print(described(row, conversation))
    if (rows.length > 0) yield* Output.print("")
    yield* Output.print(
      `${Figures.counted(counts.equal, "equal message")}, ${counts.different} different, ${counts["only-before"]} only in A, ${counts["only-after"]} only in B`
    )
  }
  if (before.isCut || after.isCut) {
    yield* Console.error(`Only the first ${Figures.integer(Compared.maxMessages)} messages of each were compared`)
  }
  return settings.length > 0 || counts.different + counts["only-before"] + counts["only-after"] > 0
})

export const diff = Command.make(
  "diff",
  {
    before: name("A"),
    after: name("B"),
    ...Access.flags,
    full: Flag.Boolean("full").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print messages that only one has whole, not only their first 2,000 characters")
    ),
    exitCode: Flag.Boolean("exit-code").pipe(
      Flag.withDefault(false),
      Flag.withDescription(
        "Exit with 1 if messages, instructions, tools or parameters differ, and with 2 if they cannot be compared"
      )
    ),
    json: Filters.json
  },
  Effect.fnUntraced(function* ({ after, before, exitCode, full, json, ...given }) {
    const differs = yield* Access.use(given, Access.reading, (access) =>
      Effect.gen(function* () {
        const sides = [yield* Compared.find(access, before), yield* Compared.find(access, after)] as const
        if ("session" in sides[0].of !== "session" in sides[1].of) {
          return yield* new CommandError({
            message: "One is a session and the other a call: compare two sessions or two calls"
          })
        }
        return yield* print(sides[0], sides[1], { full, json })
      })
    ).pipe(
      Effect.catchTag("CommandError", (error) =>
        Effect.fail(exitCode ? new CommandError({ message: error.message, exitCode: exitCodes.couldNotRun }) : error)
      )
    )
    if (exitCode && differs) return yield* new Ended({ exitCode: exitCodes.differs })
  })
).pipe(
  Command.withDescription("Compare two sessions, or two calls: what they are, their settings, and message by message"),
  Command.withExamples(examples)
)
