/** Simplifies the generated OpenAPI document, for its readers and for code generators. */

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

export const transform = (document: Node): Record<string, unknown> => {
  const { schemas, ...components } = document["components"] as Node
  const named = Object.entries(schemas as Node).map(([name, schema]) => [plainName(name), plain(schema)] as const)
  return {
    ...document,
    paths: plain(document["paths"]),
    components: { ...components, schemas: Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1))) }
  }
}
