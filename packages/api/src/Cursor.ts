/**
 * The values of `next_cursor`: strings that are opaque to clients, the same in an answer and in the query of the next page. Each
 * names the last row of a page. A cursor is valid with the same filters and order.
 */
import * as SessionRank from "@tachograph/core/domain/SessionRank"
import * as Uuid from "@tachograph/core/domain/Uuid"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Base64Url from "effect/encoding/Base64Url"

const prefix = "c1_"

const notOurs = Violation.valueError("not a cursor of this server")

const isCursor = <Row>(pattern: RegExp, read: (written: string) => Row | undefined, text: string): boolean => {
  const written = text.slice(prefix.length)
  return text.startsWith(prefix) && pattern.test(written) && read(written) !== undefined
}

const make = <Row>(
  pattern: RegExp,
  write: (row: Row) => string,
  /** Undefined if it is not what was written. */
  read: (written: string) => Row | undefined
) => ({
  schema: Schema.String.check(Violation.check((text) => (isCursor(pattern, read, text) ? undefined : notOurs))),
  /** Whether a text is such a cursor. */
  is: (text: string): boolean => isCursor(pattern, read, text),
  /** Null without a row: there is no other page. */
  encode: (row: Row | undefined): string | null => (row === undefined ? null : prefix + write(row)),
  /** Undefined without a cursor: the first page. Takes what fits the schema. */
  decode: (text: string | undefined): Row | undefined =>
    text === undefined ? undefined : read(text.slice(prefix.length))
})

export interface Cursor<Row> {
  readonly is: (text: string) => boolean
  readonly encode: (row: Row | undefined) => string | null
  readonly decode: (text: string | undefined) => Row | undefined
}

const toHex = (uuid: string): string => uuid.replaceAll("-", "")

const toNumber = (number: number): string => number.toString(16).padStart(8, "0")

const fromHex = <Id extends string>(hex: string): Id => Uuid.fromHex(hex) as Id

/** Names a row by its UUID. */
export const ofId = <Id extends string>() => make<Id>(/^[0-9a-f]{32}$/, toHex, fromHex)

/** Names an event by its UUID, and how much of it was given if there is more of it. */
export const ofPlace = <Id extends string>() =>
  make<{ readonly event: Id; readonly given: number | undefined }>(
    /^[0-9a-f]{32}(?:_[0-7][0-9a-f]{7})?$/,
    ({ event, given }) => toHex(event) + (given === undefined ? "" : `_${toNumber(given)}`),
    (written) => ({
      event: fromHex(written.slice(0, 32)),
      given: written.length === 32 ? undefined : Number.parseInt(written.slice(33), 16)
    })
  )

/** Names a row by its number, of 31 bits like the columns of all numbers. */
export const ofNumber = make<number>(/^[0-7][0-9a-f]{7}$/, toNumber, (hex) => Number.parseInt(hex, 16))

/** Names a step by its start (ms), the number of its pack, and where its text begins in that. */
export const ofStep = make<{ readonly occurredAtMs: number; readonly pack: number; readonly start: number }>(
  /^-?[0-9a-f]{14}[0-7][0-9a-f]{7}[0-7][0-9a-f]{7}$/,
  ({ occurredAtMs, pack, start }) =>
    (occurredAtMs < 0 ? "-" : "") +
    Math.abs(occurredAtMs).toString(16).padStart(14, "0") +
    toNumber(pack) +
    toNumber(start),
  (written) => {
    const at = written.length - 16
    return {
      occurredAtMs: Number.parseInt(written.slice(0, at), 16),
      pack: Number.parseInt(written.slice(at, at + 8), 16),
      start: Number.parseInt(written.slice(at + 8), 16)
    }
  }
)

/** The time in a session's rank, and the number of the session. */
const rankToHex = (rank: SessionRank.SessionRank): string => {
  const hex = toHex(rank)
  return hex.slice(0, 12) + hex.slice(-8)
}

const rankFromHex = (hex: string): SessionRank.SessionRank =>
  SessionRank.of(Number.parseInt(hex.slice(0, 12), 16), Number.parseInt(hex.slice(12), 16))

const isNothing = (hex: string): boolean => /^0+$/.test(hex)

