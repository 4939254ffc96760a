/** Runs one round of each fault on one storage. `npm run faults` runs more. */
import { TestSeed } from "@tachograph/testkit"
import { describe, expect, inject, it } from "vitest"
import { faults } from "../src/faults/All.ts"
import { clock } from "../src/faults/Clock.ts"
import { eio } from "../src/faults/Eio.ts"
import * as Report from "../src/harness/Report.ts"
import * as Trials from "../src/harness/Trials.ts"
import type { Kind } from "../src/harness/Store.ts"

/**
 * Without those whose limits of time and memory need an idle machine, and without the one that starts a host from the sources: the
 * tests of the router end threads, too.
 */
const long: ReadonlySet<string> = new Set(["frozen", "silent-readers", "thread-deaths"])
/** `eio` first, because its Nth sync counts from the beginning of a store, then `clock`, because its pages are of all events. */
const first = [eio, clock]
const short = [...first, ...faults.filter((fault) => !first.includes(fault) && !long.has(fault.name))]

/** Starts the server under test. */
export const command = () => `"${process.execPath}" "${inject("tachographProgram")}"`

/** The faults of a storage are more than `atLeast`. */
export const define = (kind: Kind, atLeast: number): void => {
  const { seed } = TestSeed
  describe(`faults, seed ${seed}`, () => {
    it(`on ${kind} lose no acknowledged event`, { timeout: 480_000 }, async () => {
      const results = await Trials.all({
        faults: short,
        kinds: [kind],
        command: command(),
        seed,
        rounds: 1,
        seconds: 1,
        isLight: true
      })
      console.log(Report.table(results))
      expect(results.flatMap(({ report }) => report.violations)).toEqual([])
      expect(results.length).toBeGreaterThan(atLeast)
    })
  })
}
