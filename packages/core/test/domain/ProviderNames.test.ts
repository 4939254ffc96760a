import { describe, expect, it } from "vitest"
import * as ProviderNames from "../../src/domain/ProviderNames.ts"

describe("ProviderNames", () => {
  it("has the vendors' names of the APIs as aliases", () => {
    expect(Object.fromEntries(ProviderNames.apiAliases)).toEqual({
      "openai-chat-completions": "provider1-chat-completions",
      "openai-responses": "provider1-responses",
      "gemini-models": "provider3-models",
      "google-models": "provider3-models",
      "gemini-interactions": "provider3-interactions",
      "google-interactions": "provider3-interactions",
      "anthropic-messages": "provider2-messages",
      "anthropic-beta-messages": "provider2-beta-messages"
    })
  })

  it("has the vendors' names of the SDK versions as aliases", () => {
    expect(Object.fromEntries(ProviderNames.sdkVersionAliases)).toEqual({
      openai_sdk_version: "provider1_sdk_version",
      anthropic_sdk_version: "provider2_sdk_version",
      gemini_sdk_version: "provider3_sdk_version",
      google_sdk_version: "provider3_sdk_version",
      tachograph_sdk_version: "service_sdk_version"
    })
  })
})
