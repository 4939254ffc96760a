/** How the fields of an event are stored in a column each. */
import { Codes, type EventId, type EventSummary, EventTime, type TraceId, Uuid } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import type { SqlClient } from "effect/sql"
import type * as BulkValues from "../dialect/BulkValues.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as KnownWords from "./KnownWords.ts"

type Value = BulkValues.Value

/** What other fields are decoded by. */
type Row = Readonly<Record<"id" | "model", Value>>

/** How a field is stored. */
export interface Codec<A> {
  readonly type: BulkValues.Type
  readonly encode: (field: A, summary: EventSummary) => Value
  readonly decode: (stored: Value, row: Row) => A
}

export const text = <A extends string>(): Codec<A> => ({
  type: "varchar",
  encode: (field) => field,
  decode: (stored) => stored as A
})

/** Postgres returns a `bigint` as text. */
export const number = (type: BulkValues.Type): Codec<number> => ({ type, encode: (field) => field, decode: Number })

export const time: Codec<DateTime.Utc> = {
  type: "bigint",
  encode: (field) => field.epochMilliseconds,
  decode: (stored) => DateTime.makeUnsafe(Number(stored))
}

/** As the milliseconds since the time in the event's id. */
export const sinceId: Codec<DateTime.Utc> = {
  type: "bigint",
  encode: (field, { id }) => field.epochMilliseconds - EventTime.of(id),
  decode: (stored, { id }) =>
    DateTime.makeUnsafe(EventTime.of(UuidColumn.decode(id as UuidColumn.StoredId) as EventId) + Number(stored))
}

/** The word's number. */
export const wordOf = <A extends string>(codes: Codes.Codes<A>): Codec<A> => {
  const wordOfCode = Codes.reader(codes)
  return {
    type: "smallint",
    encode: (field) => codes[field],
    decode: (stored) => wordOfCode(Number(stored))!
  }
}

/** A bit for each word, by its number, and so in the order of these. */
export const wordsOf = <A extends string>(codes: Codes.Codes<A>): Codec<ReadonlyArray<A>> => {
  const words = Codes.wordsOf(codes)
  return {
    type: "smallint",
    encode: (field) => field.reduce((bits, word) => bits | (1 << codes[word]), 0),
    decode: (stored) => words.filter((word) => (Number(stored) & (1 << codes[word])) !== 0)
  }
}

export const knownWord = ({ decode, encode }: KnownWords.KnownWords): Codec<string> => ({
  type: "varchar",
  encode,
  decode: (stored) => decode(stored as string)
})

export const boolean: Codec<boolean> = { type: "smallint", encode: Number, decode: (stored) => Number(stored) === 1 }

/** Separated by line feeds, which no name has. */
export const names: Codec<ReadonlyArray<string>> = {
  type: "varchar",
  encode: (field) => field.join("\n"),
  decode: (stored) => (stored === "" ? [] : (stored as string).split("\n"))
}

/** As its JSON text, in which every database takes any character. */
export const json = <A extends object>(): Codec<A> => ({
  type: "varchar",
  encode: (field) => JSON.stringify(field),
  decode: (stored) => JSON.parse(stored as string) as A
})

/** Empty for the model that was asked for: it mostly is the one that answers. */
export const answeringModel: Codec<string> = {
  type: "varchar",
  encode: (field, { model }) => (field === model ? "" : field),
  decode: (stored, { model }) => (stored === "" ? model : stored) as string
}

export const uuid = <A extends string>(sql: SqlClient.SqlClient): Codec<A> => ({
  type: "uuid",
  encode: UuidColumn.encoder(sql),
  decode: (stored) => UuidColumn.decode(stored as UuidColumn.StoredId) as A
})

/** Hexadecimal digits, in bytes. */
export const hex = <A extends string>(): Codec<A> => ({
  type: "bytea",
  encode: (field) => Uuid.hexToBytes(field),
  decode: (stored) => Uuid.bytesToHex(stored as Uint8Array) as A
})

/** As long as a UUID, whose columns take as many bytes as it has. */
export const traceId = (sql: SqlClient.SqlClient): Codec<TraceId> => {
  const { decode, encode, type } = uuid<string>(sql)
  return {
    type,
    encode: (field, summary) => encode(Uuid.fromHex(field), summary),
    decode: (stored, row) => decode(stored, row).replaceAll("-", "") as TraceId
  }
}

export const nullable = <A>({ decode, encode, type }: Codec<A>): Codec<A | null> => ({
  type,
  encode: (field, summary) => (field === null ? null : encode(field, summary)),
  decode: (stored, row) => (stored === null ? null : decode(stored, row))
})
