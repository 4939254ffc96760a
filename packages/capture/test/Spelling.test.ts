import { expect, it } from "vitest"
import { hint, nearest } from "../src/Spelling.ts"

it.each([
  ["agnet", "agent"],
  ["agentt", "agent"],
  ["api_key", "apiKey"],
  ["APIKEY", "apiKey"],
  ["agentVresion", "agentVersion"],
  ["agentVerso", "agentVersion"],
  ["agentVers", undefined],
  ["agnets", undefined],
  ["version", undefined],
  ["", undefined],
  [`agent${"t".repeat(60)}`, undefined]
])("finds that %s is %s", (written, meant) => {
  expect(nearest(written, ["url", "apiKey", "session", "agent", "agentVersion"])).toBe(meant)
  expect(hint(written, ["url", "apiKey", "session", "agent", "agentVersion"])).toBe(
    meant === undefined ? "" : ` (did you mean ${meant}?)`
  )
})
