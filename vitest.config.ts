import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts", "examples/*/test/**/*.test.ts"],
    // Many tests wait for processes and for time to pass.
    maxWorkers: 4,
    testTimeout: 30_000
  }
})
