/** What may lie in the folder of a spool under the name of an event. */
import { execFileSync } from "node:child_process"
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createRecorder, type Drop } from "../../src/index.ts"
import { temporaryFolder } from "../process/Child.ts"
import { apiKey, refuse, startServer } from "../Server.ts"

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
