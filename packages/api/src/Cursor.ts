/**
 * The values of `next_cursor`: strings that are opaque to clients, the same in an answer and in the query of the next page. Each
 * names the last row of a page. A cursor is valid with the same filters and order.
 */
import * as Violation from "@tachograph/core/domain/Violation"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Base64Url from "effect/encoding/Base64Url"

const prefix = "c1_"

const make = <Row>(
  pattern: RegExp,
  write: (row: Row) => string,
  /** Undefined if it is not what was written. */
  read: (written: string) => Row | undefined
) => ({
  schema: Schema.String.check(
    Violation.check((text) => {
      const written = text.slice(prefix.length)
      const isOurs = text.startsWith(prefix) && pattern.test(written) && read(written) !== undefined
      return isOurs ? undefined : Violation.valueError("not a cursor of this server")
    })
  ),
  /** Null without a row: there is no other page. */
  encode: (row: Row | undefined): string | null => (row === undefined ? null : prefix + write(row)),
  /** Undefined without a cursor: the first page. Takes what fits the schema. */
  decode: (text: string | undefined): Row | undefined =>
    text === undefined ? undefined : read(text.slice(prefix.length))
})

const toHex = (uuid: string): string => uuid.replaceAll("-", "")

const fromHex = <Id extends string>(hex: string): Id => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") as Id

/** Names a row by its UUID. */
export const ofId = <Id extends string>() => make<Id>(/^[0-9a-f]{32}$/, toHex, fromHex)

/** Names an event by its UUID, and how much of it was given if there is more of it. */
export const ofPlace = <Id extends string>() =>
  make<{ readonly event: Id; readonly given: number | undefined }>(
    /^[0-9a-f]{32}(?:_[0-7][0-9a-f]{7})?$/,
    ({ event, given }) => toHex(event) + (given === undefined ? "" : `_${given.toString(16).padStart(8, "0")}`),
    (written) => ({
      event: fromHex(written.slice(0, 32)),
      given: written.length === 32 ? undefined : Number.parseInt(written.slice(33), 16)
    })
  )

const toNumber = (number: number): string => number.toString(16).padStart(8, "0")

/** Names a row by its number, of 31 bits like the columns of all numbers. */
export const ofNumber = make<number>(/^[0-7][0-9a-f]{7}$/, toNumber, (hex) => Number.parseInt(hex, 16))

/** Names a place among rows of which some are in an order of their own, by their numbers. */
export const ofSessions = <Id extends string>(maxRecent: number) =>
  make<{
    readonly asOf: Id
    readonly last: Id | undefined
    readonly recent: ReadonlyArray<number>
    readonly given: number
  }>(
    new RegExp(`^[0-9a-f]{64}(?:[0-7][0-9a-f]{7}){0,${maxRecent + 1}}$`),
    ({ asOf, given, last, recent }) =>
      toHex(asOf) + (last === undefined ? "0".repeat(32) : toHex(last)) + [given, ...recent].map(toNumber).join(""),
    (written) => {
      const last = written.slice(32, 64)
      const [given = 0, ...recent] = (written.slice(64).match(/.{8}/g) ?? []).map((hex) => Number.parseInt(hex, 16))
      return given > recent.length
        ? undefined
        : { asOf: fromHex(written.slice(0, 32)), last: /^0+$/.test(last) ? undefined : fromHex(last), recent, given }
    }
  )

type Key = number | string | null

const isKey = (value: unknown): value is Key =>
  value === null || typeof value === "string" || (typeof value === "number" && Number.isFinite(value))

/** The keys of a group that a cursor has at most, and the bytes of each. */
const maxKeys = 2
const maxKeyBytes = 4 * 255

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

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
