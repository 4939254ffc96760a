/** The texts of an event that have the needle and are new with its pack. */
import { formats } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { Api } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import * as Join from "../payload/Join.ts"
import * as References from "../payload/References.ts"
import type { Storage } from "../Storage.ts"
import { NewPayload } from "./NewPayload.ts"
import type { Needle } from "./Needle.ts"
import type { PackScan } from "./PackScan.ts"
import * as Snippet from "./Snippet.ts"
import * as Texts from "./Texts.ts"

/** A text with the needle. */
export interface Hit extends Snippet.Snippet {
  readonly role: string
  /** Equal for equal texts. */
  readonly key: string
}

/** A chain has at most this many stored bytes, unless it is one pack. */
const maxChainBytes = 256 * 1024

/** Longer texts have their hash as key. */
const maxKeyLength = 64

const keyOf = (text: string): string =>
  text.length <= maxKeyLength ? `=${text}` : hash("sha256", Buffer.from(text, "utf16le"), "base64")

interface Left {
  readonly session: number
  readonly packs: Map<number, Buffer>
  bytes: number
}

/** Contents of what is left of erased events that are kept (bytes). */
const maxLeftBytes = 16 * 1024 * 1024

const keep = (left: Left, pack: number, content: Buffer): void => {
  if (left.packs.has(pack) || left.bytes + content.length > maxLeftBytes) return
  left.packs.set(pack, content)
  left.bytes += content.length
}

export class HitReader {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #needle: Needle
  readonly #isSought: (role: string) => boolean
  readonly #scan: PackScan
  /** Bytes of contents and shared pieces that were read. */
  bytes = 0
  /** The chain that was opened last. */
  #chain: { readonly session: number; readonly packs: ReadonlyMap<number, Buffer> } | undefined

  /** What is left of erased events of a session: events that follow have it again. */
  #left: Left | undefined

  /** Texts of roles that are not sought are as if nobody had said them. */
  constructor(
    storage: Storage["Service"],
    project: ProjectId,
    { isSought, needle }: { readonly needle: Needle; readonly isSought: (role: string) => boolean },
    scan: PackScan
  ) {
    this.#storage = storage
    this.#project = project
    this.#needle = needle
    this.#isSought = isSought
    this.#scan = scan
  }

  /**
   * The first occurrence of each text, in the order of the conversation. `packs` are those whose pieces are new with the event, in
   * ascending order; the last one is the event's own. Dies with `Damage`, or with a `SyntaxError` if a text is no JSON.
   */
  readonly read = Effect.fnUntraced(function* (
    this: HitReader,
    api: Api,
    session: number,
    packs: ReadonlyArray<number>
  ): Effect.fn.Return<ReadonlyArray<Hit>, StorageUnavailable> {
    const contents: Array<Buffer> = []
    if (this.#left?.session !== session) this.#left = { session, packs: new Map(), bytes: 0 }
    for (const pack of packs) {
      const content = this.#left.packs.get(pack) ?? (yield* this.#open(session, pack))
      if (content !== undefined && pack !== packs.at(-1)) keep(this.#left, pack, content)
      if (content !== undefined) contents.push(content)
      // A sweep deletes packs of erased events of which no other event has anything.
      else if (pack === packs.at(-1)) throw new Damage(`Pack ${pack} is missing`)
    }
    for (const content of contents) this.bytes += content.length
    const shared = yield* this.#sharedIn(contents)
    for (const text of shared.values()) this.bytes += text.length
    const payload = new NewPayload(contents.map(PackContent.read), shared)
    const parsed = (which: "inputs" | "output") => ExactJson.parse(payload.text(which).toString())
    const conversation = formats[api].messages(parsed("inputs"), parsed("output"))
    yield* Effect.yieldNow
    const hits = new Map<string, Hit>()
    for (const { role, text } of Texts.of(conversation, (text) => this.#needle.find(text) !== undefined)) {
      const found = this.#isSought(role) ? this.#needle.find(text) : undefined
      if (found === undefined) continue
      const key = keyOf(text)
      if (!hits.has(key)) hits.set(key, { role, key, ...Snippet.of(text, found) })
    }
    return [...hits.values()]
  })

  /** The content of a pack; undefined if there is none. */
  readonly #open = Effect.fnUntraced(function* (this: HitReader, session: number, number: number) {
    const known = this.#chain?.session === session ? this.#chain.packs.get(number) : undefined
    if (known !== undefined) return known
    const range = { from: Math.max(1, number - Pack.maxChainPacks + 1), to: number }
    let packs = yield* this.#storage.readPacks(this.#project, session, [range], maxChainBytes)
    if (packs.at(-1)?.number !== number) {
      packs = yield* this.#storage.readPacks(this.#project, session, [{ from: number, to: number }])
      if (packs.length === 0) return undefined
    }
    const chain = Pack.chainsOf(packs).at(-1)
    if (chain === undefined) throw new Damage(`The start of the chain of pack ${number} is missing`)
    const opened = Pack.openChain(chain)
    this.#chain = { session, packs: new Map(opened.packs.map((pack) => [pack.number, pack.content])) }
    const content = this.#chain.packs.get(number)
    if (content === undefined) throw opened.damage ?? new Damage(`Pack ${number} is missing`)
    return content
  })

  /** The texts of the shared pieces that may have the needle. */
  readonly #sharedIn = Effect.fnUntraced(function* (this: HitReader, contents: ReadonlyArray<Buffer>) {
    const names = new Map<string, Buffer>()
    for (const name of contents.flatMap(References.sharedIn)) {
      if (this.#scan.isCandidate(name)) names.set(Join.keyOf(name), name)
    }
    const texts = new Map<string, Buffer>()
    for (const [key, name] of names) {
      const [piece] = yield* this.#storage.readShared(this.#project, [name])
      if (piece === undefined) throw new Damage("A shared piece is missing")
      texts.set(key, SharedPiece.textOf(piece.bytes))
    }
    return texts
  })
}
