/** Calls of Bedrock, by their paths: `/model/ID/invoke` and `/model/ID/converse`, which name a model of any maker. */
import type { Maker } from "../Format.ts"
import { get, isEmpty, isObject, list } from "../json/Read.ts"

/** The id of a profile has a slash, which may be escaped. */
const form = /\/model\/((?:arn[^/]+\/)?[^/]+)\/((?:invoke|converse)[^/]*)$/

const calls: ReadonlySet<string> = new Set([
  ...["invoke", "invoke-with-response-stream"],
  ...["converse", "converse-stream"]
])

/** The model, as the path has it, and what is done with it; undefined where it is no such path. */
const parse = (path: string): readonly [model: string, operation: string] | undefined => {
  const [, model, operation] = form.exec(path) ?? []
  return model === undefined || operation === undefined ? undefined : [model, operation]
}

/** The model that a path names, also of operations that are no calls. */
export const modelIn = (path: string): string | undefined => parse(path)?.[0]

/** Undefined where a path is no call. */
export const makerOf = (path: string): Maker | undefined => {
  const [model = "", operation = ""] = parse(path) ?? []
  if (!calls.has(operation)) return undefined
  return model.includes("anthropic") ? "anthropic" : "any"
}

/** Whether a call is one of Converse, which is in none of the formats, and is rebuilt in one. Nova takes and answers the same itself. */
export const isConverse = (path: string): boolean => {
  const [model = "", operation = ""] = parse(path) ?? []
  return calls.has(operation) && (operation.startsWith("converse") || /^[^/]*amazon\.nova-[^/]+$/.test(model))
}

/** The contents of Nova have no types, as those of Converse. Behind a profile, it is not known that they are Nova's. */
export const isOfNova = (body: unknown): boolean =>
  list(get(body, "messages")).some(
    (message) => isObject(get(message, "content", 0)) && isEmpty(get(message, "content", 0, "type"))
  )
