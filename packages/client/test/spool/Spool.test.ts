import { randomUUID } from "node:crypto"
import {
  mkdirSync,
  promises,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { createRecorder, type Drop, type RecorderOptions } from "../../src/index.ts"
import { Spool } from "../../src/spool/Spool.ts"
import { temporaryFolder } from "../process/Child.ts"
import { apiKey, refuse, type Server, startServer } from "../Server.ts"

const open = (server: Server, spool: string, options: Partial<RecorderOptions> = {}) => {
  const drops: Array<Drop> = []
  const onDrop = (drop: Drop) => void drops.push(drop)
  const recorder = createRecorder({ url: server.url, apiKey, spool, onDrop, ...options } as RecorderOptions)
  const record = (n: number) => recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: "s" })
  return { drops, record, recorder }
}

const filesIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".event"))

const numbers = async (server: Server) => (await server.events()).map(({ properties }) => properties.inputs["n"])

/** Flushes until nothing waits, in memory or on disk. */
const flushed = (recorder: { readonly flush: () => Promise<boolean> }) =>
  vi.waitFor(async () => expect(await recorder.flush()).toBe(true), { timeout: 60_000, interval: 10 })

describe("a spooled event", () => {
  it.each<[string, Server["intercept"]]>([
    ["401", refuse(401, "unauthorized")],
    ["403", refuse(403, "forbidden")],
    ["404", refuse(404, "not-found")],
    ["301", refuse(301, "moved", { location: "/elsewhere" })],
    ["500", refuse(500, "internal", { "retry-after": "0" })],
    ["413 by something else than Tachograph", refuse(413, "")],
    ["200 by something else than Tachograph", refuse(200, "")]
  ])("stays on disk while the server answers %s, and is sent afterwards", async (_name, interception) => {
    const server = await startServer()
    const spool = temporaryFolder()
    const { drops, record, recorder } = open(server, spool)
    server.intercept = interception
    record(1)
    await recorder.spooled()
    expect(await recorder.flush()).toBe(false)
    expect(filesIn(spool)).toHaveLength(1)
    // It was recorded, and waits: a counter never falls.
    expect(recorder.counters()).toMatchObject({
      ...{ recorded: 1, sent: 0, waiting: 0, postponed: 1, dropped: {} },
      problem: expect.any(String)
    })
    server.intercept = () => false
    await flushed(recorder)
    expect(await numbers(server)).toEqual([1])
    expect(recorder.counters()).toMatchObject({ recorded: 1, sent: 1, waiting: 0, postponed: 0 })
    expect(recorder.counters()).not.toHaveProperty("problem")
    expect(filesIn(spool)).toEqual([])
    expect(drops).toEqual([])
  })

  it.each([403, 504])("does not keep others from being sent where it is always answered with %i", async (status) => {
    const server = await startServer()
    const { drops, record, recorder } = open(server, temporaryFolder(), { concurrency: 1 })
    let refused: unknown
    server.intercept = (request, response) => {
      if (request.url !== "/api/v1/events") return false
      refused ??= request.headers["idempotency-key"]
      return request.headers["idempotency-key"] === refused && refuse(status, "waf")(request, response)
    }
    for (const n of [1, 2, 3]) record(n)
    await recorder.spooled()
    await vi.waitFor(async () => expect(await numbers(server)).toHaveLength(2), { timeout: 60_000, interval: 10 })
    expect(drops).toEqual([])
  })

  it.each([
    [413, "payload-too-large"],
    [422, "validation-error"]
  ])("is dropped where the server says with %i that it can never be recorded", async (status, type) => {
    const server = await startServer()
    const spool = temporaryFolder()
    const { drops, record, recorder } = open(server, spool)
    server.intercept = (request, response) =>
      request.url === "/api/v1/events" && refuse(status, type)(request, response)
    record(1)
    expect(await recorder.flush()).toBe(true)
    expect(filesIn(spool)).toEqual([])
    expect(drops).toMatchObject([{ reason: "refused", cause: { status, type } }])
  })

  it("stays on disk where the fingerprint of its process is refused", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    const { drops, record, recorder } = open(server, spool)
    server.intercept = (request, response) =>
      request.url === "/api/v1/fingerprints" && refuse(422, "validation-error")(request, response)
    record(1)
    await recorder.spooled()
    expect(await recorder.flush()).toBe(false)
    expect(filesIn(spool)).toHaveLength(1)
    expect(drops).toEqual([])
    expect(recorder.counters().problem).toMatch(/422 validation-error/)
  })

  it("is found where the application has changed its working directory", async () => {
    const server = await startServer()
    const folder = temporaryFolder()
    const before = process.cwd()
    process.chdir(folder)
    try {
      const { record, recorder } = open(server, "spool")
      server.intercept = refuse(503, "overloaded")
      for (const n of [1, 2, 3]) record(n)
      await recorder.spooled()
      process.chdir(before)
      expect(filesIn(join(folder, "spool"))).toHaveLength(3)
      server.intercept = () => false
      await flushed(recorder)
      expect((await numbers(server)).toSorted()).toEqual([1, 2, 3])
      expect(recorder.counters()).toMatchObject({ sent: 3, dropped: {} })
      expect(filesIn(join(folder, "spool"))).toEqual([])
    } finally {
      process.chdir(before)
    }
  })

  it("is reported where the folder was removed, which the next event creates again", async () => {
    const server = await startServer()
    const folder = join(temporaryFolder(), "spool")
    const { drops, record, recorder } = open(server, folder)
    server.intercept = refuse(503, "overloaded")
    for (const n of [1, 2, 3]) record(n)
    await recorder.spooled()
    rmSync(folder, { recursive: true })
    server.intercept = () => false
    await flushed(recorder)
    const sent = await numbers(server)
    expect(recorder.counters()).toMatchObject({ sent: sent.length })
    expect(drops.map(({ reason }) => reason)).toEqual(Array(3 - sent.length).fill("spool"))
    expect(drops).not.toEqual([])
    // The first one meets the missing folder, and is sent from memory all the same.
    record(4)
    await flushed(recorder)
    record(5)
    await recorder.spooled()
    await flushed(recorder)
    expect((await numbers(server)).slice(sent.length)).toEqual([4, 5])
  })

  it.each([0, 1])(
    "is reported where the folder was removed, and created again by later events, after %s attempts",
    async (attempts) => {
      const server = await startServer()
      const folder = join(temporaryFolder(), "spool")
      const { drops, record, recorder } = open(server, folder)
      server.intercept = refuse(503, "overloaded")
      for (const n of [1, 2, 3]) record(n)
      await recorder.spooled()
      if (attempts > 0) expect(await recorder.flush({ timeoutMs: 2_000 })).toBe(false)
      rmSync(folder, { recursive: true })
      for (const n of [4, 5, 6]) {
        record(n)
        await recorder.spooled().catch(() => {})
      }
      server.intercept = () => false
      await vi.waitFor(async () => expect((await numbers(server)).length + drops.length).toBe(6), { timeout: 60_000 })
      const sent = await numbers(server)
      expect(sent.toSorted()).toEqual(expect.arrayContaining([4, 5, 6]))
      expect(drops.map(({ reason }) => reason)).toEqual(Array(6 - sent.length).fill("spool"))
      const settled = { recorded: 6, sent: sent.length, waiting: 0, postponed: 0 }
      await vi.waitFor(() => expect(recorder.counters()).toMatchObject(settled), { timeout: 60_000 })
      expect(sent.length).toBeLessThan(6)
    }
  )

  it("is known while the folder cannot be read", async () => {
    const server = await startServer()
    const folder = join(temporaryFolder(), "spool")
    const { drops, record, recorder } = open(server, folder)
    server.intercept = refuse(503, "overloaded")
    for (const n of [1, 2, 3]) record(n)
    await recorder.spooled()
    expect(await recorder.flush({ timeoutMs: 2_000 })).toBe(false)
    renameSync(folder, `${folder}.aside`)
    writeFileSync(folder, "")
    server.intercept = () => false
    const known = () => {
      const { postponed, sent, waiting } = recorder.counters()
      return postponed + sent + waiting + drops.length
    }
    for (let n = 0; n < 20; n++) {
      expect(known()).toBe(3)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    rmSync(folder)
    renameSync(`${folder}.aside`, folder)
    await vi.waitFor(() => expect(recorder.counters()).toMatchObject({ sent: 3, postponed: 0, dropped: {} }), {
      timeout: 60_000
    })
    expect((await numbers(server)).toSorted()).toEqual([1, 2, 3])
  })

  it("stays on disk while its file cannot be read", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    server.intercept = refuse(503, "overloaded")
    const { drops, record, recorder } = open(server, spool)
    record(1)
    await recorder.spooled()
    // Each attempt reads the file.
    await vi.waitFor(() => expect(recorder.counters().retried).toBeGreaterThan(0), { timeout: 60_000 })
    const [name] = filesIn(spool)
    const file = join(spool, name!)
    // No user can read a folder as a file.
    renameSync(file, `${file}.aside`)
    mkdirSync(file)
    server.intercept = () => false
    expect(await recorder.flush()).toBe(false)
    expect(drops).toEqual([])
    rmdirSync(file)
    renameSync(`${file}.aside`, file)
    await flushed(recorder)
    expect(await numbers(server)).toEqual([1])
    expect(filesIn(spool)).toEqual([])
  })
})

