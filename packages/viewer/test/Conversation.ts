/** Calls of an agent, as its client would send them: each with its whole history. */
import type { HttpClient } from "@tachograph/testkit"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"

export type Sent = Readonly<Record<string, unknown>>

export interface Fields {
  readonly agent?: string
  readonly agent_version?: string
  readonly person?: string
  readonly duration_ms?: number
}

/** A conversation in the messages format, to which calls are added. */
export class Conversation {
  readonly #client: HttpClient.Client
  readonly #fingerprintId: string
  readonly session: string
  readonly #fields: Fields
  /** What the next call sends. */
  history: Array<Sent> = []
  system: string | undefined = "You are a careful agent."
  model = "claude-sonnet-4-5"
  tools: ReadonlyArray<Sent> = []
  /** Tokens of the next calls, where they are not 100 for each message. */
  usage: Sent | undefined

  constructor(client: HttpClient.Client, fingerprintId: string, session: string, fields: Fields = {}) {
    this.#client = client
    this.#fingerprintId = fingerprintId
    this.session = session
    this.#fields = fields
  }

  /** Records a call of `history` and these messages, whose answer is `content`. Returns the event's id. */
  async call(messages: ReadonlyArray<Sent>, content: ReadonlyArray<Sent>): Promise<string> {
    this.history = [...this.history, ...messages]
    const usage = this.usage ?? {
      input_tokens: 100 * this.history.length,
      output_tokens: 20,
      cache_read_input_tokens: 50
    }
    const output = { type: "message", role: "assistant", model: this.model, content, stop_reason: "end_turn", usage }
    const id = await this.#record(output)
    this.history = [...this.history, { role: "assistant", content }]
    return id
  }

  /** Records a call that fails with this error. */
  fail(message: Sent, type: string): Promise<string> {
    this.history = [...this.history, message]
    return this.#record({ type: "error", error: { type, message: "It did not work" } })
  }

  async #record(output: Sent): Promise<string> {
    const inputs = {
      model: this.model,
      max_tokens: 100,
      ...(this.system === undefined ? {} : { system: this.system }),
      ...(this.tools.length === 0 ? {} : { tools: this.tools }),
      messages: this.history
    }
    const fields = {
      fingerprint_id: this.#fingerprintId,
      session: this.session,
      duration_ms: 1_234,
      ...this.#fields
    }
    return recorded(this.#client, fields, { api: "provider2-messages", inputs, output })
  }
}

/** Records an event with these fields and properties. Returns its id. */
export const recorded = async (client: HttpClient.Client, fields: Sent, properties: Sent): Promise<string> => {
  const event = { event_name: "llm", ...fields, properties }
  let answer = await client.post("/api/v1/events", event)
  // A machine that runs several tests may be busy: then a client sends the event again.
  for (let attempt = 1; answer.status === 503 && attempt < 10; attempt++) {
    await sleep(500)
    answer = await client.post("/api/v1/events", event)
  }
  expect([answer.status, answer.body.type]).toEqual([200, undefined])
  return answer.body.event_id as string
}

export const user = (text: string): Sent => ({ role: "user", content: text })
export const text = (text: string): Sent => ({ type: "text", text })
export const thinking = (thinking: string): Sent => ({ type: "thinking", thinking, signature: "s" })
export const tool = (id: string, name: string, input: unknown): Sent => ({ type: "tool_use", id, name, input })
export const result = (id: string, content: string): Sent => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }]
})

export const registered = async (
  client: HttpClient.Client,
  packages: Readonly<Record<string, string>> = {}
): Promise<string> => {
  const { body } = await client.put("/api/v1/fingerprints", {
    language: "typescript",
    language_version: "7",
    system: "linux",
    all_packages: packages
  })
  return body.fingerprint_id as string
}

/** Four calls: a tool, thinking, an error, and a history that was rewritten. Returns their ids. */
export const recordRun = async (conversation: Conversation): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  ids.push(
    await conversation.call(
      [user("Read the notes of **June**, please")],
      [text("I look."), tool("t1", "read_file", { path: "notes/june.md" })]
    )
  )
  ids.push(
    await conversation.call(
      [result("t1", "# June\n\nThe lighthouse was painted white.")],
      [thinking("The notes are short."), text("The lighthouse was painted **white**.")]
    )
  )
  ids.push(await conversation.fail(user("And in July?"), "overloaded_error"))
  conversation.history = [user("Summary: the lighthouse was painted white."), ...conversation.history.slice(-1)]
  ids.push(await conversation.call([user("Go on")], [text("July was quiet.")]))
  return ids
}
