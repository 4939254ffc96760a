import { Effect, Exit } from "effect"
import { PassThrough } from "node:stream"
import { describe, expect, it } from "vitest"
import * as Confirmation from "../../src/terminal/Confirmation.ts"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import { serveAndRecordInProcess } from "../RecordingServer.ts"

const recorded = async () => {
  const { client, key, record, server, storage } = await serveAndRecordInProcess("admin")
  await client.put("/api/v1/people", { person_id: "ann", properties: { team: "lighthouse" } })
  const say = (session: string, person: string, content: string) => {
    const inputs = { messages: [{ role: "user", content }] }
    const properties = { api: "provider1-chat-completions", inputs, output: {} }
    return record({ session, person, agent: "support", agent_version: "v1", properties })
  }
  const { event_id } = await say("one", "ann", "first")
  await say("one", "bob", "second")
  await say("two", "ann", "third")
  return { event_id, key, server, storage }
}

describe("tachograph delete", () => {
  it("erases an event, a session and a person, and prints the receipt, of a storage or of a server", async () => {
    const { event_id, key, server, storage } = await recorded()
    const overHttp = await runInProcess(["delete", "event", event_id, "--yes", "--json", "--url", server.url], {
      TACHOGRAPH_API_KEY: key
    })
    expect([overHttp.code, overHttp.stderr]).toEqual([0, ""])
    expect(JSON.parse(overHttp.stdout)).toMatchObject({ events: 1, sessions: 0, damaged: 0 })
    await server.stop()
    const run = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await runInProcess([...args, "--storage", storage])
      return [code, stdout, stderr]
    }
    const erased = /^Erased 1 event, 1 session and \d+ pieces? of payloads: [\d,]+ bytes of the storage\n$/
    expect(await run("delete", "session", "one", "--yes")).toEqual([0, expect.stringMatching(erased), ""])
    expect(await run("delete", "person", "ann", "--yes")).toEqual([0, expect.stringMatching(erased), ""])
    expect(await run("sessions", "--json")).toEqual([0, "", ""])
    expect(await run("people")).toEqual([0, expect.stringMatching(/^PERSON +KNOWN[^\n]*\nbob +\d{4}-[^\n]*\n$/), ""])
    for (const what of ["session", "person"]) {
      expect(await run("delete", what, "gone", "--yes")).toEqual([1, "", `tachograph: There is no such ${what}\n`])
    }
    expect(await run("delete", "event", event_id, "--yes")).toEqual([1, "", "tachograph: There is no such event\n"])
    expect(await run("delete", "event", "x", "--yes")).toEqual([1, "", expect.stringContaining("event_id")])
  })

  it("refuses where it can ask nobody, and erases nothing", async () => {
    const { server, storage } = await recorded()
    await server.stop()
    for (const what of ["session", "person", "event"]) {
      expectUsageError(await runInProcess(["delete", what, "one", "--storage", storage]), "say --yes")
    }
    const { stdout } = await runInProcess(["sessions", "--json", "--storage", storage])
    expect(stdout.trimEnd().split("\n")).toHaveLength(2)
  })

  it("needs a key of scope admin", async () => {
    const { server, storage } = await recorded()
    const { stdout } = await runInProcess(["keys", "create", "--scope", "read", "--storage", storage])
    const { code, stderr } = await runInProcess(["delete", "session", "one", "--yes", "--url", server.url], {
      TACHOGRAPH_API_KEY: stdout.trim()
    })
    expect([code, stderr]).toEqual([1, "tachograph: The key in TACHOGRAPH_API_KEY lacks the scope admin\n"])
  })

  it.each([
    ["y\n", true],
    ["YES\n", true],
    ["\n", false],
    ["n\n", false],
    ["yesterday\n", false],
    ["", false]
  ])("goes on with the answer %j: %j", async (answer, isConfirmed) => {
    const [input, output] = [new PassThrough(), new PassThrough()].map((stream) =>
      Object.assign(stream, { isTTY: true })
    )
    const asking = Effect.runPromiseExit(Confirmation.confirm("Erase it?", { input: input!, output: output! }))
    input!.end(answer)
    expect(Exit.isSuccess(await asking)).toBe(isConfirmed)
    expect(String(output!.read())).toContain("Erase it? [y/N] ")
  })
})

describe("tachograph people and agents", () => {
  it("print who is known, and which versions an agent has", async () => {
    const { server, storage } = await recorded()
    await server.stop()
    const run = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await runInProcess([...args, "--storage", storage])
      expect([code, stderr]).toEqual([0, ""])
      return stdout.trimEnd().split("\n")
    }
    const time = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d"
    expect(await run("people")).toEqual([
      expect.stringMatching(
        /^PERSON +KNOWN SINCE \(UTC\) +LAST SEEN \(UTC\) +SESSIONS +CALLS +ERRORS +COST +PROPERTIES$/
      ),
      expect.stringMatching(new RegExp(`^ann +${time} +${time} +2 +2 +\\{"team":"lighthouse"\\}$`)),
      expect.stringMatching(new RegExp(`^bob +${time} +${time} +1 +1$`))
    ])
    expect((await run("people", "--json", "--limit", "1")).map((line) => JSON.parse(line))).toMatchObject([
      { person_id: "ann", properties: { team: "lighthouse" } }
    ])
    expect(await run("agents")).toEqual([
      expect.stringMatching(/^AGENT +KNOWN SINCE \(UTC\) +DESCRIPTION$/),
      expect.stringMatching(new RegExp(`^support +${time}`))
    ])
    expect(await run("agents", "support")).toEqual([
      expect.stringMatching(/^VERSION +KNOWN SINCE \(UTC\) +DEPRECATED \(UTC\) +DESCRIPTION$/),
      expect.stringMatching(new RegExp(`^v1 +${time}`))
    ])
    expect((await run("agents", "support", "--json")).map((line) => JSON.parse(line))).toMatchObject([
      { agent_version_name: "v1", deprecated_at: null }
    ])
    const { code, stderr } = await runInProcess(["agents", "nobody", "--storage", storage])
    expect([code, stderr]).toEqual([1, "tachograph: There is no such agent\n"])
  })
})
