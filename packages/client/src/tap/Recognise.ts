import type { Api } from "@tachograph/formats"

const endpoints: ReadonlyArray<readonly [RegExp, Api]> = [
  [/\/chat\/completions$/, "provider1-chat-completions"],
  [/\/responses$/, "provider1-responses"],
  [/\/messages$/, "provider2-messages"],
  [/:(streamG|g)enerateContent$/, "provider3-models"],
  [/\/interactions$/, "provider3-interactions"]
]

/** The format that a path stands for. */
export const recogniseUrl = ({ pathname }: URL): Api | undefined =>
  endpoints.find(([pattern]) => pattern.test(pathname))?.[1]
