/** A step of a stream under construction: its content, in pieces and whole, and what it says of itself. */
import type { Json, JsonObject } from "../Format.ts"
import { says, text } from "../json/Read.ts"
import { laterOf } from "../stream/Usage.ts"

/** An object under construction. */
export type Fields = Map<string, Json>

const fieldsOf = (value: JsonObject): Fields => new Map(Object.entries(value))

/** The text of a delta: `delta` from models, `text` from calls, and `textDelta` up to version 4. */
const deltaOf = (part: JsonObject): string => text(part["delta"]) ?? text(part["text"]) ?? text(part["textDelta"]) ?? ""

const append = (block: Fields, key: string, more: string) => block.set(key, `${text(block.get(key)) ?? ""}${more}`)

const usages: ReadonlySet<string> = new Set(["usage", "totalUsage"])

/** Copies the named fields that a part has. */
export const copy = (into: Fields, part: JsonObject, ...keys: ReadonlyArray<string>) => {
  for (const key of keys) {
    const value = part[key]
    if (value !== undefined) into.set(key, usages.has(key) ? laterOf(into.get(key), value) : value)
  }
}

export class StreamStep {
  /** In order. Texts that are being written are at their place from their start on. */
  readonly #content: Array<Fields> = []
  /** Texts and inputs that are being written, and calls, by kind and id. */
  readonly #open = new Map<string, Fields>()
  /** What the step says of itself, such as `usage`. */
  readonly fields: Fields = new Map()

  get isEmpty(): boolean {
    return this.#content.length === 0
  }

  get blocks(): ReadonlyArray<JsonObject> {
    return this.#content.map((block) => Object.fromEntries(block))
  }

  #add(block: Fields, key?: string): Fields {
    this.#content.push(block)
    if (key !== undefined) this.#open.set(key, block)
    return block
  }

  /** Adds a part that is whole. */
  add(part: JsonObject): void {
    this.#add(fieldsOf(part))
  }

  /** Adds to a text. */
  write(kind: string, part: JsonObject, more = deltaOf(part)): void {
    const key = `${kind}:${part["id"] ?? ""}`
    const before = this.#open.get(key)
    // Without ids, which version 4 has not, only a text that nothing followed goes on.
    const isOpen = before !== undefined && (says(part, "id") || before === this.#content.at(-1))
    const begun: ReadonlyArray<readonly [string, Json]> = [
      ["type", kind],
      ["text", ""]
    ]
    const block = isOpen ? before : this.#add(new Map(begun), key)
    if (more !== "") append(block, "text", more)
    copy(block, part, "providerMetadata")
  }

  /** Some providers give one id to all texts, and end none. */
  start(kind: string, part: JsonObject): void {
    const key = `${kind}:${part["id"] ?? ""}`
    if (text(this.#open.get(key)?.get("text")) !== null) this.#open.delete(key)
    this.write(kind, part)
  }

  end(kind: string, part: JsonObject): void {
    this.write(kind, part, "")
    this.#open.delete(`${kind}:${part["id"] ?? ""}`)
  }

  /** Adds to the input of a call. */
  writeInput(part: JsonObject, id: Json | undefined, more = deltaOf(part)): void {
    const key = `call:${id ?? ""}`
    const call = new Map<string, Json>([
      ["type", "tool-call"],
      ["toolCallId", id ?? ""]
    ])
    const block = this.#open.get(key) ?? this.#add(call, key)
    copy(block, part, "toolName", "providerExecuted", "dynamic")
    append(block, "input", more)
  }

  /** Puts a whole call or result into the place of one that was being written, or was preliminary. */
  put(kind: "call" | "result", part: JsonObject): void {
    const key = `${kind}:${part["toolCallId"] ?? ""}`
    const before = this.#open.get(key)
    if (before === undefined) return void this.#add(fieldsOf(part), key)
    before.clear()
    for (const [name, value] of Object.entries(part)) before.set(name, value)
  }

  /** Takes what is new: kinds of content, of which some come in pieces. */
  takeOther(part: JsonObject, type: string): void {
    const [, kind, phase] = /^(.+)-(start|delta|end)$/.exec(type) ?? []
    if (kind === undefined || text(part["id"]) === null) return this.add(part)
    if (phase === "start") return this.start(kind, part)
    return phase === "end" ? this.end(kind, part) : this.write(kind, part)
  }
}
