import * as Formats from "@tachograph/formats"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"

/** The format of a call, by its path below the upstream. Undefined where it is no model call. */
export const recognise = (
  method: string,
  rest: string,
  headers: ForwardedHeaders.RawHeaders
): Formats.Api | undefined => {
  if (method !== "POST") return undefined
  return Formats.recognise(rest, undefined, ForwardedHeaders.valueOf(headers, "anthropic-beta")) ?? undefined
}
