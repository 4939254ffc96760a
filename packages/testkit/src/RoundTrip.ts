/** Sends runs of events, reads each event back and compares the bytes. For suites, and to check a deployment. */
import type { Client } from "./HttpClient.ts"

/**
 * The run of an invented agent: one event per model call, each with the whole history so far. Yields the texts of the
 * request bodies.
 */
export const sampleRun = function* (fingerprintId: string, calls = 12): Generator<string> {
  const system = "You answer questions about lorries. Say what you know, and say when you do not. ".repeat(40)
  const messages: Array<object> = []
  for (let call = 1; call <= calls; call++) {
    messages.push({ role: "user", content: `Question ${call}: how far is it from A to B, in km? \u00e9 \ud83d\ude9a` })
    const answer = {
      role: "assistant",
      content: [{ type: "text", text: `Answer ${call}: ${call * 1.5} km \u0000 "so" \\ / ` }]
    }
    yield JSON.stringify({
      event_name: "llm",
      fingerprint_id: fingerprintId,
      session: "sample-run",
      agent: "lorry-agent",
      agent_version: "v1",
      person: "driver-1",
      properties: {
        api: "provider2-messages",
        inputs: { model: "m-1", max_tokens: 1024, system, messages },
        output: {
          ...answer,
          model: "m-1",
          stop_reason: "end_turn",
          usage: { input_tokens: 100 * call, output_tokens: 20 }
        }
      }
    })
    messages.push(answer)
  }
}

export interface Sent {
  readonly eventId: string
  /** `inputs` and `output` as sent, and the brace after them, which the bytes of the event must contain. */
  readonly payload: Buffer
}

/** The end of a body, from `inputs` to the brace that ends `properties`. */
const payloadOf = (body: Buffer) => {
  const start = body.indexOf(`"inputs":`)
  if (start < 0 || !body.subarray(-2).equals(Buffer.from("}}")))
    throw new Error("A body to replay must end with properties, and these with inputs and output")
  return body.subarray(start, -1)
}

/** Sends bodies one at a time, in order. Throws unless each ends with `properties`, and these with `inputs` and `output`. */
export const send = async (
  client: Client,
  bodies: Iterable<string | Buffer> | AsyncIterable<string | Buffer>
): Promise<Array<Sent>> => {
  const sent: Array<Sent> = []
  for await (const text of bodies) {
    const body = typeof text === "string" ? Buffer.from(text) : text
    const answer = await client.post("/api/v1/events", body)
    if (answer.status !== 200)
      throw new Error(`Event ${sent.length + 1}: ${answer.status} ${answer.text.slice(0, 500)}`)
    sent.push({ eventId: answer.body.event_id, payload: payloadOf(body) })
  }
  return sent
}

/** Returns the ids of the events whose payload is not returned byte for byte. */
export const differences = async (client: Client, sent: ReadonlyArray<Sent>): Promise<ReadonlyArray<string>> => {
  const different: Array<string> = []
  for (const { eventId, payload } of sent) {
    const { bytes } = await client.get(`/api/v1/events/${eventId}`)
    const start = bytes.indexOf(`"inputs":`)
    if (start < 0 || !bytes.subarray(start, start + payload.length).equals(payload)) different.push(eventId)
  }
  return different
}
