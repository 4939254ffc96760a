/**
 * Reads the calls of a session from its packs into an outline, in the order of the packs. Every new piece is read once, and what calls
 * send again is a reference, so the work grows with what is new. It goes on where it stopped, as the session grows.
 */
import type { Api, Message } from "@tachograph/formats"
import { formats } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import * as Instructions from "@tachograph/formats/normal/Instructions"
import * as Noise from "@tachograph/formats/normal/Noise"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Pack from "../payload/format/Pack.ts"
import type * as PackContent from "../payload/format/PackContent.ts"
import type { Storage } from "../Storage.ts"
import type { PackPage } from "../storage/Inventory.ts"
import type { EventPack } from "../storage/Stored.ts"
import type { NewCall, OutlinedCall } from "./Call.ts"
import * as CallText from "./CallText.ts"
import { Identities, type IdentityNumber } from "./Identities.ts"
import * as OpenChain from "../read/OpenChain.ts"
import { orDamage } from "../read/OrDamage.ts"
import { Outline } from "./Outline.ts"
import { PieceTexts, type TextCaches } from "./PieceTexts.ts"

/** Stored bytes of packs, and events, that are read in one page. */
const pageBytes = 2 * 1024 * 1024
const pageEvents = 1_000

/** The highest number of a pack. */
export const maxPack = 2 ** 31 - 1

/** How long calls are read before the event loop turns (ms). */
const sliceMs = 8

/** The call of an index of the outline. */
export interface PlacedCall {
  readonly id: EventId
  readonly pack: number
  readonly api: Api | undefined
  readonly at: DateTime.Utc
  /** Why its pack cannot be read. It has no messages then. */
  readonly damage: Damage | undefined
}

/** What distinguishes the states of a session between which nothing was erased. */
export const versionOf = ({ generation, pendingSweep }: NonNullable<PackPage["state"]>): string =>
  `${generation} ${pendingSweep}`

export class SessionOutline {
  readonly outline: Outline
  readonly calls: Array<PlacedCall> = []
  /** How many of them cannot be read. */
  damagedCalls = 0
  readonly pieces: PieceTexts
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #session: SessionId
  readonly #number: number
  readonly #version: string
  readonly #identities = new Identities()
  /** By the texts that they are read from, and by their own texts, hashed. */
  readonly #settings = new Map<string, NewCall["settings"]>()
  readonly #settingNumbers = new Map<string, number>()
  /** Characters of instructions that stand apart, by their numbers. */
  readonly #instructionCharacters = new Map<number, number>()
  /** Pages of packs start above this one. */
  #above = 0
  /** The highest pack whose call was read. */
  #read = 0
  /** The number of the session's last pack, when it was seen last. */
  #lastPack = 0
  /** Events whose packs were not read yet, by these. */
  readonly #events = new Map<number, EventPack>()
  #lastEvent: EventId | undefined
  #hasAllEvents = false

