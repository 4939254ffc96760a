/** Records an event and reads it back, over whatever sends requests. */

const inputs = `{"model": "m", "messages":[ {"role":"user","content":"caf\\u00e9 caf\u00e9 \\/ \u{1f600}"} ], "temperature": 1.0, "seed":12345678901234567890}`
const output = `{"role": "assistant","content":[{"type":"text","text":"Hi!"}],\n "usage" : {"cost": 1e-7} }`

const fingerprint = JSON.stringify({
  language: "typescript",
  language_version: process.version,
  system: process.platform
})

const event = (fingerprintId) => `{
  "event_name": "llm", "fingerprint_id": "${fingerprintId}",
  "session": "s", "agent": "a", "agent_version": "v1", "person": "p",
  "properties": {"api": "anthropic-messages", "inputs": ${inputs}, "output": ${output}}
}`

/**
 * `send(method, path, body)` answers a status and a body as text. Fails where an answer is not 200, or where what comes back
 * is not what was sent, to the byte.
 */
export const roundTrip = async (send) => {
  const call = async (method, path, body) => {
    const { status, text } = await send(method, `/api/v1${path}`, body)
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`)
    return text
  }
  const { fingerprint_id } = JSON.parse(await call("PUT", "/fingerprints", fingerprint))
  const { event_id } = JSON.parse(await call("POST", "/events", event(fingerprint_id)))
  const text = await call("GET", `/events/${event_id}`)
  for (const sent of [inputs, output]) {
    if (!text.includes(sent)) throw new Error(`Sent:\n${sent}\nCame back:\n${text}`)
  }
}
