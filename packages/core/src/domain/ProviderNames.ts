/**
 * The neutral provider names of the interface, with the vendors' names as aliases. Aliases are accepted in requests; only
 * the neutral names are stored and returned.
 */
import * as Codes from "./Codes.ts"

const vendors = {
  provider1: ["openai"],
  provider2: ["anthropic"],
  provider3: ["gemini", "google"],
  service: ["tachograph"]
} as const

export const apiCodes = {
  "provider1-chat-completions": 0,
  "provider1-responses": 1,
  "provider3-models": 2,
  "provider3-interactions": 3,
  "provider2-messages": 4,
  "provider2-beta-messages": 5,
  aisdk: 6
} as const satisfies Codes.Codes<string>
export type Api = keyof typeof apiCodes

export const apis: ReadonlyArray<Api> = Codes.wordsOf(apiCodes)

/** The API of a number. */
export const apiOf = Codes.reader<Api>(apiCodes)

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
