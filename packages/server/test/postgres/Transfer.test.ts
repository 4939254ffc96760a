import { Bucket, EventTime } from "@tachograph/core"
import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, inject, it } from "vitest"
import { runInProcess } from "../CommandLine.ts"
import { temporaryFolder } from "../TachographProcess.ts"

const fingerprint = { language: "l", language_version: "v", system: "s" }
const fingerprintId = "01a00000-0000-7000-8000-000000000001"

/** The id of an event of the session `s` that is received this many ms from now. */
const idIn = (ms: number): string => {
  const bucket = Bucket.ofSession("s").toString(16).padStart(2, "0")
  return EventTime.firstIdOf(Date.now() + ms).slice(0, -2) + bucket
}

const eventLine = (id: string) => ({
  type: "event",
  event_id: id,
  received_at: new Date(),
  event_name: "llm",
  fingerprint_id: fingerprintId,
  session: "s",
  properties: { api: "aisdk", inputs: {}, output: {} }
})

const linesIn = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)

it("continues a file before events that may still have earlier ones", async () => {
  const folder = temporaryFolder()
  const storageOf = () => {
    const url = new URL(inject("postgresUrl"))
    url.searchParams.set("schema", `test_${randomBytes(8).toString("hex")}`)
    return url.href
  }
  const storage = storageOf()
  const file = join(folder, "exported.ndjson")
  const run = async (...args: ReadonlyArray<string>) => {
    const { code, stderr } = await runInProcess(args)
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^(?:Exported|\d+ events)/)])
    return stderr
  }
  const importLines = (...lines: ReadonlyArray<object>) => {
    const given = join(folder, "given.ndjson")
    writeFileSync(given, [...lines, { type: "end" }].map((line) => `${JSON.stringify(line)}\n`).join(""))
    return run("import", given, "--storage", storage)
  }
  const exported = async () => {
    await run("export", "--storage", storage, "--output", file)
    const events = linesIn(file).filter(({ type }) => type === "event")
    return events.map(({ event_id, settled = true }) => [event_id, settled])
  }

  const [past, future] = [idIn(-60_000), idIn(8 * 60_000)]
  const registered = { type: "fingerprint", fingerprint_id: fingerprintId, created_at: new Date(0), ...fingerprint }
  await importLines(registered, eventLine(past), eventLine(future))
  expect(await exported()).toEqual([
    [past, true],
    [future, false]
  ])
  expect(linesIn(file).at(-1)).toMatchObject({ type: "end", events: 2 })

  const between = idIn(0)
  await importLines(eventLine(between))
  const all = [
    [past, true],
    [between, true],
    [future, false]
  ]
  expect(await exported()).toEqual(all)

  // With nothing but such an event, and cut.
  const unsettled = readFileSync(file, "utf8")
    .split("\n")
    .find((line) => line.includes(`"settled":false`))!
  writeFileSync(file, `{"type":"export","format":1}\n${unsettled}\n{"type":"dam`)
  expect(await exported()).toEqual(all)

  const other = storageOf()
  expect(await run("import", file, "--storage", other)).toMatch(/^3 events/)
  expect(await run("copy", storage, other)).toMatch(/imported 0 lines/)
})
