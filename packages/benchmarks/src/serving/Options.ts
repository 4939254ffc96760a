import type * as Harness from "../harness/Options.ts"

export interface Options extends Harness.Options {
  /** How long each load lasts. */
  readonly seconds: number
  /** How many events there are in a store that is full. */
  readonly events: number
}
