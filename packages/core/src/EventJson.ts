/** Cuts the payload out of the JSON text of an event: the texts of `properties.inputs` and `properties.output`. */
import type { Payload } from "./domain/Event.ts"
import * as JsonText from "./domain/JsonText.ts"
import * as Scan from "./payload/Scan.ts"

/**
 * One pass over a text that is known to be a valid event. Of duplicate keys the last counts, at both levels, as it does
 * for `JSON.parse`, which has decided what the event says.
 */
export const payloadOf = (text: string): Payload => {
  let inputs = ""
  let output = ""
  Scan.scanMembers(text, Scan.skipSpace(text, 0), (key, at) => {
    if (key !== "properties" || !Scan.isObjectAt(text, at)) return Scan.skipValue(text, at)
    return Scan.scanMembers(text, at, (name, start) => {
      const end = Scan.skipValue(text, start)
      if (name === "inputs") inputs = text.slice(start, end)
      else if (name === "output") output = text.slice(start, end)
      return end
    })
  })
  return { inputs: JsonText.unsafe(inputs), output: JsonText.unsafe(output) }
}
