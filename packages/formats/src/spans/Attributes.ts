/** Reads the attributes of a span, as an event of it holds them. */
import type { Json, JsonObject } from "../Format.ts"
import { get, isObject, text } from "../json/Read.ts"
import { argumentsOf } from "../normal/Parts.ts"

/** The attribute that says whose the others are. */
export const scopeKey = "otel.scope.name"

/** Attributes may also have been recorded without their scope. */
const names = /^(?:(?:gen_)?ai\.|llm\.|langfuse\.|mastra\.|genkit:|(?:in|out)put\.value$|otel\.scope\.name$)/

export const isSpan = (value: unknown): value is JsonObject =>
  isObject(value) && Object.keys(value).some((key) => names.test(key))

export const scopeOf = (attributes: unknown): string => text(get(attributes, scopeKey)) ?? ""

/** The text that stands under the first of some names that has one. */
export const wordOf = (attributes: unknown, names: ReadonlyArray<string>): string | null =>
  text(names.map((name) => get(attributes, name)).find((value) => text(value) !== null))

/** A value that may have come as JSON text. */
export const valueAt = (attributes: unknown, name: string): Json | undefined => argumentsOf(get(attributes, name))
