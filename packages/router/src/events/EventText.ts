/** The JSON text of an event that is recorded in process, with the payload's bytes as they were passed in. */
import { JsonText } from "@tachograph/core"

const written = (value: unknown): JsonText.JsonText => JsonText.unsafe(JSON.stringify(value) ?? "null")

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Whether it is a JSON text, as a string or as UTF-8, rather than a value. */
const isText = (value: unknown): value is string | Uint8Array =>
  typeof value === "string" || value instanceof Uint8Array

/** A JSON text is taken verbatim. Any other text is written as a JSON string, which the schema refuses. */
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

/** Throws if the body cannot be written as JSON: it contains a cycle or a BigInt. */
export const of = (body: object): string | undefined => {
  const { properties, ...rest } = (body ?? {}) as { readonly properties?: { readonly [key: string]: unknown } | null }
  const { inputs, output, ...others } = properties ?? {}
  if (!isText(inputs) && !isText(output)) return JSON.stringify(body)
  const payload = JsonText.object({ ...texts(others), ...texts({ inputs, output }, half) })
  return JsonText.object({ ...texts(rest), properties: payload })
}
