/** Prints which files took longest, after a run of many. */
import type { Reporter, TestModule } from "vitest/node"

/** How many are named. */
const count = 10

export const slowestFiles: Reporter = {
  onTestRunEnd: (modules: ReadonlyArray<TestModule>) => {
    if (modules.length <= count) return
    const times = modules.map((module) => [module.relativeModuleId, module.diagnostic().duration] as const)
    const slowest = times.toSorted(([, a], [, b]) => b - a).slice(0, count)
    const named = slowest.map(([name, ms]) => `${name} ${Math.round(ms / 1_000)} s`)
    console.log(`The ${count} slowest files: ${named.join(", ")}`)
  }
}
