/** The values of a row or of an entry of an index: https://sqlite.org/fileformat2.html#record_format */
import type { SQLInputValue } from "node:sqlite"
import * as Varint from "./Varint.ts"

const integerBytes = [0, 1, 2, 3, 4, 6, 8]
const type = { none: 0, largestInteger: 6, real: 7, zero: 8, one: 9, firstBytes: 12 }

const sizeOf = (each: number): number | undefined => {
  if (each <= type.largestInteger) return integerBytes[each]
  if (each === type.real) return 8
  if (each === type.zero || each === type.one) return 0
  return each < type.firstBytes ? undefined : Math.floor((each - type.firstBytes) / 2)
}

const valueOf = (bytes: Buffer, each: number): SQLInputValue => {
  if (each === type.none) return null
  if (each === type.zero) return 0n
  if (each === type.one) return 1n
  if (each === type.real) return bytes.readDoubleBE(0)
  if (each <= type.largestInteger) return BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toString("hex")}`))
  return each % 2 === 0 ? bytes : bytes.toString()
}

/** The types of the values, and where these begin. Undefined if they do not have as many bytes as the row. */
const headerOf = (bytes: Buffer, size: number) => {
  const { end, value } = Varint.read(bytes, 0)
  const begin = Number(value)
  if (begin > bytes.length) return undefined
  const types: Array<number> = []
  let total = begin
  let at = end
  while (at < begin) {
    const next = Varint.read(bytes, at)
    const bytesOfValue = next.value < 0n ? undefined : sizeOf(Number(next.value))
    if (bytesOfValue === undefined) return undefined
    types.push(Number(next.value))
    total += bytesOfValue
    at = next.end
  }
  return at === begin && total === size ? { types, begin } : undefined
}

/** Whether the beginning of a row is one. Rows whose types are not all in it are believed. */
export const isSound = (local: Buffer, size: number): boolean =>
  Number(Varint.read(local, 0).value) > local.length ? local.length < size : headerOf(local, size) !== undefined

/** Integers are `bigint`s. Undefined if it is no row. */
export const decode = (bytes: Buffer): ReadonlyArray<SQLInputValue> | undefined => {
  const header = headerOf(bytes, bytes.length)
  if (header === undefined) return undefined
  let at = header.begin
  return header.types.map((each) => {
    const start = at
    at += sizeOf(each)!
    return valueOf(bytes.subarray(start, at), each)
  })
}
