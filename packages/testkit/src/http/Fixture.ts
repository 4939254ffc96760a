import type { Scope } from "@tachograph/core"
import type { Answer, Client } from "../HttpClient.ts"

/** The server under test, as the cases use it. Cases share one server, so each uses names of its own. */
export interface Fixture {
  /** Sends an admin key of the project `default`. */
  readonly client: Client
  /** Returns a client that sends another key, or none. */
  readonly as: (key: string | undefined) => Client
  /** A response whose body is read while it is made. */
  readonly open: (path: string, key: string, signal: AbortSignal) => Promise<Response>
  readonly issue: (options: {
    readonly scopes: ReadonlyArray<Scope>
    readonly project?: string
    /** Milliseconds from now; may be negative. */
    readonly expiresIn?: number
  }) => Promise<{ readonly key: string; readonly id: string }>
  readonly revoke: (id: string) => Promise<void>
  /** Checks the response to a path that the router does not handle. */
  readonly expectUnhandled: (answer: Answer) => void
  /** A fingerprint of the project `default`. */
  readonly fingerprintId: string
  /** The server's limits on the body of an event and on every other body, in bytes. */
  readonly maxBody: number
  readonly maxOtherBody: number
}
