/** Reads the pack of a call: its messages, its settings, and which call it continues. Reads of the history what is asked for. */
import { type Api, formats, type JsonObject, type Message, type Part } from "@tachograph/formats"
import { linkKeys, links } from "@tachograph/formats/Links"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import { withAt } from "@tachograph/formats/json/Places"
import { get } from "@tachograph/formats/json/Read"
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type * as PackContent from "../payload/format/PackContent.ts"
import type { Run } from "../payload/format/Template.ts"
import type { PieceTexts } from "./PieceTexts.ts"
import * as Scan from "../payload/scan/Scan.ts"
import * as Skeleton from "./Skeleton.ts"

/** The value at a path of a JSON text, as it is there. */
export const valueAt = (text: string, path: Scan.Path): string | undefined => {
  const bytes = Buffer.from(text)
  const span = Scan.locate(bytes, path)
  return span && bytes.toString("utf8", span.start, span.end)
}

type Json = ExactJson.ExactJson

/** Elements of a conversation, and messages of an output, that are read: far more than calls have. Others are left out. */
const maxElements = 100_000
const maxAnswers = 1_000

/** An element of a conversation that is no piece: the messages that it stands for. */
interface ReadElement {
  readonly messages: ReadonlyArray<Message>
  /** Where it is in the text with tokens. Undefined where no value of the text is the element alone. */
  readonly path: Scan.Path | undefined
}

export interface CallInput {
  /** The text with tokens. */
  readonly text: string
  /** The elements of the conversation, in order. */
  readonly elements: ReadonlyArray<Run | ReadElement>
  /** What else the inputs hold, with tokens. */
  readonly rest: ExactJson.ExactObject
}

/** The parts of a call that are not messages. */
interface CallSettings {
  readonly instructions: ReadonlyArray<Part>
  readonly tools: ReadonlyArray<JsonObject>
  readonly parameters: JsonObject
}

const isObject = (value: Json): value is ExactJson.ExactObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactJson.ExactNumber)

/** A parsed value that may hold tokens, with what they stand for. Dies with `Damage`. */
const whole = (pieces: PieceTexts, value: Json): Effect.Effect<Json, StorageUnavailable> => {
  const text = ExactJson.stringify(value)
  return Skeleton.hasTokens(text) ? Effect.map(pieces.whole(text), ExactJson.parse) : Effect.succeed(value)
}

/** The first of the paths at which an array is, and its elements: those of the text with tokens, unless a token stands for an array around them. */
const findConversation = Effect.fnUntraced(function* (api: Api, inputs: ExactJson.ExactObject, pieces: PieceTexts) {
  for (const path of formats[api].conversationPaths) {
    let value: Json | undefined = inputs
    let isInText = true
    for (const key of path) {
      value = get(value, key) as Json | undefined
      if (Skeleton.referenceOf(value) === undefined) continue
      isInText = false
      value = yield* whole(pieces, value!)
    }
    if (Array.isArray(value)) return { path, isInText, elements: value as ReadonlyArray<Json> }
  }
  return undefined
})

/** Dies with `Damage`, or with a `SyntaxError` where the text is none of JSON. */
export const readInput = Effect.fnUntraced(function* (
  api: Api,
  span: PackContent.TemplateSpan,
  pieces: PieceTexts
): Effect.fn.Return<CallInput, StorageUnavailable> {
  const format = formats[api]
  const text = Skeleton.textOf(span)
  const inputs = ExactJson.parse(text)
  if (!isObject(inputs)) return { text, elements: [], rest: {} }
  const found = yield* findConversation(api, inputs, pieces)
  if (found === undefined) {
    const { input } = format.messages(yield* whole(pieces, inputs), null)
    const single = format.conversationPaths.find((each) => get(inputs, ...each) !== undefined)
    const path = input.length === 1 ? single : undefined
    const elements = input.slice(0, maxElements).map((message) => ({ messages: [message], path }))
    return { text, elements, rest: inputs }
  }
  const elements: Array<Run | ReadElement> = []
  let left = maxElements
  for (const [index, element] of found.elements.entries()) {
    if (left <= 0) break
    const reference = Skeleton.referenceOf(element)
    if (reference?.kind === "history") {
      const count = Math.min(left, reference.count)
      left -= count
      elements.push({ first: reference.first, count })
    } else {
      left--
      const path = found.isInText ? [...found.path, index] : undefined
      elements.push({ messages: format.element(yield* whole(pieces, element)), path })
    }
  }
  return { text, elements, rest: withAt(inputs as JsonObject, found.path, []) as ExactJson.ExactObject }
})

