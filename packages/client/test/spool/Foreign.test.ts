/** What may lie in the folder of a spool under the name of an event. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Spool } from "../../src/spool/Spool.ts"
import { createRecorder, type Drop } from "../../src/index.ts"
import { temporaryFolder } from "../process/Child.ts"
import { apiKey, refuse, startServer } from "../Server.ts"

afterEach(() => void vi.useRealTimers())

const nameOf = (n: number) => `1790000000000-01234567-89ab-4def-8123-45678901234${n}.event`

const open = (url: string, spool: string) => {
  const drops: Array<Drop> = []
  const onDrop = (drop: Drop) => void drops.push(drop)
  const recorder = createRecorder({ url, apiKey, spool, onDrop })
  return {
    drops,
    recorder,
    record: (n: number) => recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: "s" })
  }
}

/** A file of an event, as a recorder writes it. */
const writtenFile = async () => {
  const server = await startServer()
  server.intercept = refuse(503, "overloaded")
  const spool = temporaryFolder()
  const { record, recorder } = open(server.url, spool)
  record(0)
  await recorder.spooled()
  return readFileSync(join(spool, readdirSync(spool)[0]!))
}

describe("a name of an event", () => {
  it("that is a folder, a pipe or a loop of links keeps nothing from being sent", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    mkdirSync(join(spool, nameOf(0)))
    execFileSync("mkfifo", [join(spool, nameOf(1))])
    symlinkSync(join(spool, nameOf(2)), join(spool, nameOf(2)))
    symlinkSync("/dev/zero", join(spool, nameOf(3)))
    const { drops, record, recorder } = open(server.url, spool)
    record(1)
    await recorder.spooled()
    expect(await recorder.flush({ timeoutMs: 10_000 })).toBe(true)
    expect(await server.events()).toHaveLength(1)
    expect(drops).toEqual([])
    expect(readdirSync(spool).sort()).toEqual([0, 1, 2, 3].map(nameOf))
    expect(lstatSync(join(spool, nameOf(1))).isFIFO()).toBe(true)
  })

  it.each<[string, (whole: Buffer) => Uint8Array]>([
    ["nothing", () => new Uint8Array(0)],
    ["half of a fingerprint", (whole) => whole.subarray(0, whole.indexOf(10) >> 1)],
    ["a fingerprint alone", (whole) => whole.subarray(0, whole.indexOf(10) + 1)],
    ["half of an event", (whole) => whole.subarray(0, -5)],
    ["zeros", (whole) => new Uint8Array(whole.length)]
  ])("that holds %s is set aside and told, and keeps nothing from being sent", async (_name, cut) => {
    const content = cut(await writtenFile())
    const server = await startServer()
    const spool = temporaryFolder()
    writeFileSync(join(spool, nameOf(0)), content)
    const { drops, record, recorder } = open(server.url, spool)
    record(1)
    await recorder.spooled()
    expect(await recorder.flush({ timeoutMs: 10_000 })).toBe(true)
    expect(await server.events()).toHaveLength(1)
    expect(drops).toMatchObject([{ reason: "spool", cause: { message: expect.stringMatching(/damaged/) } }])
    expect(readdirSync(spool)).toEqual([`${nameOf(0)}.damaged`])
    expect(readFileSync(join(spool, `${nameOf(0)}.damaged`))).toEqual(Buffer.from(content))
    // It is left alone from then on, and is sent when it is whole again.
    renameSync(join(spool, `${nameOf(0)}.damaged`), join(spool, "aside"))
    writeFileSync(join(spool, nameOf(0)), await writtenFile())
    const next = open(server.url, spool)
    expect(await next.recorder.flush()).toBe(true)
    expect(await server.events()).toHaveLength(2)
  })
})

/** Another user. Only root can give a file away. */
const stranger = 12_345
const isRoot = process.geteuid?.() === 0

