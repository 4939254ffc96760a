/** A session for people to read: its messages, with its calls as marks. What is in them can be anything, and is printed harmless. */
import type {
  Conversation as NormalForm,
  SessionCall as Call,
  SessionMessage as Message,
  Step
} from "@tachograph/client/api"
import type { Part as FormatPart } from "@tachograph/formats"
import { charactersOf } from "@tachograph/formats/normal/Instructions"
import * as Failure from "./Failure.ts"
import * as Figures from "./Figures.ts"
import * as Indented from "./Indented.ts"
import { indent } from "./Indented.ts"
import { characters, Instructions } from "./Instructions.ts"
import * as Rebuilt from "./Rebuilt.ts"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"

type Part = Message["parts"][number]

/** Characters of a text that are printed, unless all are asked for. */
const maxCharacters = 2_000

/** Characters of an error's message that are printed, unless all are asked for. */
const maxErrorCharacters = 500

interface Options {
  /** Whether texts are printed whole. */
  readonly isFull: boolean
  /** Whether instructions are. */
  readonly hasInstructions: boolean
}

/** What was printed of a session so far. */
export class Conversation {
  readonly #isFull: boolean
  readonly #hasInstructions: boolean
  /** The numbers of the calls, by their events. */
  readonly #calls = new Map<string, number>()
  readonly #instructions: Instructions
  /** Messages that were printed as the instructions of calls. */
  readonly #leading = new Set<number>()

  constructor({ hasInstructions, isFull }: Options) {
    this.#isFull = isFull
    this.#hasInstructions = hasInstructions
    this.#instructions = new Instructions(hasInstructions)
  }

  /** The mark of the next call. `message` is the error's, if it is one. */
  call(call: Call, message: string | null): string {
    const number = this.#calls.size + 1
    this.#calls.set(call.event_id, number)
    const facts = [
      Figures.minute(call.occurred_at ?? call.received_at),
      Table.printable([call.agent, call.agent_version].filter((name) => name !== "default").join(" ")),
      Table.printable(call.model ?? call.response_model ?? ""),
      tokensOf(call),
      Figures.cost(call),
      Figures.duration(call.duration_ms),
      call.stop_reason ?? ""
    ]
    const error =
      call.error_type === null
        ? []
        : [Style.red(`error: ${Failure.of(call, message, this.#isFull ? Infinity : maxErrorCharacters)}`)]
    if (call.retried_by !== null) error.push(`retried by ${call.retried_by}`)
    const changes = this.#changes(call, number)
    return [
      Style.dim(`── call ${number} · ${facts.filter((fact) => fact !== "").join(" · ")}`),
      ...[...error, ...changes].map((line) => `   ${line}`),
      Style.dim(`   ${call.event_id}`)
    ].join("\n")
  }