/** Names a place in a list of sessions, and some sessions that are in places of their own. Zeros stand for what there is not. */
export const ofSessions = <Id extends string>(maxRecent: number) => {
  const rank = "[0-9a-f]{12}[0-7][0-9a-f]{7}"
  const pattern = new RegExp(`^([0-9a-f]{32})(${rank})([0-9a-f]{32})([0-7][0-9a-f]{7})((?:${rank}){0,${maxRecent}})$`)
  return make<{
    readonly asOf: Id
    readonly last: SessionRank.SessionRank | undefined
    readonly recent: ReadonlyArray<SessionRank.SessionRank>
    readonly scan?: { readonly at: Id; readonly given: number } | undefined
  }>(
    /^[\w-]+$/,
    ({ asOf, last, recent, scan }) => {
      const [at, given] = [scan === undefined ? "0".repeat(32) : toHex(scan.at), scan?.given ?? 0]
      const ranks = [
        last === undefined ? "0".repeat(20) : rankToHex(last),
        at,
        toNumber(given),
        ...recent.map(rankToHex)
      ]
      return Base64Url.encode(Uuid.hexToBytes(toHex(asOf) + ranks.join("")))
    },
    (written) => {
      const bytes = Option.getOrUndefined(Result.getSuccess(Base64Url.decode(written)))
      const [, asOf, last, at, given, ranks] = pattern.exec(Uuid.bytesToHex(bytes ?? new Uint8Array())) ?? []
      if (asOf === undefined) return undefined
      const recent = (ranks!.match(/.{20}/g) ?? []).map(rankFromHex)
      const scan = isNothing(at!) ? undefined : { at: fromHex<Id>(at!), given: Number.parseInt(given!, 16) }
      if ((scan?.given ?? 0) > recent.length) return undefined
      return { asOf: fromHex<Id>(asOf), last: isNothing(last!) ? undefined : rankFromHex(last!), recent, scan }
    }
  )
}

type Key = number | string | null

const isKey = (value: unknown): value is Key =>
  value === null || typeof value === "string" || (typeof value === "number" && Number.isFinite(value))

/** The keys of a group that a cursor has at most, and the bytes of each. */
const maxKeys = 2
const maxKeyBytes = 4 * 255

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const decodeRank = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ by: Schema.String, value: Schema.Finite, number: Schema.Int }))
)

const decodeEventRank = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ by: Schema.String, value: Schema.Finite, id: Uuid.Uuid }))
)

/** Names a group by the values of its keys. */
export const ofKeys = make<ReadonlyArray<Key>>(
  new RegExp(`^[\\w-]{2,${8 * maxKeys * maxKeyBytes}}$`),
  (keys) => Base64Url.encode(JSON.stringify(keys)),
  (written) => {
    const keys = Option.getOrUndefined(Option.flatMap(Result.getSuccess(Base64Url.decodeString(written)), decodeJson))
    return Array.isArray(keys) && keys.length <= maxKeys && keys.every(isKey) ? keys : undefined
  }
)

/** Names where one has come to who follows events: a UUID, and those after it that were given. */
export const ofPosition = <Id extends string>(maxGiven: number) =>
  make<{ readonly settled: Id; readonly given: ReadonlyArray<Id> }>(
    new RegExp(`^(?:[0-9a-f]{32}){1,${maxGiven + 1}}$`),
    ({ given, settled }) => [settled, ...given].map(toHex).join(""),
    (written) => {
      const [settled, ...given] = (written.match(/.{32}/g) ?? []).map((hex) => fromHex<Id>(hex))
      return { settled: settled!, given }
    }
  )

/** By what a list is sorted, as a cursor of it says: `cost desc`. */
type SortedBy = string

/**
 * Names a row of a sorted list by its figure, and by what tells rows with the same one apart, a number or the UUID of an event; and says by
 * what the list is sorted.
 */
const ofSorted = <Row extends { readonly value: number }>(decode: (json: string) => Option.Option<SortedRow<Row>>) =>
  make<SortedRow<Row>>(
    /^[\w-]+$/,
    (row) => Base64Url.encode(JSON.stringify(row)),
    (written) => Option.getOrUndefined(Option.flatMap(Result.getSuccess(Base64Url.decodeString(written)), decode))
  )

export type SortedRow<Row> = Row & { readonly by: SortedBy }

export const ofRank = ofSorted(decodeRank)

export const ofEventRank = <Id extends string>() =>
  ofSorted<{ readonly value: number; readonly id: Id }>(
    decodeEventRank as (json: string) => Option.Option<SortedRow<{ readonly value: number; readonly id: Id }>>
  )

/** The cursor of a list that can be sorted: another one where it is. */
export const sortable = <Row, Rank>(plain: Cursor<Row>, sorted: Cursor<Rank>) => ({
  schema: Schema.String.check(Violation.check((text) => (plain.is(text) || sorted.is(text) ? undefined : notOurs))),
  plain,
  sorted
})
