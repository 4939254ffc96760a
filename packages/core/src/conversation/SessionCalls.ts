/** Pages of the calls of a session. */
import type { InputPrices, PriceList } from "@tachograph/prices"
import * as Effect from "effect/Effect"
import { type EventDamaged, EventNotFound, type StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import * as Uuid from "../domain/Uuid.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as ErrorMessage from "../read/ErrorMessage.ts"
import * as EventReader from "../read/EventReader.ts"
import { orDamage } from "../read/OrDamage.ts"
import type { Storage } from "../Storage.ts"
import * as Sorted from "../Sorted.ts"
import { Damage } from "../payload/format/Damage.ts"
import type { OutlinedCall } from "./Call.ts"
import * as CallText from "./CallText.ts"
import { type Listed, type NumberedPage, type NumberedQuery, numbersOf } from "./NumberedPage.ts"
import * as Retries from "./Retries.ts"
import type { SessionOutline } from "./SessionOutline.ts"

export interface CallQuery extends NumberedQuery {
  /** Only calls that were recorded after this event. */
  readonly afterEvent?: EventId | undefined
}

/** Numbers of messages, the first and the last. */
type NumberRange = readonly [first: number, last: number]

/** A call of a session, and how the conversation grew with it. */
export interface SessionCall extends EventSummary {
  readonly parentEventId: EventId | null
  /** What the provider said of an error, at most 4,000 characters. Null if it said nothing, or that cannot be read. */
  readonly errorMessage: string | null
  /** The call before it that failed, of which it sent the same request again. */
  readonly retryOf: EventId | null
  /** If it failed, the call that sent the same request again, if that is one of the next 16. */
  readonly retriedBy: EventId | null
  readonly keptMessages: number
  readonly newMessages: ReadonlyArray<number>
  readonly goneMessages: ReadonlyArray<number>
  readonly output: ReadonlyArray<number>
  readonly carried: { readonly kept: number; readonly runs: ReadonlyArray<NumberRange> }
  /** Messages at its beginning that are instructions. */
  readonly instructionMessages: ReadonlyArray<number>
  /** Of these and of the instructions that stand apart. Null where its payload cannot be read. */
  readonly instructionCharacters: number | null
  readonly instructionsChanged: boolean
  readonly toolsChanged: boolean
  readonly parametersChanged: boolean
  /** By what its input was priced. Null where that is not known, as where the list is not at hand. */
  readonly inputPrices: InputPrices | null
  /** Whether its payload cannot be read. It has no messages then. */
  readonly isDamaged: boolean
}

/** Events of a page of a list. */
const pageEvents = 1_000

/** Where calls are read from. */
export interface Source {
  readonly storage: Storage["Service"]
  readonly onDamage: DamageLog.OnDamage
  /** Loads the list. */
  readonly pricing: Effect.Effect<{ readonly prices: PriceList.PriceList }>
}

/** Events that were erased meanwhile are left out. */
export const callsOf = Effect.fnUntraced(function* (
  source: Source,
  project: ProjectId,
  session: SessionId,
  read: SessionOutline,
  query: CallQuery
): Effect.fn.Return<Listed<NumberedPage<SessionCall>>, EventNotFound | EventDamaged | StorageUnavailable> {
  const { after, afterEvent, order } = query
  const { calls } = read
  const from = afterEvent === undefined ? 0 : calls.findIndex(({ id }) => id === afterEvent) + 1
  if (afterEvent !== undefined && from === 0) return yield* new EventNotFound()
  const start = order === "asc" ? Math.max(from, firstAfter(calls, after ?? 0)) : from
  const end = order === "asc" || after === undefined ? calls.length : firstAfter(calls, after - 1)
  const indexes = numbersOf(start, end, query)
  const listed = indexes.map((index) => calls[index]!)
  const summaries = yield* summariesOf(
    source,
    project,
    session,
    listed.map(({ id }) => id)
  )
  const isPriced = Array.from(summaries.values()).some(({ price }) => price !== null)
  const pricing = isPriced ? yield* source.pricing : undefined
  const retries = yield* Retries.find(source.storage, project, read, indexes, summaries)
  const rows: Array<SessionCall> = []
  for (const index of indexes) {
    const summary = summaries.get(calls[index]!.id)
    if (summary === undefined) continue
    const failed = {
      errorMessage: yield* errorMessageOf(read, index, summary),
      retryOf: retries.of.get(index) ?? null,
      retriedBy: retries.by.get(index) ?? null
    }
    rows.push(callOf(read, index, { ...summary, ...failed }, pricing?.prices))
  }
  const damaged = listed.flatMap(({ damage, id }) => (damage === undefined ? [] : [{ id, damage }]))
  return { page: { rows, next: indexes.length < end - start ? listed.at(-1)?.pack : undefined }, damaged }
})

/** The summaries of those events that still exist. */
const summariesOf = Effect.fnUntraced(function* (
  { onDamage, storage }: Source,
  project: ProjectId,
  session: SessionId,
  ids: ReadonlyArray<EventId>
): Effect.fn.Return<ReadonlyMap<EventId, EventSummary>, EventDamaged | StorageUnavailable> {
  const wanted = new Set(ids)
  const found = new Map<EventId, EventSummary>()
  const [first, last] = [ids.toSorted()[0], ids.toSorted().at(-1)]
  if (first === undefined || last === undefined) return found
  for (let after = Uuid.previous(first); wanted.size > 0;) {
    const query = { session, order: "asc", after, limit: Math.min(pageEvents, wanted.size) } as const
    const page = yield* storage.listEvents(project, query)
    for (const stored of page) {
      if (wanted.delete(stored.id)) {
        found.set(stored.id, yield* EventReader.summaryOf(project, stored, onDamage))
      }
    }
    const next = page.at(-1)?.id
    if (next === undefined || next >= last) break
    after = next
  }
  return found
})

/** The index of the first call with a higher pack. */
export const firstAfter = (calls: SessionOutline["calls"], after: number): number =>
  Sorted.firstNot(calls, ({ pack }) => pack <= after)

/** A longer output is not read for what it says of an error (bytes). */
const maxOutputBytes = 1024 * 1024

const errorMessageOf = Effect.fnUntraced(function* (
  { calls, pieces }: SessionOutline,
  index: number,
  { api, errorType, outputBytes }: EventSummary
): Effect.fn.Return<string | null, StorageUnavailable> {
  const { damage, pack } = calls[index]!
  if (errorType === null || damage !== undefined || outputBytes > maxOutputBytes) return null
  const said = Effect.gen(function* () {
    const { output } = yield* pieces.contentsOf(pack)
    return ErrorMessage.of((yield* CallText.readOutput(api, pack, output, pieces)).output)
  })
  const message = yield* orDamage(said)
  return message instanceof Damage ? null : message
})

const callOf = (
  read: SessionOutline,
  index: number,
  summary: EventSummary & Pick<SessionCall, "errorMessage" | "retryOf" | "retriedBy">,
  prices: PriceList.PriceList | undefined
): SessionCall => {
  const { calls, outline } = read
  const call = outline.calls[index]!
  const { damage } = calls[index]!
  const parent = call.parent === undefined ? undefined : outline.calls[call.parent]!
  const differs = (setting: keyof OutlinedCall["settings"]) =>
    parent !== undefined && parent.settings[setting] !== call.settings[setting]
  return {
    ...summary,
    parentEventId: call.parent === undefined ? null : calls[call.parent]!.id,
    keptMessages: call.kept,
    newMessages: call.added,
    goneMessages: call.gone,
    output: outline.outputOf(call),
    carried: { kept: call.keptFirst, runs: runsOf(outline.carriedAfter(call)) },
    instructionMessages: outline.instructionsOf(call),
    instructionCharacters: damage === undefined ? read.instructionCharactersOf(call) : null,
    instructionsChanged: differs("instructions") || (parent !== undefined && parent.instructions !== call.instructions),
    toolsChanged: differs("tools"),
    parametersChanged: differs("parameters"),
    inputPrices: inputPricesOf(summary, prices),
    isDamaged: damage !== undefined
  }
}

const inputPricesOf = (
  { inputTokens, model, occurredAt, price, provider, receivedAt, responseModel }: EventSummary,
  prices: PriceList.PriceList | undefined
): InputPrices | null =>
  price === null || prices === undefined
    ? null
    : prices.inputPrices(
        { price, provider, model, response_model: responseModel, input_tokens: inputTokens },
        new Date((occurredAt ?? receivedAt).epochMilliseconds)
      )

const runsOf = (numbers: ReadonlyArray<number>): ReadonlyArray<NumberRange> => {
  const runs: Array<[number, number]> = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}
