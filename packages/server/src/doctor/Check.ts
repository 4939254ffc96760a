/** What `tachograph doctor` looks at, one thing each, and what it finds. */
import type * as Effect from "effect/Effect"

export interface Finding {
  readonly state: "ok" | "warning" | "problem"
  /** What was found, in a line. */
  readonly says: string
  /** What to do about it, and the page of the documentation that says more. Of each warning and problem. */
  readonly mend?: string
  readonly see?: string
}

export interface Check {
  readonly name: string
  readonly look: Effect.Effect<Finding>
}

export const ok = (says: string): Finding => ({ state: "ok", says })

export const warning = (says: string, mend: string, see: string): Finding => ({ state: "warning", says, mend, see })

export const problem = (says: string, mend: string, see: string): Finding => ({ state: "problem", says, mend, see })
