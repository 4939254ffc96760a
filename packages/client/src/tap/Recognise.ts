import type { Api } from "@tachograph/formats"

const endpoints: ReadonlyArray<readonly [RegExp, Api]> = [
  [/\/chat\/completions$/, "provider1-chat-completions"],
  [/\/responses$/, "provider1-responses"],
  [/\/messages$/, "provider2-messages"],
  [/:(streamG|g)enerateContent$/, "provider3-models"],
  [/\/interactions$/, "provider3-interactions"]
]

/** The format of a call to this address, or undefined where it is no model call. */
export const recognise = ({ pathname, searchParams }: URL, headers: Headers): Api | undefined => {
  const api = endpoints.find(([pattern]) => pattern.test(pathname))?.[1]
  if (api !== "provider2-messages") return api
  // Newer SDKs say only in a header that a call is one of the beta.
  const isBeta = searchParams.get("beta") === "true" || headers.has("anthropic-beta")
  return isBeta ? "provider2-beta-messages" : api
}
