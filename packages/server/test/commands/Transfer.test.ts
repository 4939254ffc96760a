import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { appendFileSync, closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it, onTestFinished } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import * as KeptStore from "../KeptStore.ts"
import { serveAndRecordInProcess } from "../RecordingServer.ts"
import { run, temporaryFolder } from "../TachographProcess.ts"

const path = (folder: string, name: string) => join(folder, name)

/** A server with some events, and its storage. */
const recorded = async () => {
  const { client, cwd: folder, key, record: send, server, storage } = await serveAndRecordInProcess("admin")
  const record = (n: number) => {
    const inputs = { n, text: "x".repeat(n * 100) }
    const names = { session: `s${n % 3}`, person: n % 2 ? "odd" : undefined }
    return send({ ...names, properties: { api: "aisdk", inputs, output: {} } })
  }
  for (let n = 0; n < 30; n++) await record(n)
  return { client, folder, key, record, server, storage }
}

const typesIn = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).type as string)

const eventsIn = (file: string) => typesIn(file).filter((type) => type === "event").length

it("exports, imports and copies, and again, over a storage or a server", async () => {
  const { folder, key, record, server, storage } = await recorded()
  const env = { TACHOGRAPH_API_KEY: key }
  const [first, second] = [path(folder, "first.ndjson"), path(folder, "second.ndjson")]
  const exported = await runInProcess(["export", "--url", server.url, "--output", first], env)
  expect([exported.code, exported.stdout]).toEqual([0, ""])
  expect(exported.stderr).toMatch(/^Exported 30 events, [\d.]+ KiB, [\d.]+ [KM]iB\/s\n$/)
  const printed = await run(["export", "--storage", storage])
  expect(printed.stdout).toBe(readFileSync(first, "utf8"))

  const other = `sqlite:${path(folder, "other.db")}`
  const imported = await runInProcess(["import", first, "--storage", other])
  expect([imported.code, imported.stdout]).toEqual([0, ""])
  expect(imported.stderr).toMatch(/^30 events, [^%]*: imported 34 lines\n$/)
  await runInProcess(["export", "--storage", other, "--output", second])
  expect(readFileSync(second, "utf8")).toBe(readFileSync(first, "utf8"))

  // A file is continued after its last whole event, a copy with what is new.
  await record(30)
  truncateSync(first, readFileSync(first).length - 500)
  const left = eventsIn(second) - readFileSync(first, "utf8").split('\n{"type":"event"').length + 2
  const continued = await runInProcess(["export", "--storage", storage, "--output", first])
  expect([continued.code, continued.stderr]).toEqual([0, expect.stringMatching(`^Exported ${left + 1} events, `)])
  expect([eventsIn(first), typesIn(first).at(-1)]).toEqual([31, "end"])
  const again = await runInProcess(["import", first, "--url", server.url], env)
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("imported 0 lines; 39 were there already")])
  const copied = await runInProcess(["copy", storage, other])
  expect([copied.code, copied.stderr]).toEqual([
    0,
    expect.stringMatching(
      /imported 1 lines; 34 were there already\nAPI keys were left out \(\d+ in default\): --with-keys copies them too\n$/
    )
  ])
  const keysOf = async (of: string) => (await runInProcess(["keys", "list", "--storage", of])).stdout
  for (const changed of [1, 0]) {
    const { stderr } = await runInProcess(["copy", storage, other, "--with-keys"])
    expect(stderr).toContain(`Copied ${changed} of 1 API keys`)
    expect(await keysOf(other)).toBe(await keysOf(storage))
  }
  // A key that was revoked since is revoked there.
  const [revoked] = /key_\w+/.exec(await keysOf(storage))!
  await runInProcess(["keys", "revoke", revoked, "--storage", storage])
  await runInProcess(["copy", storage, other, "--with-keys"])
  expect(await keysOf(other)).toBe(await keysOf(storage))
  const printedAgain = await runInProcess(["export", "--storage", other, "--output", path(folder, "third.ndjson")])
  expect(printedAgain.code).toBe(0)
  expect(readFileSync(path(folder, "third.ndjson"), "utf8")).toBe((await run(["export", "--storage", storage])).stdout)
})