  constructor(
    storage: Storage["Service"],
    caches: TextCaches,
    where: { readonly project: ProjectId; readonly session: SessionId; readonly number: number },
    state: NonNullable<PackPage["state"]>
  ) {
    this.#storage = storage
    this.#project = where.project
    this.#session = where.session
    this.#number = where.number
    this.#version = versionOf(state)
    this.outline = new Outline(this.#identities)
    this.pieces = new PieceTexts(storage, caches, {
      project: where.project,
      session: where.number,
      generation: this.#version
    })
  }

  /** Approximate memory, in bytes. */
  get costBytes(): number {
    const { messages, tree } = this.outline
    return 200 * tree.size + 120 * messages.length + 800 * this.calls.length + this.pieces.costBytes
  }

  /** How many characters the instructions of a call have, without noise: those that stand apart, and those that its messages begin with. */
  instructionCharactersOf({ instructions, settings }: OutlinedCall): number {
    const { tree } = this.outline
    return tree
      .way(instructions)
      .reduce(
        (sum, node) => sum + this.#identities.charactersOf(tree.identity(node)),
        this.#instructionCharacters.get(settings.instructions) ?? 0
      )
  }

  /**
   * Reads on until `isEnough`, which is asked between packs, or all calls that are recorded. False if something was erased since this
   * was made: then it is of no use any more.
   */
  readonly extend = Effect.fnUntraced(function* (this: SessionOutline, isEnough: () => boolean) {
    if (isEnough()) return yield* this.isCurrent
    this.#hasAllEvents = false
    for (;;) {
      const page = yield* this.#storage.listPacks(this.#project, this.#number, this.#above, pageBytes)
      if (page.state === undefined || versionOf(page.state) !== this.#version) return false
      if (yield* this.#readPage(page, page.state.packs, isEnough)) return true
    }
  })

  /** Whether nothing was erased since this was made. */
  get isCurrent(): Effect.Effect<boolean, StorageUnavailable> {
    return Effect.map(
      this.#storage.listPacks(this.#project, this.#number, maxPack, 1),
      ({ state }) => state !== undefined && versionOf(state) === this.#version
    )
  }

  /** Returns whether nothing is left to be read, or enough was. */
  readonly #readPage = Effect.fnUntraced(function* (
    this: SessionOutline,
    { isLast, packs }: PackPage,
    lastPack: number,
    isEnough: () => boolean
  ): Effect.fn.Return<boolean, StorageUnavailable> {
    const whole = Pack.wholeChainsOf(packs, isLast)
    const isOfEvent = ({ isKept, isOfSteps }: PackPage["packs"][number]) => isKept && !isOfSteps
    const kept = new Set(packs.filter(isOfEvent).map(({ number }) => number))
    let sliceStartedMs = performance.now()
    for (const chain of whole) {
      const to = chain.at(-1)!.number
      const opened = OpenChain.openOrDamage(chain)
      this.pieces.add(opened)
      const contents = new Map(opened.packs.map(({ number }, index) => [number, opened.contents[index]!]))
      yield* this.#loadEvents(
        chain.map(({ number }) => number).filter((number) => number > this.#read && kept.has(number))
      )
      for (const event of this.#eventsTo(to)) {
        yield* this.#addCall(event, contents.get(event.pack) ?? opened.damage)
        if (performance.now() - sliceStartedMs < sliceMs) continue
        yield* Effect.yieldNow
        sliceStartedMs = performance.now()
      }
      this.#read = Math.max(this.#read, to)
      // Packs that are appended later may continue the last chain.
      this.#above = isLast && chain === whole.at(-1) ? chain[0]!.number - 1 : to
      if (isEnough()) return true
    }
    if (!isLast) {
      // Without a chain in it, the page has only packs whose chain has no start.
      if (whole.length === 0) this.#above = packs.at(-1)?.number ?? this.#above
      return false
    }
    // The state may be newer than the page. What is not there a second time is missing.
    const isSure = this.#read >= lastPack || lastPack === this.#lastPack
    this.#lastPack = lastPack
    if (!isSure) return false
    yield* this.#loadAllEvents
    for (const event of this.#eventsTo(lastPack)) yield* this.#addCall(event, undefined)
    this.#read = Math.max(this.#read, lastPack)
    return true
  })

  /** Takes the events of the packs up to this one, in their order. */
  #eventsTo(pack: number): ReadonlyArray<EventPack> {
    const events = Array.from(this.#events.values())
      .filter((event) => event.pack <= pack)
      .sort((a, b) => a.pack - b.pack)
    for (const event of events) this.#events.delete(event.pack)
    return events
  }

  /** Reads events until those of these packs are known. Ids are nearly in the order of the packs. */
  readonly #loadEvents = Effect.fnUntraced(function* (this: SessionOutline, packs: ReadonlyArray<number>) {
    while (!this.#hasAllEvents && packs.some((pack) => !this.#events.has(pack))) yield* this.#loadPage
    if (packs.every((pack) => this.#events.has(pack))) return
    // A lower id was committed later.
    this.#lastEvent = undefined
    this.#hasAllEvents = false
    yield* this.#loadAllEvents
  })

  get #loadAllEvents(): Effect.Effect<void, StorageUnavailable> {
    return Effect.whileLoop({
      while: () => !this.#hasAllEvents,
      body: () => this.#loadPage,
      step: () => {}
    })
  }

  get #loadPage(): Effect.Effect<void, StorageUnavailable> {
    return Effect.suspend(() => {
      const query = { session: this.#session, order: "asc", after: this.#lastEvent, limit: pageEvents } as const
      return Effect.map(this.#storage.findPacks(this.#project, query, {}, pageEvents), ({ next, rows }) => {
        for (const row of rows)
          if (row.pack > this.#read && row.session === this.#number) this.#events.set(row.pack, row)
        this.#lastEvent = next ?? rows.at(-1)?.id ?? this.#lastEvent
        this.#hasAllEvents = next === undefined
      })
    })
  }

  readonly #addCall = Effect.fnUntraced(function* (
    this: SessionOutline,
    { api, id, occurredAtMs, pack, receivedAtMs }: EventPack,
    contents: PackContent.Contents | Damage | undefined
  ): Effect.fn.Return<void, StorageUnavailable> {
    const content = api === undefined ? new Damage("The event's kind is missing") : contents
    const read =
      content === undefined || content instanceof Damage
        ? (content ?? new Damage(`Pack ${pack} cannot be read`))
        : yield* orDamage(this.#readCall(api!, pack, content))
    const damage = read instanceof Damage ? read : undefined
    const call = read instanceof Damage ? unreadable : read
    if (damage !== undefined) this.damagedCalls++
    this.calls.push({ id, pack, api, at: DateTime.makeUnsafe(occurredAtMs ?? receivedAtMs), damage })
    const adding = this.outline.add({ ...call, api: api ?? "aisdk", occurredAtMs })
    for (let step = adding.next(); step.done !== true;) {
      const now = this.#identitiesNow(api!, step.value)
      step = adding.next(now ?? (yield* this.#identitiesOf(api!, step.value)))
    }
  })

  readonly #readCall = Effect.fnUntraced(function* (
    this: SessionOutline,
    api: Api,
    pack: number,
    contents: PackContent.Contents
  ): Effect.fn.Return<Omit<NewCall, "api" | "occurredAtMs">, StorageUnavailable> {
    const input = yield* CallText.readInput(api, contents.inputs, this.pieces)
    const output = yield* CallText.readOutput(api, pack, contents.output, this.pieces)
    const numbersOf = (messages: ReadonlyArray<Message>) => messages.map((message) => this.#identities.of(message))
    return {
      elements: input.elements.map((element) =>
        "count" in element ? element : { identities: numbersOf(element.messages) }
      ),
      output: numbersOf(output.messages),
      isChoices: formats[api].outputIsChoices,
      ...CallText.linksOf(api, input, output),
      settings: yield* this.#settingsOf(api, input),
      model: CallText.modelOf(input)
    }
  })

  /** Undefined if it takes more than what is at hand, or it cannot be read. */
  #identitiesNow(api: Api, piece: number): ReadonlyArray<IdentityNumber> | undefined {
    try {
      const read = CallText.readPieceNow(api, piece, this.pieces)
      return read?.messages.map((message) => this.#identities.of(message))
    } catch {
      return undefined
    }
  }

  /** A piece that cannot be read is a message that is like no other. */
  #identitiesOf(api: Api, piece: number): Effect.Effect<ReadonlyArray<IdentityNumber>, StorageUnavailable> {
    return Effect.map(orDamage(CallText.readPiece(api, piece, this.pieces)), (read) =>
      read instanceof Damage
        ? [this.#identities.ofUnreadable()]
        : read.messages.map((message) => this.#identities.of(message))
    )
  }

  readonly #settingsOf = Effect.fnUntraced(function* (this: SessionOutline, api: Api, input: CallText.CallInput) {
    const text = CallText.settingsOf(input)
    const key = hashOf(`${api} ${text}`)
    const known = this.#settings.get(key)
    if (known !== undefined) return known
    const { instructions, parameters, tools } = yield* CallText.readSettings(api, text, this.pieces)
    const quiet = Noise.quietInstructions(instructions)
    const settings = {
      instructions: this.#settingNumber(quiet),
      tools: this.#settingNumber(tools),
      parameters: this.#settingNumber(Noise.quietParameters(parameters))
    }
    this.#settings.set(key, settings)
    this.#instructionCharacters.set(settings.instructions, Instructions.charactersOf(quiet))
    return settings
  })

  #settingNumber(value: unknown): number {
    const key = hashOf(ExactJson.stringify(value as ExactJson.ExactJson, true))
    const known = this.#settingNumbers.get(key)
    if (known !== undefined) return known
    const number = this.#settingNumbers.size
    this.#settingNumbers.set(key, number)
    return number
  }
}

const hashOf = (text: string): string => hash("sha256", text, "base64url").slice(0, 22)

/** A call without messages. */
const unreadable: Omit<NewCall, "api" | "occurredAtMs"> = {
  elements: [],
  output: [],
  isChoices: false,
  continues: [],
  names: [],
  settings: { instructions: -1, tools: -1, parameters: -1 },
  model: undefined
}
