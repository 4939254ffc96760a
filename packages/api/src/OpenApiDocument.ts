/** Simplifies the generated OpenAPI document, for its readers and for code generators. */
import { ignoredHeader } from "./IgnoredFields.ts"

type Node = { readonly [key: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)

/** `agent-not-foundEncoded` → `AgentNotFound`: the document describes the encoded form only. */
const plainName = (name: string): string =>
  name.replace(/Encoded$/, "").replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())

const reference = /^(#\/components\/schemas\/)(.+)$/

const isNonFinite = (schema: unknown): boolean =>
  isNode(schema) && Array.isArray(schema["enum"]) && schema["enum"].includes("Infinity")

const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((item) => !isNonFinite(item)).map(plain)
  if (!isNode(value)) return value
  const entries = Object.entries(value).flatMap(([key, inner]): ReadonlyArray<readonly [string, unknown]> => {
    // Unknown fields of requests are ignored, and responses may gain fields.
    if (key === "additionalProperties" && inner === false) return []
    if (key === "$ref" && typeof inner === "string") {
      return [[key, inner.replace(reference, (_, path: string, name: string) => path + plainName(name))]]
    }
    if ((key === "minimum" || key === "maximum") && Math.abs(inner as number) === Number.MAX_SAFE_INTEGER) return []
    return [[key, plain(inner)]]
  })
  return Object.fromEntries(entries)
}

const ignored = {
  [ignoredHeader]: {
    description:
      "The unknown fields of the body, which were ignored: names with commas between them. Absent if there are none.",
    schema: { type: "string" }
  }
}

/** Answers to bodies of JSON may name what was ignored of them. */
const withIgnored = (path: unknown): unknown => {
  if (!isNode(path)) return path
  const operations = Object.entries(path).map(([method, operation]) => {
    const { requestBody, responses } = operation as {
      readonly requestBody?: { readonly content: Node }
      responses: Node
    }
    if (requestBody === undefined || !("application/json" in requestBody.content)) return [method, operation]
    const answered = { ...(responses["200"] as Node), headers: ignored }
    return [method, { ...(operation as Node), responses: { ...responses, 200: answered } }]
  })
  return Object.fromEntries(operations)
}

export const transform = (document: Node): Record<string, unknown> => {
  const { schemas, ...components } = document["components"] as Node
  const named = Object.entries(schemas as Node).map(([name, schema]) => [plainName(name), plain(schema)] as const)
  return {
    ...document,
    paths: Object.fromEntries(
      Object.entries(plain(document["paths"]) as Node).map(([path, item]) => [path, withIgnored(item)])
    ),
    components: { ...components, schemas: Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1))) }
  }
}
