/** What goes over the wire in another shape than that of its format: frames of AWS, and Converse. */
import * as Converse from "@tachograph/formats/bedrock/Converse"
import { isFramed, overFrames } from "@tachograph/formats/bedrock/Frames"
import type { Accumulator, Api, WireApi } from "@tachograph/formats/Format"
import { wireFormats } from "@tachograph/formats/WireFormats"
import { isConverse, modelInUrl } from "./Recognise.ts"

export { isFramed }

/** What accumulates the stream that answers a call. */
export const accumulatorOf = (api: WireApi, url: string | URL, contentType: string): Accumulator => {
  const accumulator = isConverse(url)
    ? Converse.accumulator({ api, model: modelInUrl(url) })
    : wireFormats[api].accumulator()
  return isFramed(contentType) ? overFrames(accumulator) : accumulator
}

export interface Rebuilt {
  /** The JSON text of an object in the format. */
  readonly inputs: (json: string) => string
  readonly output: (json: string) => string
}

/** What makes texts of a format of those that were sent; undefined where they are what they were. */
export const rebuiltOf = (api: Api, url: string | URL): Rebuilt | undefined => {
  if (!isConverse(url)) return undefined
  const rebuild = { api, model: modelInUrl(url) }
  return { inputs: (json) => Converse.inputsOf(rebuild, json), output: (json) => Converse.outputOf(rebuild, json) }
}
