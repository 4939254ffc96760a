/**
 * What an agent version ran with: each distinct combination of model, parameters, instructions, tools and fingerprint, without noise. Read
 * from the payloads when it is asked for, and so never stored: nothing of it has to be kept up to date, or erased. A page looks at a
 * bounded number of events, the newest first, and of each only at what stands beside its conversation.
 */
import type { Api, Message, Part } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import { isInstruction } from "@tachograph/formats/normal/Instructions"
import * as Noise from "@tachograph/formats/normal/Noise"
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
import * as Variants from "./Variants.ts"

export interface ConfigurationQuery {
  readonly agent: AgentName
  readonly agentVersion: AgentVersionName
  /** Starts after this event. */
  readonly after?: EventId | undefined
  /** Only calls that took place at this time or later, and before this time (epoch ms). */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
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

/** Calls whose instructions differ from others in one short place only. */
interface Variant extends Pick<Sums, "events" | "costUsd"> {
  /** What they have there. */
  readonly text: string
  readonly lastUsedAt: DateTime.Utc
  readonly firstEventId: EventId
}

interface VariantsInPlace extends Variants.Place {
  readonly count: number
  /** Some of them, the latest first. */
  readonly latest: ReadonlyArray<Variant>
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
  /** Null where all calls have the same instructions. Those of the last call are shown. */
  readonly variants: VariantsInPlace | null
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

/** Variants of a configuration that are listed. */
const maxListed = 20

/** Characters that are compared before the event loop turns. */
const sliceCompared = 2_000_000

/** A page ends when the settings in it have this many characters. */
const maxPageLength = 4 * 1024 * 1024

/** How often a session is read that is erased from meanwhile. */
const maxAttempts = 5

/** Stored bytes of packs that are read in one page. */
const pageBytes = 2 * 1024 * 1024

const nothing: Settings = { instructions: [], tools: [], parameters: {} }

interface FoundSettings {
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
  readonly compared: Variants.Compared
}

export const list = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  caches: TextCaches,
  onDamage: DamageLog.OnDamage,
  project: ProjectId,
  { limit, ...query }: ConfigurationQuery
): Effect.fn.Return<ConfigurationPage, AgentNotFound | AgentVersionNotFound | EventDamaged | StorageUnavailable> {
  yield* storage.getAgentVersion(project, query.agent, query.agentVersion)
  const found = new Map<string, FoundSettings>()
  const variants = new Variants.VariantsOfAll<FoundSettings>()
  const page = (next: EventId | undefined) => ({ configurations: configurationsOf(variants.all), next })
  let length = 0
  let compared = variants.left
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
      const { compared: instructions, settings: own, text } = read instanceof Damage ? damaged : read
      const key = hash("sha256", `${JSON.stringify([event.model, event.fingerprintId])} ${text}`, "base64url")
      let known = found.get(key)
      if (known === undefined) {
        const { parameters, tools } = own
        const isDamaged = read instanceof Damage
        const besides = [isDamaged, event.model, event.fingerprintId, instructions.rest]
        const others = hash(
          "sha256",
          JSON.stringify([...besides, ExactJson.stringify([parameters, tools], true)]),
          "base64url"
        )
        known = variants.add(others, instructions.text, limit, (isVariant) => {
          // Of a variant, the settings are those of the first.
          const more = isVariant ? 0 : text.length
          if (found.size > 0 && length + more > maxPageLength) return undefined
          length += more
          return { settings: isVariant ? nothing : own, isDamaged, tally: new Tally(), last: event, first: event }
        })
        if (known === undefined) return page(after)
        found.set(key, known)
        if (compared - variants.left > sliceCompared) {
          yield* Effect.yieldNow
          compared = variants.left
        }
      }
      known.tally.add(event)
      known.first = event
      after = id
    }
    looked += rows.length
    if (rows.length < stepEvents) return page(undefined)
    after = rows.at(-1)!.id
  }
  return page(after)
})

const damaged: ReadSettings = { settings: nothing, text: "damaged", compared: Variants.comparedOf([]) }

interface Row {
  readonly found: FoundSettings
  readonly variants: VariantsInPlace | null
}

const configurationsOf = (all: ReadonlyArray<Variants.Variants<FoundSettings>>): ReadonlyArray<Configuration> =>
  all
    .flatMap(rowsOf)
    .toSorted((one, other) => (one.found.last.id < other.found.last.id ? 1 : -1))
    .map(configurationOf)

const rowsOf = (variants: Variants.Variants<FoundSettings>): ReadonlyArray<Row> => {
  const { items } = variants
  if (variants.rowsWith(0) === items.length) return items.map((found) => ({ found, variants: null }))
  // The first was used last.
  const [last] = items as [FoundSettings, ...Array<FoundSettings>]
  const tally = new Tally()
  for (const each of items) tally.merge(each.tally)
  const first = items.reduce((first, each) => (each.first.id < first.id ? each.first : first), last.first)
  const latest = items.slice(0, maxListed).map((each, index): Variant => {
    const { costUsd, events } = each.tally.sums
    return { text: variants.textAt(index), events, costUsd, lastUsedAt: timeOf(each.last), firstEventId: each.first.id }
  })
  return [{ found: { ...last, tally, first }, variants: { ...variants.place, count: items.length, latest } }]
}

const timeOf = ({ occurredAt, receivedAt }: EventSummary): DateTime.Utc => occurredAt ?? receivedAt

const configurationOf = ({ found: { first, isDamaged, last, settings, tally }, variants }: Row): Configuration => ({
  ...settings,
  model: last.model,
  fingerprintId: last.fingerprintId,
  firstUsedAt: timeOf(first),
  lastUsedAt: timeOf(last),
  firstEventId: first.id,
  ...tally.sums,
  ...tally.durationPercentiles,
  variants,
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
