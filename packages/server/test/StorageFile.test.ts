/** A server whose file is copied over, or whose disk is full. */
import { hash } from "node:crypto"
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it, vi } from "vitest"
import { startServer } from "./CommandLine.ts"
import * as SmallDisk from "./SmallDisk.ts"
import { serve, temporaryFolder } from "./TachographProcess.ts"

const key = "an API key for tests"

const env = { TACHOGRAPH_API_KEY: key }

/** A client of a server. */
const use = async <Server extends { readonly url: string }>(server: Server) => {
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      // A pause of a test is longer than the server keeps a connection.
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
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

const open = async (cwd: string) => use(await serve(["--port", "0"], { cwd, env }))

it("answers 503 to everything when its file was copied over, says why, and leaves the file alone", async () => {
  const cwd = temporaryFolder()
  const file = join(cwd, "tachograph.db")
  const storage = ["--storage", `sqlite:${file}`]
  const first = await use(await startServer(storage, env))
  expect(await first.record("s", "kept")).toBe(200)
  await first.server.stop()
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
  const refused = await Promise.all(Array.from({ length: 100 }, (_, n) => record("s", `refused ${n}`)))
  expect(new Set(refused)).toEqual(new Set([503]))
  expect((await fetch(`${server.url}/ready`)).status).toBe(503)
  const { code, stderr } = await server.stop()
  expect(code).toBe(0)
  expect(stderr).toContain(`${file} was changed by another program while it was open`)
  expect(readFileSync(file).equals(readFileSync(`${file}.backup`))).toBe(true)

  const again = await use(await startServer(storage, env))
  const { body } = await again.send("GET", "/events")
  expect(body["events"]).toHaveLength(1)
  expect(await again.record("s", "after")).toBe(200)
})

it("erases on a full disk, and records again", async () => {
  const cwd = SmallDisk.mount()
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

it("says what an erasure has done that finds no room, and does the rest when there is some", async () => {
  const cwd = SmallDisk.mount()
  const { record, send, server } = await open(cwd)
  const file = join(cwd, "tachograph.db")
  const list = async (session: string) => (await send("GET", `/events?session=${session}`)).body["events"]
  const erase = async () => {
    const { body, status } = await send("DELETE", "/sessions/planted")
    expect((await fetch(`${server.url}/ready`)).status).toBe(200)
    return { body, status }
  }
  const unfinished = (events: number) => ({
    status: 503,
    body: {
      type: "storage-unavailable",
      message: expect.stringMatching(
        `^Events erased by this request for certain: ${events}; .*Send the same request again`
      )
    }
  })
  for (let n = 0; n < 40; n++) expect(await record("planted", `${n} ${hash("sha512", `${n}`)}`)).toBe(200)
  expect(await record("another", "kept")).toBe(200)
  /** What of this is in the files. */
  const inFiles = (all: ReadonlyArray<Buffer | string>) => {
    const files = readdirSync(cwd).map((name) => readFileSync(join(cwd, name)))
    return all.filter((bytes) => files.some((file) => file.includes(bytes)))
  }
  const first = new DatabaseSync(file)
  const packs = first.prepare("SELECT pack FROM packs WHERE session_number = 1").all() as Array<{ pack: Uint8Array }>
  first.close()
  const erased = ["planted", ...packs.map(({ pack }) => Buffer.from(pack.subarray(-32)))]
  expect(erased).toHaveLength(41)
  expect(inFiles(erased)).toEqual(erased)

  // The last thing that the server does by itself before something is erased.
  await vi.waitFor(() => expect(existsSync(`${file}-reserve`)).toBe(true), { timeout: 60_000, interval: 20 })
  rmSync(`${file}-reserve`)
  const reader = new DatabaseSync(file)
  await vi.waitFor(() => expect(reader.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0 }), {
    timeout: 60_000,
    interval: 20
  })
  // While it reads, as a backup does, no part of the log is used again, so that all that is written needs new room.
  reader.exec("BEGIN")
  reader.prepare("SELECT count(*) FROM events").get()
  SmallDisk.fill(cwd)
  expect(await erase()).toEqual(unfinished(0))
  expect(await list("planted")).toHaveLength(40)

  // So little at a time that there is never enough for the next step, which deletes the texts.
  let answer = await erase()
  while ((await list("planted"))!.length === 40) {
    SmallDisk.giveBack(cwd, 2)
    answer = await erase()
  }
  expect(answer).toEqual(unfinished(40))
  expect(await list("planted")).toEqual([])
  expect(await erase()).toEqual(unfinished(0))

  reader.close()
  SmallDisk.empty(cwd)
  expect(await erase()).toMatchObject({ status: 200, body: { events: 0, sessions: 1 } })
  expect(await erase()).toEqual({ status: 404, body: { type: "session-not-found" } })
  expect(await record("another", "after")).toBe(200)
  expect(await list("another")).toHaveLength(2)
  expect((await server.stop()).code).toBe(0)
  expect(inFiles(erased)).toEqual([])
})
