/** The text of an event that is recorded in process, its payload's bytes as they were handed over. */
import { JsonText } from "@tachograph/core"

const written = (value: unknown): JsonText.JsonText => JsonText.unsafe(JSON.stringify(value) ?? "null")

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Whether it stands for JSON, as a text or as its bytes, and is not a value itself. */
const isText = (value: unknown): value is string | Uint8Array =>
  typeof value === "string" || value instanceof Uint8Array

/** A JSON text is taken as it is. What is none is left to be refused for what it is, a string. */
const half = (value: unknown): JsonText.JsonText => {
  if (!isText(value)) return written(value)
  try {
    const text = typeof value === "string" ? value : utf8.decode(value)
    JSON.parse(text)
    return JsonText.unsafe(text)
  } catch {
    return written(String(value))
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
  if (!isText(inputs) && !isText(output)) return JSON.stringify(body)
  const payload = JsonText.object({ ...texts(others), ...texts({ inputs, output }, half) })
  return JsonText.object({ ...texts(rest), properties: payload })
}
