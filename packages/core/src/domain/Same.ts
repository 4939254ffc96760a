/** Whether two values of a field are the same one. */
import * as DateTime from "effect/DateTime"

const plain = (value: unknown): unknown => {
  if (DateTime.isDateTime(value)) return value.epochMilliseconds
  return typeof value === "object" ? JSON.stringify(value) : value
}

export const isSame = (one: unknown, other: unknown): boolean => plain(one) === plain(other)