describe("other files of the folder", () => {
  it("are left alone, and keep nothing from being sent", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    const copied = "1790000000000-01234567-89ab-4def-8123-456789abcdef コピー.event"
    const others = ["notes.event", copied]
    for (const name of others) writeFileSync(join(spool, name), '{}\n{"n":0}')
    mkdirSync(join(spool, "folder.event"))
    const { drops, record, recorder } = open(server, spool)
    record(1)
    await flushed(recorder)
    expect(await numbers(server)).toEqual([1])
    expect(filesIn(spool).sort()).toEqual([copied, "folder.event", "notes.event"])
    expect(drops).toEqual([])
  })
})

describe("spooled", () => {
  it("rejects where an event is not on disk, until it is sent", async () => {
    const server = await startServer()
    const file = join(temporaryFolder(), "file")
    writeFileSync(file, "")
    const { record, recorder } = open(server, join(file, "spool"))
    server.intercept = refuse(503, "overloaded", { "retry-after": "0" })
    record(1)
    await expect(recorder.spooled()).rejects.toMatchObject({ message: /not on disk: 1$/, cause: { code: "ENOTDIR" } })
    await expect(recorder.spooled()).rejects.toThrow("not on disk: 1")
    server.intercept = () => false
    expect(await recorder.flush()).toBe(true)
    await recorder.spooled()
    expect(await numbers(server)).toEqual([1])
  })

  it("rejects where an event is neither on disk nor in memory", async () => {
    const server = await startServer()
    const { drops, record, recorder } = open(server, temporaryFolder(), { maxSpoolBytes: 1, maxEvents: 1 })
    server.intercept = refuse(503, "overloaded")
    record(1)
    record(2)
    await expect(recorder.spooled()).rejects.toThrow("not on disk: 2")
    await expect(recorder.spooled()).rejects.toThrow("not on disk: 1")
    expect(drops).toMatchObject([{ reason: "queue-full" }])
  })

  it("rejects where a call was lost before it was an event", async () => {
    const server = await startServer()
    const fetch = async () => new Response("x".repeat(2_000))
    const { drops, recorder } = open(server, temporaryFolder(), { maxBytes: 1_000, fetch })
    await (await recorder.fetch("http://127.0.0.1/v1/messages", { method: "POST", body: "{}" })).text()
    await expect(recorder.spooled()).rejects.toThrow("not on disk: 1")
    expect(drops).toEqual([{ reason: "memory" }])
  })

  it("rejects where there is no spool", async () => {
    const server = await startServer()
    await expect(createRecorder({ url: server.url, apiKey }).spooled()).rejects.toThrow(TypeError)
  })
})

