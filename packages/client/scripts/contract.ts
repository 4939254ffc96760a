/**
 * Writes what the typed client knows of the interface, from `openapi.json`: its types, and the table of its operations. With
 * `--check`, fails if a file is out of date.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fields, nameOf, type Schema, typeText } from "./TypeText.ts"

interface Content {
  readonly schema: Schema
}

interface Parameter extends Content {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>>; readonly required?: boolean }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8")

const { components, paths } = JSON.parse(read("../../../openapi.json")) as Document

const lines = (type: string) => `  ${type}\n`

/** An object may have more than its fields. */
const restOf = ({ allOf = [] }: Schema): ReadonlyArray<string> =>
  allOf.some(({ additionalProperties }) => additionalProperties !== undefined)
    ? ["readonly [key: string]: unknown"]
    : []

/** The components, and the objects that have no name in the contract. */
const types = new Map(Object.entries(components.schemas))

/** An object with fewer fields is written anew. */
const leastShared = 5

/** How many fields of an object another one may lack that is written as an extension of it. */
const mostOmitted = 3

/** What an object extends: the largest of the others whose fields it has, but for a few. */
const extended = (name: string, own: ReadonlyArray<string>) =>
  [...types]
    .filter(([other, { properties }]) => other !== name && properties !== undefined)
    .map(([other, schema]) => {
      const all = fields(schema)
      const omitted = Object.keys(schema.properties!).filter((_, index) => !own.includes(all[index]!))
      return { other, omitted, shared: all.filter((field) => own.includes(field)), size: all.length }
    })
    .filter(({ omitted, other, shared, size }) => {
      // Of two that are the same, the second extends the first.
      const isLarger = size < own.length || (size === own.length && other < name)
      return isLarger && shared.length >= leastShared && omitted.length <= mostOmitted
    })
    .toSorted((one, other) => other.shared.length - one.shared.length)[0]

const component = (name: string, schema: Schema): string => {
  if (schema.properties === undefined) return `export type ${name} = ${typeText(schema)}\n`
  const all = [...fields(schema), ...restOf(schema)]
  const base = extended(name, all)
  if (base === undefined) return `export interface ${name} {\n${all.map(lines).join("")}}\n`
  const { omitted, other, shared } = base
  const type = omitted.length === 0 ? other : `Omit<${other}, ${omitted.map((field) => `"${field}"`).join(" | ")}>`
  const own = all.filter((field) => !shared.includes(field))
  if (own.length === 0) return `export type ${name} = ${type}\n`
  return `export interface ${name} extends ${type} {\n${own.map(lines).join("")}}\n`
}

const named = (schema: Schema, name: string): string => {
  if (schema.properties === undefined) return typeText(schema)
  types.set(name, schema)
  return name
}

const json = "application/json"
const ndjson = "application/x-ndjson"

const isSuccess = ([status]: readonly [string, unknown]) => status.startsWith("2")

const schemasOf = ({ responses }: Operation, wanted: boolean) =>
  Object.entries(responses)
    .filter((response) => isSuccess(response) === wanted)
    .flatMap(([, { content = {} }]) => Object.entries(content))

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : components.schemas[nameOf(schema.$ref)]!

/** The key of a page's rows, and their type; undefined where an answer is no page. */
const rowsOf = ({ parameters }: Operation, answer: Schema | undefined) => {
  const properties = answer === undefined ? undefined : resolved(answer).properties
  const isPaged = parameters.some(({ in: place, name }) => place === "query" && name === "cursor")
  if (!isPaged || properties?.["next_cursor"] === undefined) return undefined
  const [rows, ...others] = Object.entries(properties).filter(([, { type }]) => type === "array")
  if (rows === undefined || others.length > 0) throw new Error("A page has one list of rows")
  return { key: rows[0], type: typeText(rows[1].items!) }
}

/** `Idempotency-Key` is given as `idempotency_key`. */
const fieldOf = ({ in: place, name }: Parameter) =>
  place === "header" ? name.toLowerCase().replaceAll("-", "_") : name

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

const operationName = ({ operationId }: Operation) => operationId.slice(operationId.indexOf(".") + 1)

