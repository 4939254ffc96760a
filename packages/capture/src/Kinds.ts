/** What a request may be to a recorder, before it is known whether it is a call. */
import { askedOf } from "./Endings.ts"
import { recognise } from "./Recognise.ts"

/**
 * `unknown` is a request by POST whose path says nothing: one to a model, or none, by what it and its answer say. `end` asks for the answer
 * of a call that was made before.
 */
export type Kind = "call" | "unknown" | "end"

/** Undefined where it is none. `mayBeCall` looks at the body where the path says nothing. */
export const kindOf = (method: string, url: string | URL, mayBeCall: () => boolean): Kind | undefined => {
  if (askedOf(method, url) !== null) return "end"
  if (method !== "POST") return undefined
  if (recognise(url) !== null) return "call"
  return mayBeCall() ? "unknown" : undefined
}

/** Whether an answer may be that of a model to a request that may be no call. */
export const mayBeAnswer = (status: number, contentType: string | null | undefined): boolean =>
  status >= 200 && status < 300 && /json|event-stream|text\/plain/i.test(contentType ?? "json")
