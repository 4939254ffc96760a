/** The body of Create Event for a call that passed, with the payload's bytes as they passed. */
import type { Steps } from "@tachograph/core"
import { type Api, modelInUrl, recognise, sessionSeed } from "@tachograph/formats"
import { createHash } from "node:crypto"
import * as CallInputs from "./CallInputs.ts"
import * as CallOutput from "./CallOutput.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import * as Secrets from "./Secrets.ts"

/** A call that is over. Its bodies are decompressed. */
export interface PassedCall extends Omit<CallOutput.ReceivedOutput, "api"> {
  readonly requestHeaders: ForwardedHeaders.RawHeaders
  /** Path and query below the upstream. */
  readonly rest: string
  readonly inputs: Buffer
  readonly occurredAt: Date
  readonly durationMs: number
  /** Until the first byte of the response's body; undefined if none came. */
  readonly firstByteMs: number | undefined
}

/** The headers that group calls, and the fields of an event that they fill. */
const groupings = {
  session: "x-tachograph-session",
  agent: "x-tachograph-agent",
  agent_version: "x-tachograph-agent-version",
  person: "x-tachograph-person"
} as const

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Headers arrive as Latin-1. Clients that can send other characters send them as UTF-8. */
const decode = (value: string): string => {
  try {
    return utf8.decode(Buffer.from(value, "latin1"))
  } catch {
    return value
  }
}

/** An empty header, as of an environment variable that is not set, is none. */
const groupingOf = (headers: ForwardedHeaders.RawHeaders) =>
  Object.fromEntries(
    Object.entries(groupings).flatMap(([field, name]) => {
      const value = ForwardedHeaders.valueOf(headers, name)
      return value === undefined || value === "" ? [] : [[field, decode(value)]]
    })
  ) as Partial<Record<keyof typeof groupings, string>>

const derivedSession = (api: Api, inputs: object): string =>
  createHash("sha256").update(sessionSeed(api, inputs)).digest("hex")

const rounded = (ms: number): number => Math.round(ms * 10) / 10

/**
 * The format of a request by POST, by its path below the upstream and, where it is known, its body; null where it is no call.
 */
export const apiOf = (rest: string, headers: ForwardedHeaders.RawHeaders, body?: object): Api | null =>
  recognise(rest, body, ForwardedHeaders.valueOf(headers, "anthropic-beta"))

/** An event whose fingerprint is not registered yet. */
export interface MadeEvent {
  /** Of the payload. */
  readonly bytes: number
  readonly withFingerprint: (id: string) => Buffer
}

/** Undefined if the request is no JSON object, and null if it is no call. */
export function* make(call: PassedCall): Steps.Steps<MadeEvent | undefined | null> {
  const secrets = Secrets.secretsOf(call.requestHeaders, call.rest)
  const grouping = groupingOf(call.requestHeaders)
  const inputs = yield* CallInputs.parse(call.inputs, grouping.session === undefined)
  if (inputs === undefined) return undefined
  const api = apiOf(call.rest, call.requestHeaders, inputs.isWhole ? inputs.value : undefined)
  if (api === null) return null
  const inputsText = Secrets.without(call.inputs, secrets)
  const output = Secrets.without(yield* CallOutput.of({ ...call, api }), secrets)
  const envelope = {
    ...grouping,
    session: grouping.session ?? derivedSession(api, inputs.value),
    occurred_at: call.occurredAt.toISOString(),
    duration_ms: rounded(call.durationMs),
    first_token_ms: call.firstByteMs && rounded(call.firstByteMs),
    http_status: call.status === 0 ? undefined : call.status,
    model: modelInUrl(call.rest) ?? undefined
  }
  const head = `{"event_name":"llm","properties":{"api":${JSON.stringify(api)},"inputs":`
  return {
    bytes: inputsText.length + output.length,
    withFingerprint: (id) =>
      Buffer.concat([
        Buffer.from(head),
        inputsText,
        Buffer.from(`,"output":`),
        output,
        Buffer.from(`},${JSON.stringify({ ...envelope, fingerprint_id: id }).slice(1)}`)
      ])
  }
}
