/** A conversation in the messages format: each call sends all that was said, as agents do. */
import type { Call, Json, Recording } from "./Recording.ts"

export const text = (text: string): Json => ({ type: "text", text })
export const thinking = (thinking: string): Json => ({ type: "thinking", thinking, signature: "EuYBCkQYAiJA" })
export const tool = (id: string, name: string, input: Json): Json => ({ type: "tool_use", id, name, input })
export const user = (text: string): Json => ({ role: "user", content: text })
export const results = (...results: ReadonlyArray<readonly [id: string, content: string]>): Json => ({
  role: "user",
  content: results.map(([id, content]) => ({ type: "tool_result", tool_use_id: id, content }))
})

/** What all calls of a conversation have in common. */
export type Fields = Pick<Call, "session" | "agent" | "version" | "person" | "fingerprint">

export interface Options {
  readonly model: string
  readonly system: string
  readonly tools?: ReadonlyArray<Json>
  readonly maxTokens?: number
}

/** About as many as a provider would count. */
const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 3.6)

export class Conversation {
  readonly #recording: Recording
  readonly #fields: Fields
  readonly #options: Options
  #at: number
  #history: Array<Json> = []
  /** The messages that the provider has in its cache. */
  #cached = 0

  constructor(recording: Recording, fields: Fields, start: Date, options: Options) {
    this.#recording = recording
    this.#fields = fields
    this.#at = start.getTime()
    this.#options = options
  }

  /** Time passes. Where it is longer than the provider's cache lives, nothing comes from it. */
  wait(seconds: number): this {
    this.#at += seconds * 1000
    if (seconds >= 300) this.#cached = 0
    return this
  }

  /** The history is replaced, as agents do where it becomes too long for the model. */
  compact(...messages: ReadonlyArray<Json>): this {
    this.#history = [...messages, ...this.#history.slice(-2)]
    this.#cached = 0
    return this
  }

  call(durationMs: number, messages: ReadonlyArray<Json>, content: ReadonlyArray<Json>): this {
    this.#history.push(...messages)
    const calls = content.some(({ type }) => type === "tool_use")
    this.#record(durationMs, {
      id: `msg_01${this.#at.toString(36)}`,
      type: "message",
      role: "assistant",
      model: this.#options.model,
      content,
      stop_reason: calls ? "tool_use" : "end_turn",
      usage: this.#usage(content)
    })
    this.#cached = this.#history.length
    this.#history.push({ role: "assistant", content })
    return this
  }

  fail(durationMs: number, type: string, message: string): this {
    this.#record(durationMs, { type: "error", error: { type, message } })
    return this
  }

  #usage(content: ReadonlyArray<Json>): Json {
    const { system, tools = [] } = this.#options
    const before = tokensOf(this.#history.slice(0, this.#cached)) + tokensOf(system) + tokensOf(tools)
    const fresh = tokensOf(this.#history.slice(this.#cached))
    const cached = this.#cached > 0
    return {
      input_tokens: cached ? 4 : before + fresh,
      cache_read_input_tokens: cached ? before : 0,
      cache_creation_input_tokens: cached ? fresh : 0,
      output_tokens: tokensOf(content)
    }
  }

  #record(durationMs: number, output: Json): void {
    const { maxTokens = 4096, model, system, tools } = this.#options
    this.#recording.add({
      ...this.#fields,
      api: "provider2-messages",
      at: new Date(this.#at),
      durationMs,
      inputs: {
        model,
        max_tokens: maxTokens,
        system,
        ...(tools === undefined ? {} : { tools }),
        messages: [...this.#history]
      },
      output
    })
    this.#at += durationMs + 4_000
  }
}
