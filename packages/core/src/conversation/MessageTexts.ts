/** The messages of a session, read from the calls that carried them first. */
import { type Api, formats, type Message } from "@tachograph/formats"
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import { Damage } from "../payload/format/Damage.ts"
import type { MessageSource } from "./Call.ts"
import * as CallText from "./CallText.ts"
import { orDamage } from "../read/OrDamage.ts"
import type { PieceTexts } from "./PieceTexts.ts"

/** A message, and its JSON text as it was sent. */
export interface MessageText {
  readonly message: Message
  /** Null where no value of the call is the message alone, and where it was not asked for. */
  readonly verbatim: string | null
  /** Size of the text that it was read from, in characters. */
  readonly length: number
}

/** A call that carried messages first. */
interface Carrier {
  readonly api: Api | undefined
  readonly pack: number
}

/** Reads messages one after the other. Those of one call read its inputs once. */
export class MessageTexts {
  readonly #pieces: PieceTexts
  readonly #isVerbatim: boolean
  #input: { readonly pack: number; readonly read: CallText.CallInput } | undefined

  constructor(pieces: PieceTexts, isVerbatim: boolean) {
    this.#pieces = pieces
    this.#isVerbatim = isVerbatim
  }

  /** Damage if it cannot be read. */
  read({ api, pack }: Carrier, source: MessageSource): Effect.Effect<MessageText | Damage, StorageUnavailable> {
    if (api === undefined) return Effect.succeed(new Damage(`The event of pack ${pack} cannot be read`))
    if ("piece" in source) return orDamage(this.#ofPiece(api, source.piece, source.at))
    if ("answer" in source) return orDamage(this.#ofOutput(api, pack, source.answer))
    return orDamage(this.#ofElement(api, pack, source.element, source.at))
  }

  readonly #ofPiece = Effect.fnUntraced(function* (this: MessageTexts, api: Api, piece: number, at: number) {
    const { length, messages } = yield* CallText.readPiece(api, piece, this.#pieces)
    const verbatim = this.#isVerbatim ? (yield* this.#pieces.pieceText(piece)).toString() : null
    return { message: found(messages[at]), verbatim, length }
  })

  readonly #ofElement = Effect.fnUntraced(function* (
    this: MessageTexts,
    api: Api,
    pack: number,
    element: number,
    at: number
  ): Effect.fn.Return<MessageText, StorageUnavailable> {
    if (this.#input?.pack !== pack) {
      const { inputs } = yield* this.#pieces.contentsOf(pack)
      this.#input = { pack, read: yield* CallText.readInput(api, inputs, this.#pieces) }
    }
    const { elements, text } = this.#input.read
    const { messages, path } = found(elementAt(elements, element))
    const own = path && CallText.valueAt(text, path)
    const isAsked = this.#isVerbatim && own !== undefined
    return {
      message: found(messages[at]),
      verbatim: isAsked ? yield* this.#pieces.whole(own) : null,
      length: (own ?? text).length
    }
  })

  readonly #ofOutput = Effect.fnUntraced(function* (this: MessageTexts, api: Api, pack: number, index: number) {
    const contents = yield* this.#pieces.contentsOf(pack)
    const { messages, output, text } = yield* CallText.readOutput(api, pack, contents.output, this.#pieces)
    const path = formats[api].outputPath(output, index)
    const own = this.#isVerbatim && path !== null ? CallText.valueAt(text, path) : undefined
    return { message: found(messages[index]), verbatim: own ?? null, length: Math.ceil(text.length / messages.length) }
  })
}

/** What an outline says is there; unless the storage has changed since. */
const found = <A>(value: A | undefined): A => {
  if (value === undefined) throw new Damage("A message is missing")
  return value
}

/** The element of an index. Runs of pieces are as many elements as they have. */
const elementAt = (elements: CallText.CallInput["elements"], index: number) => {
  let before = 0
  for (const element of elements) {
    if ("count" in element) before += element.count
    else if (before++ === index) return element
  }
  return undefined
}
