/** Writes a schema of OpenAPI as a type of TypeScript. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly items?: Schema
  readonly prefixItems?: ReadonlyArray<Schema>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: Schema
}

/** The name of the component that a reference names. */
export const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1)

/** `true` and `false` are texts in a query, where they are written as they are here. */
const literal = (value: unknown): string => (value === "true" || value === "false" ? value : JSON.stringify(value))

const union = (types: ReadonlyArray<string>): string => [...new Set(types)].join(" | ")

/** Fields of an object, one a line. Absent and undefined are the same. */
export const fields = ({ properties = {}, required = [] }: Schema): ReadonlyArray<string> =>
  Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return required.includes(name)
      ? `readonly ${key}: ${typeText(schema)}`
      : `readonly ${key}?: ${typeText(schema)} | undefined`
  })

const ofObject = (schema: Schema): string => {
  if (schema.properties !== undefined) return `{ ${fields(schema).join("; ")} }`
  const { additionalProperties } = schema
  return `Readonly<Record<string, ${additionalProperties === undefined ? "unknown" : typeText(additionalProperties)}>>`
}

const ofType = (schema: Schema): string => {
  switch (schema.type) {
    case "string":
      // A number that a query holds as text.
      return schema.format === "int32" ? "number" : "string"
    case "number":
    case "integer":
      return "number"
    case "boolean":
    case "null":
      return schema.type
    case "array":
      if (schema.prefixItems !== undefined) return `readonly [${schema.prefixItems.map(typeText).join(", ")}]`
      return `ReadonlyArray<${schema.items === undefined ? "unknown" : typeText(schema.items)}>`
    case "object":
      return ofObject(schema)
    case undefined:
      return "unknown"
    default:
      throw new Error(`No type is known for ${JSON.stringify(schema)}`)
  }
}

export const typeText = (schema: Schema): string => {
  const several = schema.anyOf ?? schema.oneOf
  if (several !== undefined) return union(several.map(typeText))
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  const { allOf = [], ...alone } = schema
  const own = alone.enum === undefined ? ofType(alone) : union(alone.enum.map(literal))
  return [own, ...allOf.map(typeText)].join(" & ")
}
