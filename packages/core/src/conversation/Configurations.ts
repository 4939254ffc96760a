/**
 * What an agent version ran with: each distinct combination of model, parameters, instructions, tools and fingerprint, without noise. Read
 * from the payloads when it is asked for, and so never stored: nothing of it has to be kept up to date, or erased. A page looks at a
 * bounded number of events, the newest first, and of each only at what stands beside its conversation.
 */
import type { Api, Message, Part } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import { isInstruction } from "@tachograph/formats/Instructions"
import * as Noise from "@tachograph/formats/Noise"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { AgentNotFound, AgentVersionNotFound, EventDamaged, StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { Sums } from "../domain/Sums.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Pack from "../payload/format/Pack.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventReader from "../read/EventReader.ts"
import { Tally } from "../rollup/Tally.ts"
import type { Storage } from "../Storage.ts"
import type { EventPack } from "../storage/Stored.ts"
import * as CallText from "./CallText.ts"
import * as OpenChain from "../read/OpenChain.ts"
import { orDamage } from "../read/OrDamage.ts"
import { PieceTexts, type TextCaches } from "./PieceTexts.ts"
import { maxPack, versionOf } from "./SessionOutline.ts"

export interface ConfigurationQuery {
  readonly agent: AgentName
  readonly agentVersion: AgentVersionName
  /** Starts after this event. */
  readonly after?: EventId | undefined
  readonly above?: EventId | undefined
  readonly below?: EventId | undefined
  /** At least 1. */
  readonly limit: number
}

type Json = ExactJson.ExactJson

interface Settings {
  /** Those that stand apart, and those at the beginning of the messages. */
  readonly instructions: ReadonlyArray<Part>
  readonly tools: ReadonlyArray<Json>
  readonly parameters: ExactJson.ExactObject
}

export interface Configuration extends Settings, Sums {
  readonly model: string | null
  readonly fingerprintId: EventSummary["fingerprintId"]
  readonly firstUsedAt: DateTime.Utc
  readonly lastUsedAt: DateTime.Utc
  /** The first of the events that were looked at. */
  readonly firstEventId: EventId
  readonly durationMsP50: number | null
  readonly durationMsP95: number | null
  readonly durationMsP99: number | null
  /** Whether the payloads cannot be read. There are no settings then. */
  readonly isDamaged: boolean
}

export interface ConfigurationPage {
  /** In the order of their last use, the latest first. */
  readonly configurations: ReadonlyArray<Configuration>
  /** The last event that was looked at, if there are more. */
  readonly next: EventId | undefined
}

/** Events that are looked at for one page, and those of one step. */
const maxLooked = 2_000
const stepEvents = 500

/** A page ends when the settings in it have this many characters. */
const maxPageLength = 4 * 1024 * 1024

/** How often a session is read that is erased from meanwhile. */
const maxAttempts = 5

/** Stored bytes of packs that are read in one page. */
const pageBytes = 2 * 1024 * 1024

const nothing: Settings = { instructions: [], tools: [], parameters: {} }

interface Found {
  readonly settings: Settings
  readonly isDamaged: boolean
  readonly tally: Tally
  readonly last: EventSummary
  first: EventSummary
}

interface ReadSettings {
  readonly settings: Settings
  /** The same for equal settings. */
  readonly text: string
}

export const list = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  caches: TextCaches,
  onDamage: DamageLog.OnDamage,
  project: ProjectId,
  { limit, ...query }: ConfigurationQuery
): Effect.fn.Return<ConfigurationPage, AgentNotFound | AgentVersionNotFound | EventDamaged | StorageUnavailable> {
  yield* storage.getAgentVersion(project, query.agent, query.agentVersion)
  const found = new Map<string, Found>()
  let length = 0
  let { after } = query
  for (let looked = 0; looked < maxLooked;) {
    const step = { ...query, after, order: "desc", limit: stepEvents } as const
    const { rows } = yield* storage.findPacks(project, step, {}, stepEvents)
    const stored = yield* storage.listEvents(project, step)
    const summaries = new Map<EventId, EventSummary>()
    for (const each of stored) summaries.set(each.id, yield* EventReader.summaryOf(project, each, onDamage))
    const settings = yield* settingsOf(storage, caches, project, rows)
    for (const { id } of rows) {
      const event = summaries.get(id)
      const read = settings.get(id)
      // It was erased meanwhile.
      if (event === undefined || read === undefined) continue
      if (read instanceof Damage) yield* onDamage(id, read)
      const { settings: own, text } = read instanceof Damage ? { settings: nothing, text: "damaged" } : read
      const key = hash("sha256", `${JSON.stringify([event.model, event.fingerprintId])} ${text}`, "base64url")
      let known = found.get(key)
      if (known === undefined) {
        const isFull = found.size === limit || (found.size > 0 && length + text.length > maxPageLength)
        if (isFull) return { configurations: Array.from(found.values(), configurationOf), next: after }
        known = { settings: own, isDamaged: read instanceof Damage, tally: new Tally(), last: event, first: event }
        found.set(key, known)
        length += text.length
      }
      known.tally.add(event)
      known.first = event
      after = id
    }
    looked += rows.length
    if (rows.length < stepEvents)
      return { configurations: Array.from(found.values(), configurationOf), next: undefined }
    after = rows.at(-1)!.id
  }
  return { configurations: Array.from(found.values(), configurationOf), next: after }
})

const configurationOf = ({ first, isDamaged, last, settings, tally }: Found): Configuration => ({
  ...settings,
  model: last.model,
  fingerprintId: last.fingerprintId,
  firstUsedAt: first.occurredAt ?? first.receivedAt,
  lastUsedAt: last.occurredAt ?? last.receivedAt,
  firstEventId: first.id,
  ...tally.sums,
  ...tally.durationPercentiles,
  isDamaged
})

/** The settings of events, session by session. Those of a session that is erased from meanwhile are read again. */
const settingsOf = Effect.fnUntraced(function* (
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
    const chains = Pack.chainsOf(packs)
    // The last chain may go on in the next page, which begins with it again.
    const whole = !isLast && chains.length > 1 ? chains.slice(0, -1) : chains
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
  const read = { settings, text: ExactJson.stringify(settings as unknown as Json, true) }
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
