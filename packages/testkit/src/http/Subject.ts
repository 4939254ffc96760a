import type { Scope } from "@tachograph/core"
import type { Answer, Client } from "../HttpClient.ts"

/** What the cases work with. Cases name what they create so that they do not meet. */
export interface Subject {
  /** With a key of the project `default` that may do everything. */
  readonly client: Client
  /** With a key of somebody else's making, or none. */
  readonly as: (key: string | undefined) => Client
  readonly issue: (options: {
    readonly scopes: ReadonlyArray<Scope>
    readonly project?: string
    /** Milliseconds from now; may be negative. */
    readonly expiresIn?: number
  }) => Promise<{ readonly key: string; readonly id: string }>
  readonly revoke: (id: string) => Promise<void>
  /** Expects the answer to a path that is none of the router's. */
  readonly expectNotOurs: (answer: Answer) => void
  /** A fingerprint of the project `default`. */
  readonly fingerprintId: string
}
