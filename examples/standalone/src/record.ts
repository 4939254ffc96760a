/**
 * Records one model call with `fetch` alone and reads it back.
 *
 *   TACHOGRAPH_URL=http://127.0.0.1:4400 TACHOGRAPH_API_KEY=tg_… node src/record.ts
 */
const url = process.env["TACHOGRAPH_URL"] ?? "http://127.0.0.1:4400"
const headers = {
  authorization: `Bearer ${process.env["TACHOGRAPH_API_KEY"]}`,
  "content-type": "application/json"
}

const call = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text
}

// Once per application start: register the runtime (language and system).
const { fingerprint_id } = JSON.parse(
  await call("PUT", "/fingerprints", {
    language: "typescript",
    language_version: process.version,
    system: process.platform
  })
)

// After every model call: the request and the response, in the provider's own format.
const { event_id } = JSON.parse(
  await call("POST", "/events", {
    event_name: "llm",
    fingerprint_id,
    session: "session-1",
    agent: "support-agent",
    agent_version: "2026-01",
    person: "customer-42",
    properties: {
      api: "openai-chat-completions",
      inputs: { model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] },
      output: { model: "gpt-4o", choices: [{ message: { role: "assistant", content: "Hi!" }, finish_reason: "stop" }] }
    }
  })
)

console.log(await call("GET", `/events/${event_id}`))
