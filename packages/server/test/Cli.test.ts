import { describe, expect, it } from "vitest"
import { run } from "./TachographProcess.ts"

describe("tachograph", () => {
  it.each([[[]], [["--help"]], [["serve", "--help"]], [["keys"]], [["keys", "create", "--help"]]])(
    "prints help for %j",
    async (args) => {
      const { code, stderr, stdout } = await run(args)
      expect(stdout).toContain("USAGE")
      expect([code, stderr]).toEqual([0, ""])
    }
  )
})