  /** How it differs from going on where the call before it ended. */
  #changes(call: Call, number: number): ReadonlyArray<string> {
    const parent = call.parent_event_id === null ? undefined : this.#calls.get(call.parent_event_id)
    const settings = [
      ...(call.instructions_changed ? ["instructions"] : []),
      ...(call.tools_changed ? ["tools"] : []),
      ...(call.parameters_changed ? ["parameters"] : [])
    ]
    const gone = call.gone_messages.length
    const retried = call.retry_of === null ? undefined : this.#calls.get(call.retry_of)
    const masked = call.recorded?.redacted ?? 0
    const subagent = call.recorded?.subagent
    return [
      ...Rebuilt.linesOf(call),
      ...(subagent === undefined ? [] : [`sub-agent ${Table.printable(subagent)}`]),
      ...(retried === undefined ? [] : [`retry of call ${retried}`]),
      ...(parent === undefined && number > 1 ? ["begins another thread"] : []),
      ...(parent !== undefined && parent !== number - 1 && parent !== retried ? [`goes on after call ${parent}`] : []),
      ...(gone === 0
        ? []
        : [
            Style.yellow(
              `history rewritten: ${Figures.counted(gone, "message")} gone (${numbered(call.gone_messages)}), ${call.kept_messages} kept`
            )
          ]),
      ...(settings.length === 0 ? [] : [`other ${settings.join(", ")}`]),
      ...(masked === 0 ? [] : [`${Figures.counted(masked, "part")} masked`]),
      ...(call.is_damaged ? [Style.red("damaged: its payload cannot be read")] : [])
    ]
  }

  /** The instructions of the call that was printed last. `read` is undefined where they were not read. */
  instructions(call: Call, read: NormalForm | undefined): ReadonlyArray<string> {
    for (const number of call.instruction_messages) this.#leading.add(number)
    return this.#instructions.of(call, this.#calls.size, read)
  }

  /** Messages that a call carries or answers, and that an earlier one carried first. */
  known(numbers: ReadonlyArray<number>): string {
    return Style.dim(`${indent}again: ${numbered(numbers)}`)
  }

  /** A line for each: its kind, its name, how long it took, and whether it failed. */
  steps(steps: ReadonlyArray<Step>): string {
    return steps.map((step) => this.#step(step)).join("\n")
  }

  #step({ duration_ms, kind, message, name, status }: Step): string {
    const facts = [kind, inLine(name), Figures.duration(duration_ms)].filter((fact) => fact !== "")
    const reason = Figures.cut((message ?? "").replaceAll(/\s+/g, " ").trim(), maxErrorCharacters)
    const failure = reason === "" ? "failed" : `failed: ${reason}`
    return [
      Style.dim(`   · ${facts.join(" · ")}`),
      ...(status === "error" ? [Style.red(Table.printable(failure))] : [])
    ].join(" · ")
  }

  /** Undefined for instructions that were printed with their call. */
  message(message: Message): string | undefined {
    const { from, instruction_parts = [], is_damaged: isDamaged, number, parts, role } = message
    if (this.#leading.has(number)) return undefined
    const head = `${Style.dim(`[${number}]`)} ${Style.bold(Table.printable(role))}${from === "output" ? Style.dim(" answers") : ""}`
    if (isDamaged === true) return `${head}\n${indent}${Style.red("damaged: it cannot be read")}`
    const folded = new Set(this.#hasInstructions ? [] : instruction_parts)
    return [head, ...parts.map((part, index) => (folded.has(index) ? foldedInstruction(part) : this.#part(part)))].join(
      "\n"
    )
  }

  #part(part: Part): string {
    const { content, name, response, type } = part
    switch (type) {
      case "text":
        return this.#text(content)
      case "reasoning":
        return Style.dim(this.#text(content))
      case "tool_call":
        return `${indent}${Style.cyan(`→ ${inLine(name)}`)}(${this.#inLine(part["arguments"])})`
      case "tool_call_response":
        return `${indent}${Style.cyan("←")} ${this.#text(response).trimStart()}`
      case "blob":
      case "uri":
      case "file":
        return `${indent}[${[part["modality"], part["mime_type"], part["uri"] ?? part["file_id"]].filter(Boolean).map(inLine).join(" ")}]`
      default:
        return `${indent}[${inLine(type)}] ${this.#inLine(part)}`
    }
  }

  #inLine(value: unknown): string {
    return this.#cut(inLine(value))
  }

  /** A text in lines of its own. What is no text is shown as JSON. */
  #text(value: unknown): string {
    return Indented.of(this.#cut(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "")))
  }

  #cut(text: string): string {
    if (this.#isFull || text.length <= maxCharacters) return text
    const start = text.slice(0, maxCharacters).replace(/[\ud800-\udbff]$/, "")
    return `${start} … ${Figures.integer(text.length - start.length)} more characters`
  }
}

const foldedInstruction = (part: Part): string =>
  Style.dim(`${indent}instructions: ${characters(charactersOf([part as FormatPart]))}; --instructions prints them`)

const inLine = (value: unknown): string =>
  Table.printable(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

const tokensOf = ({ cache_read_tokens: cached, input_tokens: input, output_tokens: output }: Call): string => {
  if (input === null && output === null) return ""
  return `${Figures.integer(input ?? 0)} in${Figures.cached(cached)}, ${Figures.integer(output ?? 0)} out`
}

/** `1–3, 5`. */
const numbered = (numbers: ReadonlyArray<number>): string => {
  const runs: Array<[first: number, last: number]> = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run?.[1] === number - 1) run[1] = number
    else runs.push([number, number])
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ")
}
