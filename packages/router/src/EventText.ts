/** The text of an event that is recorded in process, its payload's bytes as they were handed over. */
import { JsonText } from "@tachograph/core"

const written = (value: unknown): JsonText.JsonText => JsonText.unsafe(JSON.stringify(value) ?? "null")

/** A JSON text is taken as it is. What is none is left to be refused for what it is, a string. */
const half = (value: unknown): JsonText.JsonText => {
  if (typeof value !== "string") return written(value)
  try {
    JSON.parse(value)
    return JsonText.unsafe(value)
  } catch {
    return written(value)
  }
}

const texts = (fields: object, ofField: (value: unknown) => JsonText.JsonText = written) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, ofField(value)] as const]))
  )

/** Throws where the body cannot be written as JSON: for a cycle, or a BigInt. */
export const of = (body: object): string | undefined => {
  const { properties, ...rest } = (body ?? {}) as { readonly properties?: { readonly [key: string]: unknown } | null }
  const { inputs, output, ...others } = properties ?? {}
  if (typeof inputs !== "string" && typeof output !== "string") return JSON.stringify(body)
  const payload = JsonText.object({ ...texts(others), ...texts({ inputs, output }, half) })
  return JsonText.object({ ...texts(rest), properties: payload })
}
