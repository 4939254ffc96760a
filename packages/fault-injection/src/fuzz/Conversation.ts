/** A random conversation of an agent: it goes on, is edited, compacted, repeated, and begins again. */
import type { Random } from "../harness/Random.ts"
import * as RandomJson from "./RandomJson.ts"

export interface Call {
  /** Texts of JSON objects. */
  readonly inputs: string
  readonly output: string
}

/** Characters of messages above which a conversation is compacted or begins again. */
const limits = [4 * 1024, 16 * 1024, 48 * 1024, 128 * 1024]

const names = ["messages", "messages", "messages", "input", "contents", "history"]

/** Messages of other conversations, which agents copy. */
export class Pool {
  readonly #messages: Array<string> = []

  add(message: string, random: Random): void {
    if (this.#messages.length < 200) this.#messages.push(message)
    else this.#messages[random(0, this.#messages.length - 1)] = message
  }

  take(random: Random): string | undefined {
    return this.#messages.length === 0 ? undefined : this.#messages[random(0, this.#messages.length - 1)]!
  }
}

export class Conversation {
  readonly #random: Random
  readonly #pool: Pool
  #messages: Array<string> = []
  #settings: Array<readonly [string, string]> = []
  #last: Call | undefined
  readonly #name: string
  readonly #limit: number

  constructor(random: Random, pool: Pool) {
    this.#random = random
    this.#pool = pool
    this.#limit = limits[random(0, limits.length - 1)]!
    this.#name = names[random(0, names.length - 1)]!
    this.#changeSettings()
  }

  next(): Call {
    const random = this.#random
    if (this.#last !== undefined && random(1, 100) <= 5) return this.#last
    this.#change(random(1, 100))
    const output = this.#output()
    this.#last = { inputs: this.#inputs(), output }
    return this.#last
  }

  #message(role: string): string {
    const random = this.#random
    const copied = random(1, 100) <= 6 ? this.#pool.take(random) : undefined
    if (copied !== undefined) return copied
    const message = RandomJson.object(random, [
      ["role", `"${role}"`],
      ["content", this.#content()]
    ])
    if (random(1, 100) <= 10) this.#pool.add(message, random)
    return message
  }

  #content(): string {
    const random = this.#random
    switch (random(0, 7)) {
      case 0:
      case 1:
      case 2:
        return RandomJson.string(random)
      case 3:
        return RandomJson.value(random)
      default:
        return RandomJson.array(
          random,
          Array.from({ length: random(1, 3) }, () => this.#block())
        )
    }
  }

  #block(): string {
    const random = this.#random
    const text = RandomJson.string(random)
    switch (random(0, 3)) {
      case 0:
        return RandomJson.object(random, [
          ["type", '"tool_use"'],
          ["id", RandomJson.string(random, 12)],
          ["input", RandomJson.value(random)]
        ])
      case 1:
        return RandomJson.object(random, [
          ["type", '"tool_result"'],
          ["tool_use_id", RandomJson.string(random, 12)],
          ["content", text]
        ])
      default:
        return RandomJson.object(random, [
          ["type", '"text"'],
          ["text", text]
        ])
    }
  }

  #changeSettings(): void {
    const random = this.#random
    this.#settings = [["model", '"m"']]
    if (random(0, 2) > 0) this.#settings.push(["system", RandomJson.string(random)])
    if (random(0, 2) === 0) {
      const tools = Array.from({ length: random(1, 4) }, () =>
        RandomJson.object(random, [
          ["name", '"t"'],
          ["description", RandomJson.string(random)]
        ])
      )
      this.#settings.push(["tools", RandomJson.array(random, tools)])
    }
    if (random(0, 9) === 0) this.#settings.push(["extra", RandomJson.value(random)])
  }

  /** What happens before the next call. */
  #change(kind: number): void {
    const random = this.#random
    const messages = this.#messages
    const at = messages.length === 0 ? 0 : random(0, messages.length - 1)
    const bytes = messages.reduce((sum, { length }) => sum + length, 0)
    if (bytes > this.#limit || kind <= 3) {
      if (random(0, 1) === 0) this.#messages = []
      // A summary takes the place of what came first.
      else this.#messages.splice(0, Math.max(at, messages.length >> 1), this.#message("user"))
    } else if (kind <= 8) messages.splice(at, 1, this.#message("user"))
    else if (kind <= 11) messages.splice(at, 1)
    else if (kind <= 14) messages.splice(at, 0, this.#message("system"))
    else if (kind <= 18) messages.splice(-random(1, 5))
    else if (kind <= 20) messages.reverse()
    else if (kind <= 22 && messages.length > 0) messages.push(messages[at]!)
    else if (kind <= 25 && messages.length > 0) messages[at] = this.#edited(messages[at]!)
    else if (kind <= 28) this.#changeSettings()
    for (let n = random(1, 10) === 1 ? random(0, 6) : 1; n > 0; n--) messages.push(this.#message("user"))
  }

  /** With another member at its beginning or its end, as cache control marks are. */
  #edited(message: string): string {
    return this.#random(0, 1) === 0 ? `{"edited":1,${message.slice(1)}` : `${message.slice(0, -1)},"edited":1}`
  }

  #inputs(): string {
    const random = this.#random
    const messages = RandomJson.array(random, this.#messages)
    const members = [...this.#settings, [this.#name, messages] as const]
    // A second conversation, which begins like the first one.
    if (random(1, 100) <= 3) members.push(["other", RandomJson.array(random, this.#messages.slice(0, -1))])
    if (random(1, 100) <= 3) return RandomJson.object(random, [["nested", RandomJson.object(random, members)]])
    return RandomJson.object(random, members)
  }

  /** The answer, which is mostly the next message. */
  #output(): string {
    const random = this.#random
    const answer = this.#message("assistant")
    const kind = random(1, 100)
    if (kind <= 80) this.#messages.push(answer)
    if (kind <= 70) return answer.startsWith("{") ? answer : `{"message":${answer}}`
    if (kind <= 90)
      return RandomJson.object(random, [
        ["choices", `[{"message":${answer}}]`],
        ["usage", '{"input_tokens":1}']
      ])
    return RandomJson.object(random, [["any", RandomJson.value(random)]])
  }
}
