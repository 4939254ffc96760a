/** What the AI SDK tells of a call, as JSON without the data of its transport, and without credentials. */
import { credentialsOf, mask, suspectsOf } from "@tachograph/capture/masking/Credentials"
import { isObject } from "../event/Event.ts"
import type { Pairs, Told } from "../event/Secrets.ts"
import { variables } from "../platform/Builtins.ts"
import { hexOf } from "../platform/Hex.ts"
import type { Fields } from "./OpenCalls.ts"

/** What is no part of the request: headers, results of earlier steps, functions, and values of the application. */
const notOfInputs = new Set([
  ...["callId", "steps", "abortSignal", "experimental_context", "runtimeContext", "toolsContext", "metadata", "output"],
  ...["include", "stopWhen", "timeout", "promptMessages", "stepTools", "stepToolChoice", "error", "durableContext"],
  ...["headers", "operationId"]
])

/** Version 6 repeats the request in each result. */
const notOfOutput = new Set([
  ...["callId", "runtimeContext", "toolsContext", "experimental_context", "metadata", "request", "headers"]
])

const notOfResponse = new Set(["headers", "body"])

/** What is left out of errors of a provider, and of those that they are made of. */
const notOfErrors = new Set([
  ...["headers", "requestHeaders", "responseHeaders", "requestBodyValues", "responseBody", "request", "response"]
])

const without = (fields: Fields, names: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)))

export const inputsOf = (event: Fields): Fields => without(event, notOfInputs)

/** What the steps before this one answered, as far as its own result repeats it: that of version 6 does. */
export const answeredBefore = ({ callId, steps }: Fields): ReadonlyArray<unknown> => {
  const last: unknown = Array.isArray(steps) && callId === undefined ? steps.at(-1) : undefined
  const response = isObject(last) ? last["response"] : undefined
  return isObject(response) && Array.isArray(response["messages"]) ? response["messages"] : []
}

/** The result of a step, without what the steps before it `answered`. */
export const outputOf = (event: Fields, answered: ReadonlyArray<unknown> = []): Fields => {
  const { response } = event
  const output = without(event, notOfOutput)
  if (!isObject(response)) return output
  const own = without(response, notOfResponse)
  const { messages } = own
  return { ...output, response: Array.isArray(messages) ? { ...own, messages: messages.slice(answered.length) } : own }
}

/** What a call for an object comes to. The text of the answer is told where it is no such object. */
export const objectOf = (event: Fields, answer: Fields = {}): Fields => {
  const {
    error,
    modelId: _,
    msToFirstChunk: __,
    object,
    objectText,
    provider: ___,
    stepNumber: ____,
    ...output
  } = {
    ...answer,
    ...event
  }
  return {
    ...(object === undefined ? { text: objectText } : { object }),
    ...outputOf(output),
    ...(error === undefined ? {} : failureOfError(error))
  }
}

/** An error has no fields that JSON shows, except those of its class. */
const errorFields = (error: Error): Fields => ({
  ...without(error as unknown as Fields, notOfErrors),
  name: error.name,
  message: error.message
})

export const failureOfError = (error: unknown): Fields => ({
  error: error instanceof Error ? error : { message: String(error) }
})

export const write = (fields: Fields): string =>
  JSON.stringify(fields, function (this: Fields, key, value: unknown) {
    // Before its `toJSON`, which has fields that are left out.
    const original = this[key]
    if (original instanceof Error) return errorFields(original)
    return original instanceof Uint8Array ? hexOf(original) : value
  })

const pairsOf = (headers: unknown): Pairs => {
  if (!isObject(headers)) return []
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers)
  return entries.filter((entry): entry is [string, string] => typeof entry[1] === "string")
}

const addressesIn = (error: unknown): ReadonlyArray<URL> => {
  if (!(error instanceof Error)) return []
  const { cause, errors, url } = error as { cause?: unknown; errors?: unknown; url?: unknown }
  const inner = [cause, ...(Array.isArray(errors) ? errors : [])].flatMap(addressesIn)
  return typeof url === "string" && URL.canParse(url) ? [new URL(url), ...inner] : inner
}

/** The variables of the process from which providers of the SDK take their keys. */
const ofProviders = /(?:API_KEY|AUTH_TOKEN)$/

const valuesOf = (pairs: Pairs): ReadonlyArray<string> => pairs.map(([, value]) => value)

/** The headers that the application gave, which only version 6 tells, the addresses of errors, and the variables of the process. */
export const toldOf = ({ error, headers }: Fields): Told => {
  const all = variables()
  const named = credentialsOf(
    all.filter(([name]) => !ofProviders.test(name)),
    []
  )
  return {
    headers: pairsOf(headers),
    addresses: addressesIn(error),
    credentials: valuesOf(all.filter(([name]) => ofProviders.test(name))),
    // Other programs may have ordinary words for a password. The names are those of credentials already.
    suspects: suspectsOf(
      named.map((value) => ["", value]),
      []
    )
  }
}

/** What keys of providers look like. Version 7 tells no key, so that one which a provider repeats is found only by its look. */
const keys = /\b(?:(?:sk|rk|pk|gsk|xai|pplx|hf|r8|nvapi|fw|csk|tgp)[-_][\w-]{8,}|AIza[\w-]{20,}|AKIA[A-Z\d]{16})/g

/** The JSON text of a failure, without what looks like a key. */
export const withoutKeys = (text: string): string => text.replace(keys, mask)
