/** Invented calls of some weeks, as the lines that an import takes: so each has a time of its own. */
import { Bucket } from "@tachograph/core"
import { randomBytes } from "node:crypto"

export type Json = Readonly<Record<string, unknown>>

export interface Call {
  readonly session: string
  readonly agent: string
  readonly version: string
  readonly person?: string
  readonly fingerprint: string
  readonly api: "provider1-chat-completions" | "provider2-messages"
  readonly at: Date
  readonly durationMs: number
  readonly inputs: Json
  readonly output: Json
}

/** A UUIDv7 of this time, as the recorder gives them to the calls of a session. */
const idOf = (at: Date, session: string): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(at.getTime(), 0, 6)
  bytes[6] = 0x70 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  bytes[15] = Bucket.ofSession(session)
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

export class Recording {
  readonly #calls: Array<{ readonly at: Date; readonly line: Json }> = []

  add(call: Call): void {
    const end = new Date(call.at.getTime() + call.durationMs)
    const line = {
      type: "event",
      event_id: idOf(end, call.session),
      received_at: end.toISOString(),
      event_name: "llm",
      fingerprint_id: call.fingerprint,
      agent: call.agent,
      agent_version: call.version,
      session: call.session,
      ...(call.person === undefined ? {} : { person: call.person }),
      occurred_at: call.at.toISOString(),
      duration_ms: call.durationMs,
      first_token_ms: Math.round(call.durationMs / 5),
      properties: { api: call.api, inputs: call.inputs, output: call.output }
    }
    this.#calls.push({ at: end, line })
  }

  /** Oldest first, as an import wants them. */
  lines(): string {
    const sorted = this.#calls.toSorted((one, other) => one.at.getTime() - other.at.getTime())
    return sorted.map(({ line }) => `${JSON.stringify(line)}\n`).join("")
  }
}
