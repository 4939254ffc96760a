import { expect, it } from "vitest"
import { betaOf, groupingOf } from "../../src/proxy/CallHeaders.ts"

it("puts U+FFFD in the place of what no name may have, as the client does", () => {
  const smiley = Buffer.from("😀").toString("latin1")
  // Lenient parsers take U+0000 in a header. Halves of surrogate pairs are no UTF-8, so their bytes are read as Latin-1.
  const headers = [
    "X-Tachograph-Session",
    "a\0b",
    "X-Tachograph-Agent",
    `${smiley}\0`,
    "X-Tachograph-Person",
    "\xed\xa0\xbd"
  ]
  expect(groupingOf(headers).grouping).toEqual({ session: "a\uFFFDb", agent: "😀\uFFFD", person: "\xed\xa0\xbd" })
})

it("puts it in the place of dots that no URL can hold, wherever the name comes from", () => {
  const headers = ["X-Tachograph-Session", "..", "X-Tachograph-Agent", ".", "X-Tachograph-Person", ".a."]
  expect(groupingOf(headers).grouping).toEqual({ session: "\uFFFD\uFFFD", agent: "\uFFFD", person: ".a." })
  const { grouping } = groupingOf(["X-Claude-Code-Session-Id", "..", "User-Agent", "claude-cli/.. (external)"])
  expect(grouping).toEqual({ session: "\uFFFD\uFFFD", agent: "claude-code", agent_version: "\uFFFD\uFFFD" })
})

it("hears of the beta in any of several headers", () => {
  expect(betaOf(["Anthropic-Beta", "", "anthropic-beta", "files-api-2025-04-14"])).toBe(", files-api-2025-04-14")
  expect(betaOf(["anthropic-version", "2023-06-01"])).toBeUndefined()
})
