/** What stands beside the conversations of events, without noise: their instructions, tools and parameters. Read from their payloads. */
import type { Api, Message, Part } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import { isInstruction } from "@tachograph/formats/normal/Instructions"
import * as Noise from "@tachograph/formats/normal/Noise"
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as OpenChain from "../read/OpenChain.ts"
import { orDamage } from "../read/OrDamage.ts"
import type { Storage } from "../Storage.ts"
import type { EventPack } from "../storage/Stored.ts"
import * as CallText from "./CallText.ts"
import { PieceTexts, type TextCaches } from "./PieceTexts.ts"
import { maxPack, versionOf } from "./SessionOutline.ts"
import * as Variants from "./Variants.ts"

type Json = ExactJson.ExactJson

export interface Settings {
  /** Those that stand apart, and those at the beginning of the messages. */
  readonly instructions: ReadonlyArray<Part>
  readonly tools: ReadonlyArray<Json>
  readonly parameters: ExactJson.ExactObject
}

export interface ReadSettings {
  readonly settings: Settings
  /** The same for equal settings. */
  readonly text: string
  readonly compared: Variants.Compared
}

/** How often a session is read that is erased from meanwhile. */
const maxAttempts = 5

/** Stored bytes of packs that are read in one page. */
const pageBytes = 2 * 1024 * 1024

export const nothing: Settings = { instructions: [], tools: [], parameters: {} }

export const ofDamaged: ReadSettings = { settings: nothing, text: "damaged", compared: Variants.comparedOf([]) }

/** The settings of events, session by session. Those of a session that is erased from meanwhile are read again. */
export const ofEvents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  caches: TextCaches,
  project: ProjectId,
  events: ReadonlyArray<EventPack>
): Effect.fn.Return<ReadonlyMap<EventId, ReadSettings | Damage>, StorageUnavailable> {
  const all = new Map<EventId, ReadSettings | Damage>()
  for (const [session, own] of Map.groupBy(events, (event) => event.session)) {
    for (let attemptsLeft = maxAttempts; attemptsLeft > 0; attemptsLeft--) {
      const { state } = yield* storage.listPacks(project, session, maxPack, 1)
      if (state === undefined) break
      const generation = versionOf(state)
      const pieces = new PieceTexts(storage, caches, { project, session, generation })
      const found = yield* settingsInSession(storage, project, session, pieces, own)
      for (const [id, settings] of found) all.set(id, settings)
      if (!Array.from(found.values()).some((settings) => settings instanceof Damage)) break
      const { state: now } = yield* storage.listPacks(project, session, maxPack, 1)
      if (now !== undefined && versionOf(now) === generation) break
      for (const id of found.keys()) all.delete(id)
    }
  }
  return all
})

const settingsInSession = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  session: number,
  pieces: PieceTexts,
  events: ReadonlyArray<EventPack>
): Effect.fn.Return<ReadonlyMap<EventId, ReadSettings | Damage>, StorageUnavailable> {
  const last = Math.max(...events.map(({ pack }) => pack))
  for (let above = 0; above < last;) {
    const { isLast, packs } = yield* storage.listPacks(project, session, above, pageBytes)
    const whole = Pack.wholeChainsOf(packs, isLast)
    for (const chain of whole) pieces.add(OpenChain.openOrDamage(chain))
    if (isLast) break
    above = (whole.at(-1)?.at(-1) ?? packs.at(-1)!).number
    yield* Effect.yieldNow
  }
  const found = new Map<EventId, ReadSettings | Damage>()
  const known = new Map<string, ReadSettings>()
  for (const { api, id, pack } of events) {
    const settings =
      api === undefined
        ? new Damage("The event's kind is missing")
        : yield* orDamage(settingsIn(api, pack, pieces, known))
    found.set(id, settings)
  }
  return found
})

/** Calls of a session mostly have the settings of others. */
const settingsIn = Effect.fnUntraced(function* (
  api: Api,
  pack: number,
  pieces: PieceTexts,
  known: Map<string, ReadSettings>
): Effect.fn.Return<ReadSettings, StorageUnavailable> {
  const { inputs } = yield* pieces.contentsOf(pack)
  const input = yield* CallText.readInput(api, inputs, pieces)
  const leading = yield* leadingInstructions(api, input, pieces)
  const key = ExactJson.stringify([api, CallText.settingsOf(input), ...(leading as ReadonlyArray<Json>)])
  const same = known.get(key)
  if (same !== undefined) return same
  const { instructions, parameters, tools } = yield* CallText.readSettings(api, CallText.settingsOf(input), pieces)
  const settings: Settings = {
    instructions: Noise.quietInstructions([...instructions, ...leading]),
    tools,
    parameters: Noise.quietParameters(parameters)
  }
  const compared = Variants.comparedOf(settings.instructions)
  const read = { settings, text: ExactJson.stringify(settings as unknown as Json, true), compared }
  known.set(key, read)
  return read
})

/** Many providers have the instructions at the beginning of the messages. */
const leadingInstructions = Effect.fnUntraced(function* (
  api: Api,
  { elements }: CallText.CallInput,
  pieces: PieceTexts
): Effect.fn.Return<ReadonlyArray<Part>, StorageUnavailable> {
  const parts: Array<Part> = []
  const isTaken = (messages: ReadonlyArray<Message>): boolean => {
    const areInstructions = messages.every(isInstruction)
    if (areInstructions) for (const message of messages) parts.push(...message.parts)
    return areInstructions
  }
  for (const element of elements) {
    if (!("count" in element)) {
      if (!isTaken(element.messages)) return parts
      continue
    }
    for (let piece = element.first; piece < element.first + element.count; piece++) {
      if (!isTaken((yield* CallText.readPiece(api, piece, pieces)).messages)) return parts
    }
  }
  return parts
})