describe("a spool that is shared", () => {
  const away: Server["intercept"] = (_request, response) => {
    response.destroy()
    return true
  }

  it("has room again when another process has removed files", async () => {
    const server = await startServer()
    server.intercept = away
    const spool = temporaryFolder()
    const probe = open(server, spool)
    probe.record(0)
    await probe.recorder.spooled()
    const { size } = statSync(join(spool, filesIn(spool)[0]!))
    const { record, recorder } = open(server, spool, { maxSpoolBytes: size * 3 })
    record(1)
    record(2)
    await recorder.spooled()
    record(3)
    await expect(recorder.spooled()).rejects.toThrow("not on disk: 1")
    for (const name of filesIn(spool)) rmSync(join(spool, name))
    await vi.waitFor(
      async () => {
        record(4)
        await recorder.spooled().catch(() => {})
        expect(filesIn(spool).length).toBeGreaterThan(0)
      },
      { timeout: 60_000, interval: 10 }
    )
  })

  it("holds no more than it may, though a file is written while the folder is counted", async () => {
    const folder = temporaryFolder()
    const spool = new Spool(folder, 150)
    const eventOf = (key: string) => ({ idempotencyKey: key, fingerprint: "{}", event: new Uint8Array(100) })
    await spool.list()
    const { readdir } = promises
    let goOn = () => {}
    const isWritten = new Promise<void>((resolve) => (goOn = resolve))
    const spy = vi.spyOn(promises, "readdir").mockImplementation((async (path: string) => {
      const names = await readdir(path)
      await isWritten
      return names
    }) as never)
    try {
      const counting = spool.list()
      await spool.write(eventOf(randomUUID()))
      goOn()
      await counting
      await expect(spool.write(eventOf(randomUUID()))).rejects.toThrow("full")
    } finally {
      spy.mockRestore()
    }
    expect(filesIn(folder)).toHaveLength(1)
  })

  it("holds no more than it may, though the process sends what others have written", async () => {
    const server = await startServer()
    server.intercept = away
    const spool = temporaryFolder()
    const other = open(server, spool)
    const { record, recorder } = open(server, spool, { maxSpoolBytes: 4_000 })
    record(0)
    await recorder.spooled()
    for (let n = 1; n <= 20; n++) other.record(n)
    await other.recorder.spooled()
    // Sends and removes what the other one has written.
    server.intercept = () => false
    await flushed(recorder)
    await flushed(other.recorder)
    server.intercept = away
    for (let n = 0; n < 20; n++) record(n)
    await expect(recorder.spooled()).rejects.toThrow("not on disk")
    const bytes = filesIn(spool).reduce((sum, name) => sum + statSync(join(spool, name)).size, 0)
    expect(bytes).toBeLessThanOrEqual(4_000)
  })
})