it("continues an export whose server is away for a moment, after the last settled event", async () => {
  const id = (n: number) => `01a00000-0000-7000-8000-00000000000${n}`
  const event = (n: number, mark = "") => `{"type":"event","event_id":"${id(n)}"${mark}}\n`
  const away = (response: ServerResponse) => {
    response.writeHead(503, { "content-type": "application/json", "retry-after": "1" })
    response.end('{"type":"storage-unavailable"}')
  }
  const answers: Array<(response: ServerResponse) => void> = [
    (response) => response.write(`{"type":"export","format":1}\n${event(1)}${event(3, ',"settled":false')}`),
    away,
    (response) => response.setHeader("content-type", "text/html").end("<html>\n"),
    (response) => response.end(`${event(2)}${event(3)}{"type":"end"}\n`),
    away,
    (response) => response.setHeader("content-type", "text/html").end("<html>\n")
  ]
  const asked: Array<string | null> = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://server")
    if (!pathname.endsWith("/export")) return void away(response)
    asked.push(searchParams.get("after_event"))
    response.setHeader("content-type", "application/x-ndjson")
    answers.shift()!(response)
    // Cuts what is not ended.
    if (!response.writableEnded) setTimeout(() => response.destroy(), 50)
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = path(temporaryFolder(), "exported.ndjson")
  const exportAll = () => runInProcess(["export", "--url", url, "--output", file], { TACHOGRAPH_API_KEY: "key" })
  const exported = await exportAll()
  expect([exported.code, exported.stderr]).toEqual([0, expect.stringMatching(/^Exported 3 events, /)])
  expect(asked).toEqual([null, id(1), id(1), id(1)])
  const text = readFileSync(file, "utf8")
  expect(text).toBe(`{"type":"export","format":1}\n${event(1)}${event(2)}${event(3)}{"type":"end"}\n`)
  expect(await exportAll()).toMatchObject({ code: 1, stderr: "tachograph: The storage cannot be used\n" })
  expect(await exportAll()).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing answers there") })
  expect([answers, readFileSync(file, "utf8")]).toEqual([[], text])
})

it("says what is wrong with a file", async () => {
  const { folder, storage } = await recorded()
  const file = path(folder, "some.ndjson")
  expect((await runInProcess(["export", "--storage", storage, "--person", "odd", "--output", file])).code).toBe(0)
  expect(eventsIn(file)).toBe(15)
  const other = `sqlite:${path(folder, "other.db")}`
  appendFileSync(file, `no JSON\n{"type":"event","event_id":"\u001b[31m"`)
  const { code, stderr } = await runInProcess(["import", file, "--storage", other])
  const [first, second, cut, summary, failure] = stderr.trimEnd().split("\n")
  expect(first).toBe(`${file}, line 22: 1: JSON decode error`)
  expect(second).toMatch(/, line 23(?:, event \\u\{1b\}\[31m)?: /)
  expect(cut).toBe(`${file} is cut: it does not end as a whole export does`)
  expect(summary).toMatch(/: imported 19 lines$/)
  expect([code, failure]).toEqual([1, "tachograph: 2 lines were refused"])

  const unknown = path(folder, "unknown.txt")
  writeFileSync(unknown, "something else\n")
  for (const args of [
    ["import", path(folder, "missing")],
    ["export", "--output", unknown]
  ]) {
    const refused = await runInProcess([...args, "--storage", storage])
    expect([refused.code, refused.stdout]).toEqual([1, ""])
    expect(refused.stderr).toMatch(/^tachograph: Cannot (?:read|write to) .*(?:no such file|it is no export)/)
  }
  expect(readFileSync(unknown, "utf8")).toBe("something else\n")
  expectUsageError(await runInProcess(["import"]), "FILE")
})

it.each(["rollups", "storage_usage", "sessions_by_id"])(
  "copies every event of a file in which the pages of %s are malformed, into one in which nothing is wrong",
  async (name) => {
    const { file, folder, storage } = KeptStore.copyOf("0005-call-times")
    const repaired = `sqlite:${path(folder, "repaired.db")}`
    await runInProcess(["migrate", "--storage", storage])
    const database = new DatabaseSync(file)
    const pages = database.prepare("SELECT pgoffset FROM dbstat WHERE name = ?").all(name)
    database.close()
    const descriptor = openSync(file, "r+")
    for (const { pgoffset } of pages) writeSync(descriptor, Buffer.alloc(4096), 0, 4096, Number(pgoffset))
    closeSync(descriptor)
    expect(await runInProcess(["copy", storage, repaired])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^37 events, /m)
    })
    expect(await runInProcess(["verify", "--storage", repaired])).toMatchObject({ code: 0 })
  }
)
