/** Parts of streams as JSON. */
import type { Json, JsonObject } from "../Format.ts"

const toBase64 = (bytes: Uint8Array): string => {
  const pieces: Array<string> = []
  for (let at = 0; at < bytes.length; at += 32_768) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 32_768)))
  return btoa(pieces.join(""))
}

/** Values that JSON has no form for: bytes become Base64, and errors keep what makes them one. */
const replaceValue = (_key: string, value: unknown): unknown => {
  if (value instanceof Uint8Array) return toBase64(value)
  if (value instanceof Error) return Object.assign({ name: value.name, message: value.message }, value)
  return typeof value === "bigint" ? String(value) : value
}

/** Reads what may throw, such as a getter or a trap of a proxy. */
const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const isPlain = (value: unknown) => ["string", "boolean", "number"].includes(typeof value)

/**
 * A part as JSON. Only the plain fields that can be read are left where it has no such form, because it holds itself, is nested
 * too deep, or throws when it is read.
 */
export const plain = (chunk: object): Json | undefined =>
  attempt(() => JSON.parse(JSON.stringify(chunk, replaceValue) ?? "null") as Json) ??
  (Object.fromEntries(
    (attempt(() => Object.keys(chunk)) ?? [])
      .map((key) => [key, attempt(() => (chunk as JsonObject)[key])] as const)
      .filter(([, value]) => isPlain(value))
  ) as JsonObject)
