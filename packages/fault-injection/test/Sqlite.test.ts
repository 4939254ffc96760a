import { expect, it } from "vitest"
import { kill9 } from "../src/faults/Kill9.ts"
import * as Run from "../src/harness/Run.ts"
import { defaultCommand } from "../src/harness/Server.ts"
import * as ShortRun from "./ShortRun.ts"

ShortRun.define("sqlite")

it("is told of a server that forgets", async () => {
  // The option wins over the variable: all it has is in its memory.
  const command = `/bin/sh -c 'exec ${defaultCommand} "$@" --storage memory:' forgetful`
  const [result] = await Run.all({ faults: [kill9], kinds: ["sqlite"], command, seed: 1, rounds: 1, seconds: 1 })
  expect(result!.report.broken.join("\n")).toMatch(/was acknowledged as .*, which is gone/)
})