interface ReadPiece {
  readonly messages: ReadonlyArray<Message>
  /** Characters of its text. */
  readonly length: number
}

/** The messages that a piece of the history stands for. Dies with `Damage` or a `SyntaxError`. */
export const readPiece = (api: Api, piece: number, pieces: PieceTexts): Effect.Effect<ReadPiece, StorageUnavailable> =>
  Effect.suspend(() => {
    const read = readPieceNow(api, piece, pieces)
    return read === undefined
      ? Effect.map(pieces.pieceText(piece), (text) => pieces.keep(nameOf(api, piece), parsePiece(api, text)))
      : Effect.succeed(read)
  })

/** The same if nothing of it has to be loaded, else undefined. Throws them. */
export const readPieceNow = (api: Api, piece: number, pieces: PieceTexts): ReadPiece | undefined => {
  const known = pieces.kept<ReadPiece>(nameOf(api, piece))
  if (known !== undefined) return known
  const text = pieces.textNow(piece)
  return text && pieces.keep(nameOf(api, piece), parsePiece(api, text))
}

const nameOf = (api: Api, piece: number): string => `${api} ${piece}`

const parsePiece = (api: Api, bytes: Buffer): ReadPiece => {
  const text = bytes.toString()
  return { messages: formats[api].element(ExactJson.parse(text)), length: text.length }
}

/** What the inputs name. Some have the model elsewhere. */
export const modelOf = ({ rest }: CallInput): string | undefined => {
  const model = get(rest, "model")
  return typeof model === "string" ? model : undefined
}

/** What the settings of a call are read from: the same text, with tokens, for the same settings. */
export const settingsOf = ({ rest }: CallInput): string =>
  ExactJson.stringify(Object.fromEntries(Object.entries(rest).filter(([key]) => !linkKeys.has(key))))

/** The settings of such a text. Dies with `Damage`. */
export const readSettings = Effect.fnUntraced(function* (
  api: Api,
  settings: string,
  pieces: PieceTexts
): Effect.fn.Return<CallSettings, StorageUnavailable> {
  const { instructions, parameters, tools } = formats[api].messages(
    ExactJson.parse(yield* pieces.whole(settings)),
    null
  )
  return { instructions, tools, parameters }
})

interface CallOutput {
  readonly text: string
  /** Characters of the text. */
  readonly length: number
  readonly output: Json
  readonly messages: ReadonlyArray<Message>
}

/** The output of the call of a pack. Dies with `Damage` or a `SyntaxError`. */
export const readOutput = Effect.fnUntraced(function* (
  api: Api,
  pack: number,
  span: PackContent.TemplateSpan,
  pieces: PieceTexts
): Effect.fn.Return<CallOutput, StorageUnavailable> {
  const name = `output ${pack}`
  const known = pieces.kept<CallOutput>(name)
  if (known !== undefined) return known
  const text = yield* pieces.whole(Skeleton.textOf(span))
  const output = ExactJson.parse(text)
  const { output: messages } = formats[api].messages({}, output)
  return pieces.keep(name, { text, length: text.length, output, messages: messages.slice(0, maxAnswers) })
})

const named = (kind: "answer" | "conversation", id: string | null): ReadonlyArray<string> =>
  id === null ? [] : [`${kind} ${id}`]

/** As `NewCall` has them. */
export const linksOf = (api: Api, { rest }: CallInput, { output }: CallOutput) => {
  const { answer, conversation, previous } = links(api, rest, output)
  return {
    continues: [...named("answer", previous), ...named("conversation", conversation)],
    names: [...named("answer", answer), ...named("conversation", conversation)]
  }
}
