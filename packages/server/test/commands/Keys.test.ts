import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { run, temporaryFolder } from "../TachographProcess.ts"
import { expectUsageError, runInProcess, serveInProcess, startServer } from "../CommandLine.ts"

const keyLine = /^tg_[0-9A-Za-z]{33}\n$/

const status = async (url: string, key: string, method = "GET") =>
  (await fetch(url, { method, headers: { authorization: `Bearer ${key}` } })).status

describe("tachograph keys", () => {
  it("issues a key that works, lists it without its secret, and revokes it", async () => {
    const cwd = temporaryFolder()
    const create = ["keys", "create", "--project", "acme", "--scope", "record,read", "--name", "ci", "--expires", "90d"]
    const named = ["--storage", "sqlite:tachograph.db"]
    const created = await run([...create, ...named], { cwd })
    expect(created.code).toBe(0)
    expect(created.stdout).toMatch(keyLine)
    const key = created.stdout.trim()
    const [id] = /key_\w+/.exec(created.stderr)!

    const listed = await run(["keys", "list"], { cwd })
    const until = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10)
    expect(listed.stdout).toMatch(new RegExp(`^${id} +acme +ci +record,read +valid until ${until}T`, "m"))
    expect(listed.stdout).not.toContain(key)

    const storage = `sqlite:${join(cwd, "tachograph.db")}`
    const server = await startServer(["--storage", storage, "--thread", "no"])
    expect(server.output().stdout).not.toMatch(/tg_/)
    expect(await status(`${server.url}/api/v1/events`, key)).toBe(200)
    const unused = await runInProcess(["keys", "create", "--scope", "read", "--storage", storage])
    for (const revoked of [id, /key_\w+/.exec(unused.stderr)![0]]) {
      expect(await runInProcess(["keys", "revoke", revoked, "--storage", storage])).toEqual({
        code: 0,
        stdout: `Revoked ${revoked}; every server rejects it within 10 seconds\n`,
        stderr: ""
      })
      const { stdout } = await runInProcess(["keys", "list", "--storage", storage])
      expect(stdout).toMatch(new RegExp(`^${revoked} .*revoked`, "m"))
    }
    // A server caches the keys that it has seen, and no others.
    expect(await status(`${server.url}/api/v1/events`, unused.stdout.trim())).toBe(401)
  })

  it("revokes a key that a server has cached, as soon as the cache expires", async () => {
    const storage = `sqlite:${join(temporaryFolder(), "tachograph.db")}`
    const created = await runInProcess(["keys", "create", "--scope", "read", "--storage", storage])
    const url = `${await serveInProcess(["--storage", storage, "--thread", "no"], "1 second")}/api/v1/events`
    const key = created.stdout.trim()
    expect(await status(url, key)).toBe(200)
    const revoked = await runInProcess(["keys", "revoke", /key_\w+/.exec(created.stderr)![0], "--storage", storage])
    expect(revoked.code).toBe(0)
    await expect.poll(() => status(url, key)).toBe(401)
  })

  it("makes no file that nothing names", async () => {
    const cwd = temporaryFolder()
    const { code, stderr, stdout } = await run(["keys", "create"], { cwd })
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain(`There is no database here (SQLite, ${join(cwd, "tachograph.db")})`)
    expect(stderr).toContain("Name the storage of your server by --storage or TACHOGRAPH_STORAGE")
    expect(readdirSync(cwd)).toEqual([])
  })

  it("reads its options from the environment", async () => {
    const env = {
      TACHOGRAPH_STORAGE: `sqlite:${join(temporaryFolder(), "other.db")}`,
      TACHOGRAPH_PROJECT: "from env",
      TACHOGRAPH_SCOPE: "admin",
      TACHOGRAPH_NAME: "env",
      TACHOGRAPH_EXPIRES: "12h"
    }
    expect((await runInProcess(["keys", "create"], env)).stdout).toMatch(keyLine)
    const { stdout } = await runInProcess(["keys", "list"], env)
    expect(stdout).toMatch(/^key_\w+ +from env +env +admin +valid until /m)
  })

  it.each([
    [["create", "--scope", "write"], '--scope is "write": expected record, read, admin'],
    [["create", "--scope", ""], '--scope is "": expected record, read, admin'],
    [["create", "--expires", "soon"], '--expires is "soon": expected a time such as 30m, 12h, 90d or 4w, or never'],
    [["create", "--project", ""], '--project is "": expected a name'],
    [["create", "--storage", "memory:"], "keeps no keys"],
    [["revoke"], "Missing required argument: ID"],
    [["make"], 'Unknown subcommand "make"']
  ])("rejects keys %j with one line and exit code 2", async (args, message) => {
    expectUsageError(await runInProcess(["keys", ...args]), message)
  })

  it("reports a missing storage and does not create it", async () => {
    const cwd = temporaryFolder()
    const { code, stderr } = await run(["keys", "list"], { cwd })
    const file = join(cwd, "tachograph.db")
    expect([code, stderr]).toEqual([1, `tachograph: The storage does not exist (SQLite, ${file})\n`])
    expect(existsSync(file)).toBe(false)
  })

  it("escapes control characters in names, so that they cannot forge a row", async () => {
    const storage = `sqlite:${join(temporaryFolder(), "tachograph.db")}`
    await runInProcess(["keys", "create", "--name", "a\nkey_x \u001b[31m\u202e", "--storage", storage])
    const { stdout } = await runInProcess(["keys", "list", "--storage", storage])
    expect(stdout.trimEnd().split("\n")).toHaveLength(2)
    expect(stdout).toContain("a\\u{a}key_x \\u{1b}[31m\\u{202e}")
  })

  it("reports an unknown key, with exit code 1", async () => {
    const storage = `sqlite:${join(temporaryFolder(), "tachograph.db")}`
    await runInProcess(["migrate", "--storage", storage])
    const { code, stderr } = await runInProcess(["keys", "revoke", "key_none", "--storage", storage])
    expect([code, stderr]).toEqual([1, `tachograph: There is no key "key_none"; see tachograph keys list\n`])
  })
})
