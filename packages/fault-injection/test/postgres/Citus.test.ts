import { it } from "vitest"
import { citusUrl } from "../../src/harness/Citus.ts"
import * as ShortRun from "../ShortRun.ts"

if (citusUrl === undefined) {
  it.skip("faults on Citus: TACHOGRAPH_TEST_CITUS_URL is not set, so nothing runs there", () => undefined)
} else ShortRun.define("citus", 4)
