/** What the benchmark of the viewer looks at. */
import * as Recording from "../harness/Recording.ts"
import { type Client, sendAll } from "../harness/Servers.ts"
import type { Workload } from "../harness/Workload.ts"

const call = async (session: string, messages: ReadonlyArray<object>): Promise<Buffer> =>
  Buffer.from(
    JSON.stringify({
      event_name: "llm",
      fingerprint_id: await Recording.fingerprintId(),
      session,
      properties: {
        api: "provider2-messages",
        inputs: { model: "claude-sonnet-4-5", max_tokens: 64, messages },
        output: {
          role: "assistant",
          content: [{ type: "text", text: "Yes." }],
          model: "claude-sonnet-4-5",
          stop_reason: "end_turn"
        }
      }
    })
  )

export const longSession = "10,000 messages"

const words = "The harbour master reads the log, compares it with the tides and writes down what differs."

/** Records a session of 10,000 messages in five calls, some of them long. */
const recordLongSession = async (client: Client): Promise<void> => {
  const messages = Array.from({ length: 9_999 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `**${index + 1}.** ${words.repeat(1 + ((index * 7) % 11))}`
  }))
  for (const count of [1_999, 3_999, 5_999, 7_999, 9_999]) {
    await client.post("/api/v1/events", await call(longSession, messages.slice(0, count)))
  }
}

/** Records an event of 30 MB of text in lines. Returns its id. */
const recordLargeEvent = async (client: Client): Promise<string> => {
  let line = 0
  const lines = Array.from(
    { length: 30_000_000 / 60 },
    () => `${String(line++).padStart(9, "0")} ${words.slice(0, 48)}`
  )
  const content = `${lines.join("\n")}\nThe needle is here.`
  const answer = await client.post("/api/v1/events", await call("30 MB", [{ role: "user", content }]))
  return (JSON.parse(answer.toString()) as { readonly event_id: string }).event_id
}

export interface Stored {
  /** The session of the workload's first call. */
  readonly session: string
  readonly calls: number
  readonly largeEventId: string
}

export const record = async (client: Client, workload: Workload): Promise<Stored> => {
  await client.put("/api/v1/fingerprints", Recording.fingerprint)
  await sendAll(client, workload.bodies, 1)
  const { session } = JSON.parse(workload.bodies[0]!.toString()) as { readonly session: string }
  await recordLongSession(client)
  return { session, calls: workload.bodies.length, largeEventId: await recordLargeEvent(client) }
}
