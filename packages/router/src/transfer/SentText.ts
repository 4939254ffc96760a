/** JSON objects in lines, whose texts are kept as they are. */
import { ValidationFailure } from "@tachograph/api"
import { JsonText, type Scan } from "@tachograph/core"

/** The text at `span`, or `text` where the line has it as a string. An empty object without either. */
export const of = (line: Buffer, span: Scan.Span | undefined, text: string | null | undefined): JsonText.JsonText => {
  if (typeof text === "string") return JsonText.unsafe(text)
  const sent = span === undefined ? "null" : line.toString("utf8", span.start, span.end)
  return JsonText.unsafe(sent === "null" ? "{}" : sent)
}

export const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** The error of a text that is none, at this place of the line. */
export const noObject = (...loc: ReadonlyArray<string>) =>
  new ValidationFailure({
    detail: [
      { type: "dict_type", loc: ["body", ...loc], msg: "Input should be the text of a valid dictionary", input: {} }
    ]
  })
