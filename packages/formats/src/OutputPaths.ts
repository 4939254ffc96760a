/** Where the messages of an output are in it. */
import type { Api } from "./Format.ts"
import { get, isObject, list } from "./json/Read.ts"

/** A path of keys and indexes. */
type Path = ReadonlyArray<string | number>

/** The first of these keys that a value has, as a path; else none. */
const within = (value: unknown, path: Path, ...keys: ReadonlyArray<string>): Path => {
  const key = keys.find((each) => isObject(get(value, ...path, each)))
  return key === undefined ? path : [...path, key]
}

/**
 * The path of a message of `Format.messages(inputs, output).output`, by its index. Null where no value of the output is the message
 * alone.
 */
export const outputPath = (api: Api, output: unknown, index: number): Path | null => {
  switch (api) {
    case "provider1-chat-completions":
      return within(output, ["choices", index], "message")
    case "provider1-responses":
      return ["output", index]
    case "provider2-messages":
    case "provider2-beta-messages":
      return []
    case "provider3-models":
      return list(get(output, "candidates")).length === 0 ? [] : within(output, ["candidates", index], "content")
    case "provider3-interactions":
      return [Array.isArray(get(output, "steps")) ? "steps" : "outputs", index]
    case "aisdk":
      return list(get(output, "responseMessages")).some(isObject) ? ["responseMessages", index] : null
    default:
      return null
  }
}
