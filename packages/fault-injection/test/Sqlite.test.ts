import { expect, it } from "vitest"
import { kill9 } from "../src/faults/Kill9.ts"
import * as Trials from "../src/harness/Trials.ts"
import * as ShortRun from "./ShortRun.ts"

ShortRun.define("sqlite", 5)

it("reports a server that loses events", async () => {
  // The option overrides the environment variable: the server stores events in memory only.
  const command = `/bin/sh -c 'exec ${ShortRun.command()} "$@" --storage memory:' lossy`
  const [result] = await Trials.all({ faults: [kill9], kinds: ["sqlite"], command, seed: 1, rounds: 1, seconds: 1 })
  expect(result!.report.violations.join("\n")).toMatch(/was acknowledged as .*, which is missing/)
})