describe("the folder of a spool", () => {
  const mistakes: ReadonlyArray<[what: string, make: (folder: string) => string, said: RegExp]> = [
    ["in which all may write", (folder) => (chmodSync(folder, 0o1777), folder), /its mode is 1777/],
    ["in which a group may write", (folder) => (chmodSync(folder, 0o770), folder), /its mode is 770/],
    [
      "that a link leads to, and in which all may write",
      (folder) => (chmodSync(folder, 0o777), symlinkSync(folder, `${folder}/link`), `${folder}/link`),
      /its mode is 777/
    ]
  ]
  const givenAway: typeof mistakes = [
    ["of another user", (folder) => (chownSync(folder, stranger, stranger), folder), /belongs to the user 12345/],
    [
      "in whose place another user has put a link",
      (folder) => {
        const link = join(folder, "link")
        symlinkSync(temporaryFolder(), link)
        lchownSync(link, stranger, stranger)
        return link
      },
      /belongs to the user 12345/
    ]
  ]

  it.each(isRoot ? [...mistakes, ...givenAway] : mistakes)("%s is refused, with what to do", (_what, make, said) => {
    const spool = make(temporaryFolder())
    const create = () => createRecorder({ url: "http://127.0.0.1:1", apiKey, spool })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(/^spool: expected a folder in which only the user of this process may write/)
    expect(create).toThrow(said)
    expect(create).toThrow(spool)
  })

  it("that opens to others later is not read again", async () => {
    const folder = temporaryFolder()
    const spool = new Spool(folder, 1_000_000)
    expect(await spool.list()).toEqual([])
    chmodSync(folder, 0o777)
    await expect(spool.list()).rejects.toThrow("its mode is 777")
  })

  it("may be one in it", async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o777)
    const server = await startServer()
    const { record, recorder } = open(server.url, join(folder, "spool"))
    record(1)
    await recorder.spooled()
    expect(lstatSync(join(folder, "spool")).mode & 0o777).toBe(0o700)
    expect(await recorder.flush()).toBe(true)
  })
})

describe("a file that others may write", () => {
  const changes: ReadonlyArray<[what: string, change: (file: string) => void]> = [
    ["by its mode", (file) => chmodSync(file, 0o666)],
    ["by its owner", (file) => chownSync(file, stranger, stranger)]
  ]

  it.each(isRoot ? changes : changes.slice(0, 1))("%s is not sent, and told", async (_what, change) => {
    const content = await writtenFile()
    const server = await startServer()
    const spool = temporaryFolder()
    writeFileSync(join(spool, nameOf(0)), content)
    change(join(spool, nameOf(0)))
    const { drops, recorder } = open(server.url, spool)
    expect(await recorder.flush({ timeoutMs: 10_000 })).toBe(false)
    expect(recorder.counters()).toMatchObject({
      postponed: 1,
      problem: expect.stringContaining("may be another user's")
    })
    expect(await server.events()).toEqual([])
    expect(drops).toEqual([])
    expect(readdirSync(spool)).toEqual([nameOf(0)])
  })

  it("in whose place a link or a pipe was put meanwhile is neither followed nor waited for", async () => {
    const folder = temporaryFolder()
    const spool = new Spool(folder, 1_000_000)
    const idempotencyKey = nameOf(0).slice(14, 50)
    const link = join(folder, nameOf(0))
    const pipe = join(folder, nameOf(1))
    symlinkSync(import.meta.filename, link)
    execFileSync("mkfifo", [pipe])
    expect(await spool.list()).toEqual([])
    const read = (file: string) => spool.read({ file, folders: 0, idempotencyKey })
    await expect(read(link)).rejects.toMatchObject({ code: "ELOOP" })
    await expect(read(pipe)).rejects.toThrow("it is no file")
  })

  it("is not written through a link as the process ends", async () => {
    const folder = temporaryFolder()
    const other = join(temporaryFolder(), "other")
    writeFileSync(other, "kept")
    const spool = new Spool(folder, 1_000_000)
    const idempotencyKey = nameOf(0).slice(14, 50)
    const now = Date.now()
    vi.setSystemTime(now)
    symlinkSync(other, join(folder, `${now}-${idempotencyKey}.partial`))
    expect(() => spool.writeNow({ idempotencyKey, fingerprint: "{}", event: Buffer.from("{}") })).toThrow("ELOOP")
    expect(readFileSync(other, "utf8")).toBe("kept")
  })
})
