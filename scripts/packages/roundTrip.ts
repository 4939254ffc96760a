/** Records an event and reads it back. */

const inputs = `{"model": "m", "messages":[ {"role":"user","content":"caf\\u00e9 caf\u00e9 \\/ \u{1f600}"} ], "temperature": 1.0, "seed":12345678901234567890}`
const output = `{"role": "assistant","content":[{"type":"text","text":"Hi!"}],\n "usage" : {"cost": 1e-7} }`

const fingerprint = JSON.stringify({
  language: "typescript",
  language_version: process.version,
  system: process.platform
})

const event = (fingerprintId: string) => `{
  "event_name": "llm", "fingerprint_id": "${fingerprintId}",
  "session": "s", "agent": "a", "agent_version": "v1", "person": "p",
  "properties": {"api": "anthropic-messages", "inputs": ${inputs}, "output": ${output}}
}`

/** Sends one request and returns the response. */
export type Send = (
  method: string,
  path: string,
  body?: string
) => Promise<{ readonly status: number; readonly text: string }>

/** Rejects if a response is not 200, or if the event read back differs by a byte from the one sent. */
export const roundTrip = async (send: Send): Promise<void> => {
  const call = async (method: string, path: string, body?: string) => {
    const { status, text } = await send(method, `/api/v1${path}`, body)
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`)
    return text
  }
  const { fingerprint_id } = JSON.parse(await call("PUT", "/fingerprints", fingerprint)) as { fingerprint_id: string }
  const { event_id } = JSON.parse(await call("POST", "/events", event(fingerprint_id))) as { event_id: string }
  const text = await call("GET", `/events/${event_id}`)
  for (const sent of [inputs, output]) {
    if (!text.includes(sent)) throw new Error(`Sent:\n${sent}\nReturned:\n${text}`)
  }
}
