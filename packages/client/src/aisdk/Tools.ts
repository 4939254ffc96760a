/** The tools of version 6 as version 7 tells them: with the JSON Schema that is sent, not what the application described it by. */
import { isObject } from "../event/Event.ts"

type Fields = Readonly<Record<string, unknown>>

/** Where a schema holds others. */
const single = ["items", "additionalProperties"]
const lists = ["items", "anyOf", "allOf", "oneOf"]
const named = ["properties", "definitions"]

/** Objects without the word are closed, as the SDK sends them. */
const closed = (schema: unknown): unknown => {
  if (!isObject(schema)) return schema
  const { type } = schema
  const isClosed = type === "object" || (Array.isArray(type) && type.includes("object"))
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (Array.isArray(value)) return [key, lists.includes(key) ? value.map(closed) : value]
    if (named.includes(key) && isObject(value)) {
      return [key, Object.fromEntries(Object.entries(value).map(([name, item]) => [name, closed(item)]))]
    }
    return [key, single.includes(key) ? closed(value) : value]
  })
  const { additionalProperties, ...others } = Object.fromEntries(entries)
  return isClosed
    ? { ...others, additionalProperties: isObject(additionalProperties) ? additionalProperties : false }
    : Object.fromEntries(entries)
}

/** A schema of the SDK's own has it. Zod from 4.2 on and others of https://standardschema.dev make it, and a lazy one is a function. */
const jsonSchemaOf = (schema: unknown): unknown => {
  if (typeof schema !== "object" && typeof schema !== "function") return undefined
  const { "~standard": standard, jsonSchema } = schema as Fields
  if (isObject(standard)) {
    const { jsonSchema: maker } = standard as {
      readonly jsonSchema?: { readonly input?: (options: object) => unknown }
    }
    return closed(maker?.input?.({ target: "draft-07" }))
  }
  if (typeof schema === "function") return jsonSchemaOf(schema())
  // It may be a promise.
  return isObject(jsonSchema) && !("then" in jsonSchema) ? jsonSchema : undefined
}

/** Those that were made, by the application's own, which it asks with again and again. */
const made = new WeakMap<object, unknown>()

const schemaOf = (schema: unknown): unknown => {
  if (schema === null || (typeof schema !== "object" && typeof schema !== "function")) return undefined
  if (made.has(schema)) return made.get(schema)
  let found: unknown
  try {
    found = jsonSchemaOf(schema)
  } catch {
    // It describes what JSON Schema cannot.
  }
  made.set(schema, found)
  return found
}

const definitionOf = (name: string, tool: Fields): Fields => {
  if (tool["type"] === "provider") return { type: "provider", name, id: tool["id"], args: tool["args"] }
  const { description, inputExamples, inputSchema, providerOptions, strict } = tool
  return {
    type: "function",
    name,
    description,
    inputSchema: schemaOf(inputSchema),
    inputExamples,
    providerOptions,
    strict
  }
}

/** Those of a step, by their names. */
export const definitionsOf = (tools: Fields, active: unknown): ReadonlyArray<Fields> =>
  Object.entries(tools).flatMap(([name, tool]) =>
    isObject(tool) && (!Array.isArray(active) || active.includes(name)) ? [definitionOf(name, tool)] : []
  )