const inputOf = (operation: Operation): ReadonlyArray<string> => {
  const { parameters, requestBody } = operation
  const given = parameters.map((parameter) => [fieldOf(parameter), parameter] as const)
  const names = new Set([...given.map(([name]) => name), "body"])
  if (names.size <= given.length) throw new Error(`Two parameters of ${operationName(operation)} have one name`)
  const properties = Object.fromEntries(given.map(([name, { schema }]) => [name, schema]))
  const required = given.flatMap(([name, { required }]) => (required ? [name] : []))
  const [body] = Object.entries(requestBody?.content ?? {})
  if (body === undefined) return fields({ properties, required })
  const [type, { schema }] = body
  const mark = requestBody?.required === false ? "?" : ""
  // A text is sent as it is.
  const text =
    type === json
      ? `${named(schema, `${capital(operationName(operation))}Body`)} | string`
      : `NonNullable<RequestInit["body"]>`
  return [...fields({ properties, required }), `readonly body${mark}: ${text}`]
}

const all = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
)

/** The operations name types of another module. */
const qualified = (text: string) =>
  text.replace(new RegExp(`\\b(?:${[...types.keys()].join("|")})\\b`, "g"), (name) => `Types.${name}`)

const inputText = (input: ReadonlyArray<string>): string => {
  if (input.length === 0) return "{}"
  return input.length === 1 ? `{ ${input[0]} }` : `{\n${input.map((field) => `      ${field}\n`).join("")}    }`
}

const operationType = ({ operation }: (typeof all)[number]): string => {
  const successes = schemasOf(operation, true)
  const whole = successes.find(([type]) => type !== ndjson)
  const streamed = successes.find(([type]) => type === ndjson)
  const rows = rowsOf(operation, whole?.[1].schema)
  const errors = schemasOf(operation, false).map(([, { schema }]) => typeText(schema))
  const input = inputOf(operation)
  const parts = [
    `input: ${inputText(input)}`,
    `answer: ${whole === undefined ? "string" : named(whole[1].schema, `${capital(operationName(operation))}Answer`)}`,
    ...(rows === undefined ? [] : [`row: ${rows.type}`]),
    ...(streamed === undefined ? [] : [`line: ${typeText(streamed[1].schema).replace(/^string$/, "unknown")}`]),
    `error: ${[...new Set(errors.flatMap((error) => error.split(" | ")))].join(" | ") || "never"}`
  ]
  const summary = operation.summary === undefined ? "" : `  /** ${operation.summary}. */\n`
  const text = parts.map((part) => `    ${part}\n`).join("")
  return `${summary}  ${operationName(operation)}: {\n${qualified(text)}  }\n`
}

const tableEntry = ({ method, operation, path }: (typeof all)[number]): string => {
  const rows = rowsOf(operation, schemasOf(operation, true).find(([type]) => type !== ndjson)?.[1].schema)
  const headers = operation.parameters.filter(({ in: place }) => place === "header").map(fieldOf)
  const answers = schemasOf(operation, true).map(([type]) => type)
  const [bodyType = json] = Object.keys(operation.requestBody?.content ?? {})
  const more = {
    ...(rows === undefined ? {} : { rows: rows.key }),
    ...(headers.length === 0 ? {} : { headers }),
    ...(bodyType === json ? {} : { bodyType }),
    ...(answers.includes(ndjson) ? { hasLines: true } : {}),
    ...(answers.includes(ndjson) || answers.includes(json) ? {} : { isText: true })
  }
  return `  ${operationName(operation)}: ${JSON.stringify({ method, path, ...more })}`
}

const header = "Written by `npm run openapi` from the contract. Do not edit it."

const operationTypes = all.map(operationType).join("\n")

const sorted = [...types].sort(([a], [b]) => (a < b ? -1 : 1))

const files = {
  "Types.ts": `/** The values on the wire. ${header} */

${sorted.map(([name, schema]) => component(name, schema)).join("\n")}`,
  "Operations.ts": `/** The operations of the interface. ${header} */
import type * as Types from "./Types.ts"

/** What each operation takes, and what it answers. */
export interface Operations {
${operationTypes}}

/** Where to send each operation. */
export const operations = {
${all.map(tableEntry).join(",\n")}
} as const
`
}

const isCheck = process.argv.includes("--check")

for (const [name, text] of Object.entries(files)) {
  const path = `../src/api/generated/${name}`
  if (!isCheck) writeFileSync(new URL(path, import.meta.url), text)
  else if (read(path) === text) console.log(`${name} of the typed client matches the contract.`)
  else {
    console.error(
      `${name} of the typed client does not match the contract. Run \`npm run openapi\` and commit the files.`
    )
    process.exitCode = 1
  }
}
