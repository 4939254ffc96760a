/**
 * What an agent version ran with: each distinct combination of model, parameters, instructions, tools and fingerprint, without noise. Read
 * from the payloads when it is asked for, and so never stored: nothing of it has to be kept up to date, or erased. A page looks at a
 * bounded number of events, the newest first, and of each only at what stands beside its conversation.
 */
import * as ExactJson from "@tachograph/formats/json/ExactJson"
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
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventReader from "../read/EventReader.ts"
import { Tally } from "../rollup/Tally.ts"
import type { Storage } from "../Storage.ts"
import * as EventSettings from "./EventSettings.ts"
import type { TextCaches } from "./PieceTexts.ts"
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

export interface Configuration extends EventSettings.Settings, Sums {
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

interface FoundSettings {
  readonly settings: EventSettings.Settings
  readonly isDamaged: boolean
  readonly tally: Tally
  readonly last: EventSummary
  first: EventSummary
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
    const settings = yield* EventSettings.ofEvents(storage, caches, project, rows)
    for (const { id } of rows) {
      const event = summaries.get(id)
      const read = settings.get(id)
      // It was erased meanwhile.
      if (event === undefined || read === undefined) continue
      if (read instanceof Damage) yield* onDamage(id, read)
      const { compared: instructions, settings: own, text } = read instanceof Damage ? EventSettings.ofDamaged : read
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
          return {
            settings: isVariant ? EventSettings.nothing : own,
            isDamaged,
            tally: new Tally(),
            last: event,
            first: event
          }
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
