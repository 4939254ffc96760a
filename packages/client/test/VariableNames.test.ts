import { nearest } from "@tachograph/capture/Spelling"
import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"

it("takes no variable of the server for one of the client", () => {
  const docs = new URL("../../../docs/", import.meta.url)
  const texts = readdirSync(docs)
    .filter((name) => name.endsWith(".md"))
    .map((name) => readFileSync(new URL(name, docs), "utf8"))
  const all = new Set(texts.flatMap((text) => text.match(/(?<=TACHOGRAPH_)[A-Z_]*[A-Z]/g) ?? []))
  const known = ["URL", "API_KEY", "AGENT", "AGENT_VERSION", "SESSION", "PERSON", "SPOOL", "EXIT_MS", "REDACT"]
  expect(known.filter((name) => !all.has(name))).toEqual([])
  expect(all.size).toBeGreaterThan(25)
  const near = [...all].filter((name) => !known.includes(name) && nearest(name, known) !== undefined)
  // `register` knows this one, of `tachograph storage`.
  expect(near.filter((name) => name !== "SESSIONS")).toEqual([])
})
