import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import type { Request } from "express"

export const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  basePath: "/tachograph",
  authorize: ({ source }) => ((source as Request).user?.isAdmin ? { project: "default", scopes: ["admin"] } : null)
})

// Once, when the application starts: what it runs on.
const fingerprint_id = await tachograph.fingerprint({
  language: "typescript",
  language_version: process.versions.node,
  system: process.platform
})

interface About {
  readonly session: string
  readonly person?: string
}

/**
 * A `fetch` for OpenAI's SDK, which records what was sent and answered. Nobody waits for that; where it fails, it is logged
 * and the call goes on. An answer that is no JSON, as a stream is none, is not recorded.
 */
export const recording =
  (about: About): typeof fetch =>
  async (url, init) => {
    const occurred_at = new Date()
    const response = await fetch(url, init)
    const record = async (inputs: string, answer: Response) => {
      const output = await answer.text()
      await tachograph.record({
        ...about,
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
