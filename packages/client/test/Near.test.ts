import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { hint, nearest } from "../src/Near.ts"

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

it("takes no variable of the server for one of the client", () => {
  const docs = new URL("../../../docs/", import.meta.url)
  const texts = readdirSync(docs)
    .filter((name) => name.endsWith(".md"))
    .map((name) => readFileSync(new URL(name, docs), "utf8"))
  const all = new Set(texts.flatMap((text) => text.match(/(?<=TACHOGRAPH_)[A-Z_]*[A-Z]/g) ?? []))
  const known = ["URL", "API_KEY", "AGENT", "AGENT_VERSION", "SESSION", "PERSON", "SPOOL", "EXIT_MS"]
  expect(known.filter((name) => !all.has(name))).toEqual([])
  expect(all.size).toBeGreaterThan(25)
  const near = [...all].filter((name) => !known.includes(name) && nearest(name, known) !== undefined)
  // `register` knows this one, of `tachograph storage`.
  expect(near.filter((name) => name !== "SESSIONS")).toEqual([])
})
