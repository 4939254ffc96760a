/** What tests of the router send. */
import { MemoryStorage } from "@tachograph/core"
import { onTestFinished } from "vitest"
import { createTachograph, type Tachograph, type TachographOptions } from "../src/index.ts"

export const apiKey = "a key for tachograph itself"

export const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

export const event = (fingerprint_id: string, fields: object = {}) => ({
  event_name: "llm",
  properties: { api: "openai-responses", inputs: { n: 1 }, output: {} },
  fingerprint_id,
  session: "in process",
  ...fields
})

type Options = Partial<Pick<TachographOptions<never>, "authorize" | "basePath" | "maxBody">>

/** One in memory, closed when the test ends. By `apiKey`, unless there is a rule. */
export const opened = async ({ authorize, ...options }: Options = {}): Promise<Tachograph> => {
  const storage = MemoryStorage.layer
  const tachograph = await createTachograph(
    authorize === undefined ? { storage, apiKeys: [apiKey], ...options } : { storage, authorize, ...options }
  )
  onTestFinished(() => tachograph.close())
  return tachograph
}
