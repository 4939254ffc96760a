import type * as Harness from "../harness/Options.ts"

export interface Options extends Harness.Options {
  /** Duration of each load. */
  readonly seconds: number
  /** Events in a large store. */
  readonly events: number
}
