import { attemptsOfInternalErrors, isTransient, keyReused } from "@tachograph/capture/Retries"
import * as Utf8 from "../platform/Utf8.ts"
import type { Outcome, Transport } from "./Transport.ts"

/** What the recorder needs of the result of `createTachograph`. */
export interface EmbeddedTachograph {
  readonly fingerprint: (body: string, options?: { readonly project?: string }) => Promise<string>
  readonly record: (
    body: string,
    options?: { readonly project?: string; readonly idempotencyKey?: string }
  ) => Promise<unknown>
}

const typeOf = (cause: unknown): unknown => (cause as { readonly type?: unknown } | null)?.type

const outcomeOf = (cause: unknown): Outcome<never> => {
  const type = typeOf(cause)
  if (type === "fingerprint-not-found") return { type: "unknown-fingerprint" }
  if (typeof type !== "string" || type === "internal") return { type: "retry", limit: attemptsOfInternalErrors, cause }
  return isTransient(type) ? { type: "retry", cause } : { type: "refused", isFinal: true, cause }
}

export const make = (tachograph: EmbeddedTachograph, project: string | undefined): Transport => {
  const inProject = project === undefined ? {} : { project }
  const attempt = async <A>(run: () => Promise<A>): Promise<Outcome<A>> => {
    try {
      return { type: "done", value: await run() }
    } catch (cause) {
      return outcomeOf(cause)
    }
  }
  return {
    register: (fingerprint) => attempt(() => tachograph.fingerprint(fingerprint, inProject)),
    send: ({ event, idempotencyKey }) =>
      attempt(async () => {
        try {
          await tachograph.record(Utf8.textOf([event]), { ...inProject, idempotencyKey })
        } catch (cause) {
          // Another process has seen the same end of a call.
          if (typeOf(cause) !== keyReused) throw cause
        }
      }),
    // A commit takes its time.
    stop: () => {}
  }
}
