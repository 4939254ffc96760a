/** A server whose file is copied over, or whose disk is full. */
import { execFileSync } from "node:child_process"
import { hash } from "node:crypto"
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it, onTestFinished, vi } from "vitest"
import { serve, temporaryFolder } from "./TachographProcess.ts"

const key = "an API key for tests"

const open = async (cwd: string) => {
  const server = await serve(["--port", "0"], { cwd, env: { TACHOGRAPH_API_KEY: key } })
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, body: JSON.parse(await response.text()) as Record<string, string> }
  }
  const runtime = { language: "typescript", language_version: "7", system: "linux" }
  const { body } = await send("PUT", "/fingerprints", runtime)
  const record = async (session: string, input: string) => {
    const properties = { api: "openai-responses", inputs: { input }, output: {} }
    const event = { event_name: "llm", properties, fingerprint_id: body["fingerprint_id"], session }
    return (await send("POST", "/events", event)).status
  }
  return { server, send, record }
}

it("answers 503 to everything when its file was copied over, says why, and leaves the file alone", async () => {
  const cwd = temporaryFolder()
  const file = join(cwd, "tachograph.db")
  const first = await open(cwd)
  expect(await first.record("s", "kept")).toBe(200)
  expect((await first.server.stop()).code).toBe(0)
  copyFileSync(file, `${file}.backup`)

  const { record, send, server } = await open(cwd)
  expect(await record("s", "lost")).toBe(200)
  expect((await send("GET", "/events")).status).toBe(200)
  const other = new DatabaseSync(file)
  other.exec("PRAGMA wal_checkpoint(PASSIVE)")
  other.close()
  writeFileSync(file, readFileSync(`${file}.backup`))
  // The first is answered by the reading thread, and nothing by what the file and the log add up to.
  expect((await send("GET", "/events")).status).toBe(503)
  // Events at once, as after a restore that nobody told the server of.
  const refused = await Promise.all(Array.from({ length: 440 }, (_, n) => record("s", `refused ${n}`)))
  expect(new Set(refused)).toEqual(new Set([503]))
  expect((await fetch(`${server.url}/ready`)).status).toBe(503)
  const { code, stderr } = await server.stop()
  expect(code).toBe(0)
  expect(stderr).toContain(`${file} was changed by another program while it was open`)
  expect(readFileSync(file).equals(readFileSync(`${file}.backup`))).toBe(true)

  const again = await open(cwd)
  const { body } = await again.send("GET", "/events")
  expect(body["events"]).toHaveLength(1)
  expect(await again.record("s", "after")).toBe(200)
  await again.server.stop()
})

it("erases on a full disk, and records again", async () => {
  const cwd = temporaryFolder()
  execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=20M", "tmpfs", cwd], { stdio: "pipe" })
  onTestFinished(() => void execFileSync("/bin/umount", ["-l", cwd], { stdio: "pipe" }))
  const { record, send, server } = await open(cwd)
  const reserve = join(cwd, "tachograph.db-reserve")
  await vi.waitFor(() => expect(existsSync(reserve)).toBe(true), { timeout: 60_000, interval: 20 })
  // Texts that cannot be compressed.
  const text = (n: number) => Array.from({ length: 1_500 }, (_, at) => hash("sha256", `${n} ${at}`, "base64")).join("")
  let refused = 0
  // What was in the log is copied into the file first.
  for (let n = 0; refused < 3; n += 4) {
    const statuses = await Promise.all([0, 1, 2, 3].map((at) => record(`session ${at}`, text(n + at))))
    refused = statuses.every((status) => status === 503) ? refused + 1 : 0
  }
  for (const at of [0, 1, 2]) {
    const { body, status } = await send("DELETE", `/sessions/session ${at}`)
    expect([status, Number(body["events"]) > 0]).toEqual([200, true])
  }
  for (let n = 1_000; n < 1_020; n++) expect(await record("after", text(n))).toBe(200)
  // It is taken again when what was erased has been overwritten.
  await vi.waitFor(() => expect(existsSync(reserve)).toBe(true), { timeout: 60_000, interval: 20 })
  await server.stop()
})
