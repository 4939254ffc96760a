/** Events: what is sent, as a value for `redact` and as the text that keeps the payload byte for byte. */
import type { Recorded } from "@tachograph/capture/Grouping"
import type { Api } from "@tachograph/formats"
import { parsed } from "@tachograph/formats/json/Read"

/** What groups calls. What is absent is taken from around it: from an outer `with`, then from the recorder's options. */
export interface Grouping {
  /** The name of the agent. */
  readonly agent?: string | undefined
  /** The name of the agent's version. */
  readonly agentVersion?: string | undefined
  /** Calls of one conversation or run. Derived of a call's instructions and first user message where it is absent. */
  readonly session?: string | undefined
  /** For whom the call is made. */
  readonly person?: string | undefined
}

/** An event without its fingerprint, with the names of the wire. */
export interface RecordedEvent {
  readonly event_name: "llm"
  readonly properties: {
    readonly api: Api
    readonly inputs: Record<string, unknown>
    readonly output: Record<string, unknown>
  }
  readonly session: string
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  /** When the call was made, in ISO 8601. */
  readonly occurred_at?: string | undefined
  /** From the call until the application had read the last byte of the answer, in ms. */
  readonly duration_ms?: number | undefined
  /** From the call until the application had read the first bytes of the answer's body, in ms. */
  readonly first_token_ms?: number | undefined
  /** The status of the provider's answer. */
  readonly http_status?: number | undefined
  /** The model that was asked for, where the URL names it. */
  readonly model?: string | undefined
  /** The trace that the call is part of. */
  readonly trace_id?: string | undefined
  /** The span that the call was made in. */
  readonly span_id?: string | undefined
  /** What the application keeps with the call. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** What the recorder says of the event. */
  readonly recorded?: Recorded | undefined
}

/** Fields beside the payload. */
export type Envelope = Omit<RecordedEvent, "event_name" | "properties">

/** The payload as JSON texts. */
export interface Payload {
  readonly api: Api
  readonly inputs: string
  readonly output: string
}

export const textOf = ({ api, inputs, output }: Payload, envelope: Envelope): string => {
  const rest = JSON.stringify(envelope).slice(1)
  return `{"event_name":"llm","properties":{"api":${JSON.stringify(api)},"inputs":${inputs},"output":${output}},${rest}`
}

/** Whether a value is what JSON calls an object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object that a text holds; undefined where it holds none. */
export const objectIn = (text: string): Record<string, unknown> | undefined => {
  const value = parsed(text)
  return isObject(value) ? value : undefined
}
