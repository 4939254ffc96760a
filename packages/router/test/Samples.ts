/** Valid requests, and a router that is closed when the test ends. */
import { MemoryStorage } from "@tachograph/core"
import { expect, onTestFinished, vi } from "vitest"
import { createTachograph, type InProcess, type Tachograph, type TachographOptions } from "../src/index.ts"

export const apiKey = "an API key for tests"

export const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

export const event = (fingerprint_id: string, fields: object = {}): InProcess.NewEvent => ({
  event_name: "llm",
  properties: { api: "openai-responses", inputs: { n: 1 }, output: {} },
  fingerprint_id,
  session: "in process",
  ...fields
})

type Options = Partial<
  Pick<TachographOptions<never>, "authorize" | "basePath" | "maxBody" | "maxOtherBody" | "proxy" | "viewer">
>

/** Whatever the test did: when every connection is closed, the proxy soon holds nothing for the recorder. */
const expectNothingHeld = ({ fetch }: Tachograph, path: string) =>
  vi.waitFor(
    async () => {
      const metrics = await fetch(new Request(`http://host${path}`))
      // The test may have closed it.
      if (metrics.status === 503) return
      expect(/^tachograph_proxy_held_bytes (\d+)$/m.exec(await metrics.text())?.[1] ?? "0").toBe("0")
    },
    { timeout: 60_000, interval: 5 }
  )

/** Over a memory storage, opened by `apiKey` unless there is a rule. Closed when the test ends. */
export const opened = async ({ authorize, ...options }: Options = {}): Promise<Tachograph> => {
  const storage = MemoryStorage.layer
  const tachograph = await createTachograph(
    authorize === undefined ? { storage, apiKeys: [apiKey], ...options } : { storage, authorize, ...options }
  )
  onTestFinished(() => tachograph.close())
  if (options.proxy !== undefined) {
    const path = `${options.basePath ?? ""}/metrics`
    onTestFinished(() => expectNothingHeld(tachograph, path))
  }
  return tachograph
}
