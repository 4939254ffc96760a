/**
 * The neutral provider names of the interface, with the vendors' names as aliases. Aliases are accepted in requests; only
 * the neutral names are stored and returned.
 */
const vendors = {
  provider1: ["openai"],
  provider2: ["anthropic"],
  provider3: ["gemini", "google"],
  service: ["tachograph"]
} as const

export const apis = [
  "provider1-chat-completions",
  "provider1-responses",
  "provider3-models",
  "provider3-interactions",
  "provider2-messages",
  "provider2-beta-messages",
  "aisdk"
] as const
export type Api = (typeof apis)[number]

export const sdkVersionFields = [
  "provider1_sdk_version",
  "provider2_sdk_version",
  "provider3_sdk_version",
  "service_sdk_version"
] as const
export type SdkVersionField = (typeof sdkVersionFields)[number]

const aliasesOf = <Name extends string>(names: ReadonlyArray<Name>): ReadonlyMap<string, Name> =>
  new Map(
    names.flatMap((name) =>
      Object.entries(vendors).flatMap(([neutral, own]) =>
        /[-_]/.test(name.charAt(neutral.length)) && name.startsWith(neutral)
          ? own.map((vendor) => [vendor + name.slice(neutral.length), name] as const)
          : []
      )
    )
  )

/** From a vendor's name of an API to the neutral one: `openai-responses` → `provider1-responses`. */
export const apiAliases = aliasesOf<Api>(apis)

/** From a vendor's name of a fingerprint field to the neutral one: `openai_sdk_version` → `provider1_sdk_version`. */
export const sdkVersionAliases = aliasesOf<SdkVersionField>(sdkVersionFields)
