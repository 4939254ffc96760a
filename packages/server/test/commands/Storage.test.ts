import { HttpClient, RoundTrip } from "@tachograph/testkit"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { run, temporaryFolder } from "../TachographProcess.ts"
import { expectUsageError, runInProcess, startServer } from "../CommandLine.ts"

const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

/** Records events in two projects. Returns the storage, and the API's figures of each project. */
const recorded = async () => {
  const storage = `sqlite:${join(temporaryFolder(), "tachograph.db")}`
  const figures: Record<string, unknown> = {}
  const server = await startServer(["--storage", storage, "--thread", "no"])
  for (const [project, calls] of [
    ["default", 12],
    ["acme\n\u001b[31m", 3]
  ] as const) {
    const create = ["keys", "create", "--project", project, "--scope", "record,read", "--storage", storage]
    const created = await runInProcess(create)
    const client = HttpClient.open(server.url, created.stdout.trim())
    const { body } = await client.put("/api/v1/fingerprints", fingerprint)
    await RoundTrip.send(client, RoundTrip.sampleRun(body.fingerprint_id, calls))
    figures[project] = (await client.get("/api/v1/storage")).body
  }
  await server.stop()
  return { figures, storage }
}

describe("tachograph storage", () => {
  it("prints the figures of GET /api/v1/storage, for all projects or one, as JSON or as a table", async () => {
    const { figures, storage } = await recorded()
    const json = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await runInProcess(["storage", "--json", "--storage", storage, ...args])
      expect([code, stderr]).toEqual([0, ""])
      return JSON.parse(stdout)
    }
    const projects = Object.keys(figures).sort()
    expect(await json()).toEqual(projects.map((project) => ({ project, ...(figures[project] as object) })))
    expect(await json("--project", "default")).toEqual([{ project: "default", ...(figures["default"] as object) }])
    expect((await json("--sessions", "0", "--project", "default"))[0].sessions).toEqual([])

    const { code, stderr, stdout } = await runInProcess(["storage", "--storage", storage])
    expect([code, stderr]).toEqual([0, ""])
    const lines = stdout.trimEnd().split("\n")
    expect(lines).toHaveLength(9)
    expect(lines[0]).toMatch(/^ +NAME +EVENTS +SENT +NEW +STORED +SENT\/STORED$/)
    expect(lines[1]).toMatch(/^project +acme\\u\{a\}\\u\{1b\}\[31m +3 +[\d.]+ KiB +[\d.]+ KiB +[\d.]+ (KiB|B) +[\d.]+$/)
    expect(lines[2]).toMatch(/^shared +1 pieces +[\d.]+ KiB +[\d.]+ (KiB|B)$/)
    expect(lines[3]).toMatch(/^agent +lorry-agent +3 /)
    expect(lines[4]).toMatch(/^session +sample-run +3 /)
    expect(lines[5]).toMatch(/^project +default +12 /)
    // Columns are right-aligned with their headings.
    for (const line of lines.slice(1)) {
      for (const end of ["NEW", "STORED"].map((name) => lines[0]!.indexOf(` ${name} `) + name.length + 1)) {
        expect(line.slice(end - 1, end + 1)).toMatch(/^B( |$)/)
      }
    }
  })

  it("reads its options from the environment", async () => {
    const storage = `sqlite:${join(temporaryFolder(), "other.db")}`
    await runInProcess(["migrate", "--storage", storage])
    const env = { TACHOGRAPH_STORAGE: storage, TACHOGRAPH_PROJECT: "none\u202e" }
    const { code, stderr } = await runInProcess(["storage"], env)
    expect([code, stderr]).toEqual([1, `tachograph: There is no project "none\\u{202e}"\n`])
    expect(await runInProcess(["storage", "--json"], { TACHOGRAPH_STORAGE: storage })).toMatchObject({
      code: 0,
      stdout: "[]\n"
    })
  })

  it.each([
    [["--project", ""], '--project is "": expected a name'],
    [["--sessions", "-1"], '--sessions is "-1": expected a number from 0 to 1000'],
    [["--sessions", "1001"], '--sessions is "1001": expected a number from 0 to 1000'],
    [["--storage", "memory:"], "keeps no events"],
    [["more"], 'Unexpected positional argument: "more"']
  ])("rejects %j with one line and exit code 2", async (args, message) => {
    expectUsageError(await runInProcess(["storage", ...args]), message)
  })

  it("reports a missing storage and does not create it", async () => {
    const cwd = temporaryFolder()
    const { code, stderr } = await run(["storage"], { cwd })
    const file = join(cwd, "tachograph.db")
    expect([code, stderr]).toEqual([1, `tachograph: The storage does not exist (SQLite, ${file})\n`])
    expect(existsSync(file)).toBe(false)
  })
})
