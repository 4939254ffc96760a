/** What a request may be to the recorder, before it is known whether it is a call. */
import { recognise } from "@tachograph/formats"
import { askedOf } from "@tachograph/formats/Endings"

/**
 * `unknown` is a request whose path says nothing: one to a model, or none, by what it and its answer say. `end` asks for the answer of a
 * call that was made before.
 */
export type Kind = "call" | "unknown" | "end"

/** Texts that are longer are not searched (characters). */
const maxSearched = 1024 * 1024

/** What a request to a model has: else it is not looked at, nor is its answer. */
const mayBeCall = (body: unknown): boolean =>
  typeof body === "string" &&
  body.length <= maxSearched &&
  body.startsWith("{") &&
  /"(?:model|messages|contents)"/.test(body)

/** Undefined where it is none. */
export const kindOf = (method: string, url: URL, body: unknown): Kind | undefined => {
  if (askedOf(method, url) !== null) return "end"
  if (method !== "POST") return undefined
  if (recognise(url) !== null) return "call"
  return mayBeCall(body) ? "unknown" : undefined
}

/** Whether an answer may be that of a model to a request that may be no call. */
export const mayBeAnswer = ({ headers, ok }: Response): boolean =>
  ok && /json|event-stream|text\/plain/i.test(headers.get("content-type") ?? "json")
