import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import { runInProcess, startServer } from "../CommandLine.ts"
import { faultsOf, look, namesOf, parse } from "../Findings.ts"
import { temporaryFolder } from "../TachographProcess.ts"

/** A file with the tables of this version, and without events. */
const migrated = async () => {
  const file = join(temporaryFolder(), "tachograph.db")
  expect((await runInProcess(["migrate", "--storage", `sqlite:${file}`])).code).toBe(0)
  return { file, storage: ["--storage", `sqlite:${file}`] }
}

/** Changes a file as another program, or another version, might. */
const change = (file: string, sql: string) => {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

describe("tachograph doctor", () => {
  it("finds nothing wrong before the first start, and leaves nothing behind", async () => {
    const folder = temporaryFolder()
    const { code, found } = await look(["--storage", `sqlite:${join(folder, "tachograph.db")}`])
    expect([code, namesOf(found, "problem"), namesOf(found, "warning")]).toEqual([0, [], ["storage"]])
    expect(readdirSync(folder)).toEqual([])
  })

  it("finds nothing wrong with a file that a server has made, and changes nothing in it", async () => {
    const { file, storage } = await migrated()
    const before = readFileSync(file)
    const { code, found } = await look(storage)
    expect([code, namesOf(found, "problem"), namesOf(found, "warning")]).toEqual([0, [], []])
    expect(Object.keys(found)).toEqual([
      ...["version", "handles", "memory", "temporary folder", "storage", "tables", "journal", "clock"],
      ...["file", "disk space", "disk sync"]
    ])
    expect(found["disk sync"]!.says).toMatch(
      /^a write is on the disk after [\d.]+ ms \(median of 20; the slowest [\d.]+ ms\)$/
    )
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it("says a line for each check, with what to mend and where that is documented", async () => {
    const { file, storage } = await migrated()
    chmodSync(file, 0o644)
    const { code, stdout } = await runInProcess(["doctor", ...storage])
    expect(code).toBe(1)
    const line = stdout.split("\n").find((line) => line.startsWith("problem"))!
    expect(line).toContain("its mode is 0644 — others may read what was recorded: chmod 600")
    expect(line).toMatch(/ \(docs\/operate\.md#disk\)$/)
  })

  it.each([
    ["older", "DELETE FROM tachograph_migrations", "tables", "are not up to date"],
    [
      "newer",
      "INSERT INTO tachograph_migrations (migration_id, name) VALUES (9999, 'later')",
      "tables",
      "later version"
    ],
    ["another program's", "DROP TABLE tachograph_migrations", "storage", "tables of another program"]
  ])("tells tables that are %s", async (_, sql, check, says) => {
    const { file, storage } = await migrated()
    change(file, sql)
    const { code, found } = await look(storage)
    expect([code, namesOf(found, "problem")]).toEqual([1, [check]])
    expect(found[check]!.says).toContain(says)
  })

  it("tells a file that is no database, and one whose newest event is of the future", async () => {
    const { file, storage } = await migrated()
    const later = Date.now() + 3_600_000
    const id = later.toString(16).padStart(12, "0") + "70008000000000000000"
    const database = new DatabaseSync(file)
    const names = database
      .prepare("SELECT name, type FROM pragma_table_info('events') WHERE \"notnull\" AND dflt_value IS NULL")
      .all()
    const values = names.map(({ name, type }) => {
      if (name === "event_id") return `x'${id}'`
      return type === "INTEGER" ? "1" : "x''"
    })
    database.exec(`INSERT INTO projects (project_id, project_name) VALUES (1, '"default"')`)
    database.exec(`INSERT INTO events (${names.map(({ name }) => name).join(", ")}) VALUES (${values.join(", ")})`)
    database.close()
    const { code, found } = await look(storage)
    expect([code, namesOf(found, "warning")]).toEqual([0, ["clock"]])
    expect(found["clock"]!.mend).toContain("the clock was set back")

    writeFileSync(file, "no database")
    const broken = await look(storage)
    expect([broken.code, namesOf(broken.found, "problem")]).toEqual([1, ["storage"]])
    expect(broken.found["storage"]!.says).toContain("is not a SQLite database")
  })

  it("tells a folder that cannot be written, and too few handles", async () => {
    const folder = await look(["--storage", "sqlite:/proc/tachograph.db"])
    expect([folder.code, namesOf(folder.found, "problem")]).toEqual([1, ["disk space", "disk sync"]])
    expect(folder.found["disk sync"]!.says).toContain("/proc cannot be written")

    const command = `ulimit -n 200 && exec "$0" "$@"`
    const args = [process.execPath, inject("tachographProgram"), "doctor", "--json", "--max-connections"]
    const options = { cwd: temporaryFolder(), encoding: "utf8" } as const
    const low = spawnSync("bash", ["-c", command, ...args, "150"], options)
    expect([low.status, namesOf(parse(low.stdout), "problem")]).toEqual([1, ["handles"]])
    expect(parse(low.stdout)["handles"]!.mend).toContain("--max-connections 136")
    const enough = spawnSync("bash", ["-c", command, ...args, "136"], options)
    expect(enough.status).toBe(0)
  })

  it("takes what it says from pages that exist", () => {
    const folder = new URL("../../src/doctor/", import.meta.url)
    const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"))
    const links = new Set(texts.join("").match(/(?<=")[\w-]+\.md(?:#[\w-]+)?(?=")/g))
    expect(links.size).toBeGreaterThan(5)
    for (const link of links) {
      const [page, section] = link.split("#") as [string, string?]
      const file = new URL(`../../../../docs/${page}`, import.meta.url)
      expect(existsSync(file), link).toBe(true)
      const headings = Array.from(readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm), ([, heading]) =>
        heading!
          .toLowerCase()
          .replaceAll(/[^\w -]/g, "")
          .replaceAll(" ", "-")
      )
      if (section !== undefined) expect(headings, link).toContain(section)
    }
  })
})

const key = "a key for everything there is"

/** What stands in front of a server, and passes no more than this, or the whole of an answer only. */
const frontOf = async (server: string, maxBytes: number, change: (answer: Response) => Promise<Response>) => {
  const front = createServer(async (request, response) => {
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
      request.resume()
      response.writeHead(413, { "content-type": "text/html" }).end("<h1>413 Request Entity Too Large</h1>")
      return
    }
    const init = { method: request.method!, headers: request.headers as Record<string, string> }
    const body = request.method === "POST" ? await buffer(request) : undefined
    const gone = new AbortController()
    response.on("close", () => gone.abort())
    try {
      const sent = { ...init, redirect: "manual", signal: gone.signal, ...(body && { body }) } as const
      const answer = await change(await fetch(server + request.url, sent))
      const bytes = Buffer.from(await answer.arrayBuffer())
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes)
    } catch {
      response.destroy()
    }
  })
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    front.closeAllConnections()
    front.close()
  })
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`
}

describe("tachograph doctor --url", () => {
  it("says what stands in the way of bodies, streams and links, and what of a key", async () => {
    const storage = ["--storage", `sqlite:${join(temporaryFolder(), "tachograph.db")}`, "--max-body", "2MiB"]
    const server = await startServer([...storage, "--thread", "no", "--request-timeout", "2m"], {
      TACHOGRAPH_API_KEY: key
    })
    const at = (url: string, ...args: ReadonlyArray<string>) =>
      look([...storage.slice(0, args.length > 0 ? 2 : 4), "--url", url, ...args], { TACHOGRAPH_API_KEY: key })

    const straight = await at(server.url)
    expect([straight.code, faultsOf(straight.found)]).toEqual([0, []])
    expect(straight.found["body"]!.says).toMatch(/^2\.0 MiB arrive, in /)
    expect(straight.found["links"]!.says).toBe(`browsers find the viewer at ${server.url}/viewer/`)
    const read = await fetch(`${server.url}/api/v1/events`, { headers: { authorization: `Bearer ${key}` } })
    expect(await read.json()).toEqual({ events: [], next_cursor: null })
    const sessions = await fetch(`${server.url}/api/v1/sessions`, { headers: { authorization: `Bearer ${key}` } })
    expect(await sessions.json()).toEqual({ sessions: [], next_cursor: null })

    const larger = await at(server.url, "--max-body", "3MiB")
    expect(larger.found["body"]).toMatchObject({ state: "problem", mend: "give both the same --max-body" })

    const wrong = await frontOf(server.url, 1024 ** 2, async (answer) => {
      const location = answer.headers.get("location")
      const headers = { ...Object.fromEntries(answer.headers), ...(location && { location: "https://other.example/" }) }
      return new Response(answer.body, { status: answer.status, headers })
    })
    const through = await at(wrong)
    expect([through.code, namesOf(through.found, "problem")]).toEqual([1, ["body", "stream", "links"]])
    expect(through.found["body"]!.says).toBe("2.0 MiB are answered with 413, and not by Tachograph")
    expect(through.found["stream"]!.says).toContain("does not come before its end")
    expect(through.found["links"]!.says).toContain("https://other.example/")

    const scopes = async (scope: string) => {
      const { stdout } = await runInProcess(["keys", "create", "--scope", scope, ...storage.slice(0, 2)])
      return look([...storage, "--url", server.url], { TACHOGRAPH_API_KEY: stdout.trim() })
    }
    const [recording, reading] = [await scopes("record"), await scopes("read")]
    expect([recording.code, namesOf(recording.found, "warning")]).toEqual([0, ["stream"]])
    expect([reading.code, namesOf(reading.found, "warning")]).toEqual([0, ["body"]])
    const without = await look([...storage, "--url", server.url])
    expect([without.code, namesOf(without.found, "warning")]).toEqual([0, ["body", "stream"]])
    const unknown = await look([...storage, "--url", server.url], { TACHOGRAPH_API_KEY: "tg_unknown_unknown_unknown" })
    expect([unknown.code, namesOf(unknown.found, "problem")]).toEqual([1, ["body", "stream"]])

    await server.stop()
    // A connection that was open fails otherwise.
    const refusal = () => fetch(server.url).then(String, ({ cause }: Error) => String(cause))
    await expect.poll(refusal).toContain("ECONNREFUSED")
    const stopped = await at(server.url)
    expect(namesOf(stopped.found, "problem")).toEqual(["health", "ready", "body", "stream", "links"])
    expect(stopped.found["health"]!.says).toContain("ECONNREFUSED")
    expect(stopped.found["body"]!.says).toContain("no answer: ")
  })

  it("warns that an address passes keys unencrypted", async () => {
    const { found } = await look([
      "--storage",
      `sqlite:${temporaryFolder()}/x.db`,
      "--url",
      "http://tachograph.invalid"
    ])
    expect(found["tls"]!.says).toBe("keys and conversations pass unencrypted")
  })
})
