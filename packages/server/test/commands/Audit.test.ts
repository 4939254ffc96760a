import { describe, expect, it } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import { serveAndRecordInProcess } from "../RecordingServer.ts"

describe("tachograph audit", () => {
  it("prints who did what, from a storage and from a server", async () => {
    const { client, key, record, server, storage } = await serveAndRecordInProcess("admin")
    const properties = { api: "provider2-messages", inputs: { model: "m", messages: [] }, output: {} }
    await record({ session: "planted", properties })
    await client.call("DELETE", "/api/v1/sessions/planted")
    const created = await runInProcess(["keys", "create", "--name", "ci", "--storage", storage])
    const id = /key_\w+/.exec(created.stderr)![0]
    await runInProcess(["keys", "revoke", id, "--storage", storage])
    const local = await runInProcess(["audit", "--storage", storage])
    expect([local.code, local.stderr]).toEqual([0, ""])
    const actions = local.stdout
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(/ {2,}/)[1])
    expect(actions).toEqual(["key-revoked", "key-created", "session-erased", "session-erasure", "key-created"])
    expect(local.stdout).not.toContain("planted")
    const env = { TACHOGRAPH_API_KEY: key }
    const { stdout } = await runInProcess(["audit", "--url", server.url, "--limit", "3", "--json"], env)
    const entries = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(entries).toMatchObject([
      { action: "key-revoked", actor: "command", subject: id, events: null },
      { action: "key-created", actor: "command", subject: id, events: null },
      { action: "session-erased", actor: expect.stringMatching(/^key_/), events: 1 }
    ])
    const none = await runInProcess(["audit", "--before", "2020-01-01", "--storage", storage])
    expect(none).toEqual({ code: 0, stdout: "", stderr: "Nothing was found\n" })
    const reader = (await runInProcess(["keys", "create", "--scope", "read", "--storage", storage])).stdout.trim()
    const refused = await runInProcess(["audit", "--url", server.url], { TACHOGRAPH_API_KEY: reader })
    expect(refused).toMatchObject({
      code: 1,
      stderr: "tachograph: The key in TACHOGRAPH_API_KEY lacks the scope admin\n"
    })
    expectUsageError(
      await runInProcess(["audit", "--after", "then", "--storage", storage]),
      '--after is "then": expected'
    )
    await server.stop()
  })
})
