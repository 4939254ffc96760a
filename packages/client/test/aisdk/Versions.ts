/** The two versions of the AI SDK that the telemetry records. */
import { createOpenAI } from "@ai-sdk/openai"
import * as ai from "ai"
import { createOpenAI as createOpenAI3 } from "ai-sdk-openai3"
import * as ai6 from "ai6"
import type { Recording } from "../Recording.ts"

/** Both versions have the same interface, as far as these tests use it. */
interface Version {
  readonly sdk: typeof ai
  readonly createOpenAI: typeof createOpenAI
  readonly telemetry: (recording: Recording) => object
}

export const versions: ReadonlyArray<readonly [string, Version]> = [
  ["7", { sdk: ai, createOpenAI, telemetry: ({ recorder }) => ({ telemetry: { integrations: [recorder.aiSdk] } }) }],
  [
    "6",
    {
      sdk: ai6 as unknown as typeof ai,
      createOpenAI: createOpenAI3 as unknown as typeof createOpenAI,
      telemetry: ({ recorder }) => ({ experimental_telemetry: { isEnabled: true, integrations: [recorder.aiSdk] } })
    }
  ]
]
