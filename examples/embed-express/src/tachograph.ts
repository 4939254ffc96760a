import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import type { Request } from "express"

export const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  basePath: "/tachograph",
  authorize: ({ source }) => ((source as Request).user?.isAdmin ? { project: "default", scopes: ["admin"] } : null)
})

// Once per application start: register the runtime (language and system).
const fingerprint_id = await tachograph.fingerprint({
  language: "typescript",
  language_version: process.versions.node,
  system: process.platform
})

interface CallContext {
  readonly session: string
  readonly person?: string
}

/**
 * A `fetch` for OpenAI's SDK that records each request and its response. It does not wait for the recording; if that fails,
 * the error is logged and the call succeeds. A response that is not JSON, such as a stream, is not recorded.
 */
export const recording =
  (context: CallContext): typeof fetch =>
  async (url, init) => {
    const occurred_at = new Date()
    const response = await fetch(url, init)
    const record = async (inputs: string, copy: Response) => {
      const output = await copy.text()
      await tachograph.record({
        ...context,
        event_name: "llm",
        fingerprint_id,
        occurred_at,
        duration_ms: Date.now() - occurred_at.getTime(),
        properties: { api: "openai-responses", inputs, output }
      })
    }
    if (typeof init?.body === "string" && response.headers.get("content-type")?.includes("json")) {
      record(init.body, response.clone()).catch((error) => console.error("A call was not recorded:", error))
    }
    return response
  }