describe("a spool in a busy application", () => {
  it("writes few files at once", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    const { drops, record, recorder } = open(server, spool)
    let [active, most] = [0, 0]
    const { open: openFile } = promises
    const spy = vi.spyOn(promises, "open").mockImplementation(async (...args) => {
      // Reading, of which there is as much as there is sent at once.
      if (typeof args[1] === "number") return openFile(...args)
      most = Math.max(most, ++active)
      const handle = await openFile(...args)
      const { close } = handle
      handle.close = () => close.call(handle).finally(() => void active--)
      return handle
    })
    try {
      for (let n = 0; n < 60; n++) record(n)
      await recorder.spooled()
      expect(await recorder.flush()).toBe(true)
    } finally {
      spy.mockRestore()
    }
    expect(most).toBeGreaterThan(0)
    // Files and their folder.
    expect(most).toBeLessThanOrEqual(2)
    expect(await numbers(server)).toHaveLength(60)
    expect(drops).toEqual([])
  })

  it("takes more calls at once than are made events at once, and each is in a counter", async () => {
    const server = await startServer()
    server.intercept = refuse(503, "overloaded")
    const spool = temporaryFolder()
    const [count, left] = [10_030, 10_010]
    // What is left out is not written, which would take its time.
    const redact: RecorderOptions["redact"] = (event) => (Number(event.properties.inputs["n"]) < left ? null : event)
    const { record, recorder } = open(server, spool, { redact })
    for (let n = 0; n < count; n++) record(n)
    expect(recorder.counters()).toMatchObject({ making: count, onDisk: 0, recorded: 0, dropped: {} })
    await recorder.spooled()
    expect(filesIn(spool)).toHaveLength(count - left)
    expect(recorder.counters()).toMatchObject({ making: 0, onDisk: count - left, dropped: { redacted: left } })
    server.intercept = () => false
    await flushed(recorder)
    expect(await numbers(server)).toHaveLength(count - left)
    expect(recorder.counters()).toMatchObject({ onDisk: 0, heldBytes: 0 })
  })

  it("counts each event once that earlier processes have left, though few fit the queue", async () => {
    const [server, elsewhere] = [await startServer(), await startServer()]
    const [written, spool] = [temporaryFolder(), temporaryFolder()]
    elsewhere.intercept = refuse(503, "overloaded")
    const before = open(elsewhere, written)
    before.record(0)
    await before.recorder.spooled()
    const content = readFileSync(join(written, filesIn(written)[0]!), "utf8")
    for (let n = 0; n < 500; n++) {
      const name = `${1790000000000 + n}-${randomUUID()}.event`
      writeFileSync(join(spool, name), content.replace('{"n":0}', `{"n":${n}}`))
    }
    const list = vi.spyOn(promises, "readdir")
    const { drops, recorder } = open(server, spool, { maxEvents: 3 })
    await flushed(recorder)
    expect(recorder.counters()).toMatchObject({ recorded: 500, sent: 500, waiting: 0 })
    expect((await numbers(server)).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 500 }, (_, n) => n)
    )
    expect(filesIn(spool)).toEqual([])
    expect(drops).toEqual([])
    // Not again and again, however few fit. Recorders of other tests have other folders.
    expect(list.mock.calls.filter(([path]) => path === spool).length).toBeLessThan(10)
    list.mockRestore()
  })

  it("sends what earlier processes have left though new events keep coming", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    server.intercept = refuse(503, "overloaded")
    const before = open(server, spool)
    for (let n = 0; n < 20; n++) before.record(n)
    await before.recorder.spooled()
    const old = temporaryFolder()
    for (const name of filesIn(spool)) renameSync(join(spool, name), join(old, name))
    let fresh = 100
    // Each that is sent brings another one: those of a batch are lines.
    const sending: typeof fetch = (url, init) => {
      const { body } = init!
      const lines = typeof body === "string" ? 0 : (body as Uint8Array).filter((byte) => byte === 10).length || 1
      for (let line = 0; line < lines && fresh < 400; line++) record(fresh++)
      return fetch(url, init)
    }
    server.intercept = () => false
    const { record, recorder } = open(server, old, { maxEvents: 6, concurrency: 2, fetch: sending })
    for (let n = 0; n < 20; n++) record(fresh++)
    // A flush may end while the call that an event was sent with goes on: the next event is not recorded yet.
    const arrived = async () => {
      await flushed(recorder)
      return new Set(await numbers(server)).size
    }
    await expect.poll(arrived).toBe(20 + 300)
    const sent = (await numbers(server)).map(Number)
    expect(sent).toHaveLength(320)
    expect(sent.findLastIndex((n) => n < 100)).toBeLessThan(100)
  })
})
