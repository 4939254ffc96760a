import type { Api } from "@tachograph/formats"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import * as ProxyPath from "./ProxyPath.ts"

/** OpenAI's threads have messages as well, which are no calls. */
const endpoints: ReadonlyArray<readonly [path: RegExp, api: Api]> = [
  [/\/chat\/completions$/, "provider1-chat-completions"],
  [/\/responses$/, "provider1-responses"],
  [/(?<!\/threads\/[^/]+)\/messages$/, "provider2-messages"],
  [/:(?:streamG|g)enerateContent$/, "provider3-models"],
  [/\/interactions$/, "provider3-interactions"]
]

/** The format of a call, by its path below the upstream. Undefined where it is no model call. */
export const recognise = (method: string, rest: string, headers: ForwardedHeaders.RawHeaders): Api | undefined => {
  if (method !== "POST") return undefined
  const path = ProxyPath.pathIn(rest)
  const api = endpoints.find(([pattern]) => pattern.test(path))?.[1]
  if (api !== "provider2-messages") return api
  const isBeta = /[?&]beta=true(?:&|$)/.test(rest) || ForwardedHeaders.valueOf(headers, "anthropic-beta") !== undefined
  return isBeta ? "provider2-beta-messages" : api
}
