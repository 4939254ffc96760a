import { describe, expect, it } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import { serveAndRecordInProcess } from "../RecordingServer.ts"

const failing = (error: object) => ({
  api: "provider1-chat-completions",
  inputs: { model: "gpt-9", messages: [{ role: "user", content: "Hi" }] },
  output: { error }
})

const missing = {
  type: "invalid_request_error",
  code: "model_not_found",
  message: "The model `gpt-9`\n\u001b[31mdoes not exist"
}
const limited = (id: string) => ({ type: "rate_limit_error", message: `Too many requests: ${id}` })

/** Records calls that failed. Returns the storage and their ids. */
const recorded = async () => {
  const { record, server, storage } = await serveAndRecordInProcess("record")
  const ids: Array<string> = []
  const send = async (fields: object) => ids.push((await record(fields)).event_id)
  const limits = { session: "one", agent: "bot", agent_version: "v1", person: "ann", http_status: 429 }
  await send({ ...limits, properties: failing(limited("r1")) })
  await send({ ...limits, agent_version: "v2", properties: failing(limited("r2")) })
  await send({ session: "two", http_status: 404, properties: failing(missing) })
  await server.stop()
  return { ids, storage }
}

const lines = (stdout: string) => stdout.trimEnd().split("\n")

describe("tachograph failures", () => {
  it("prints how calls failed, as a table or as JSON, and the calls of each", async () => {
    const { ids, storage } = await recorded()
    const { code, stderr, stdout } = await runInProcess(["failures", "--storage", storage])
    expect([code, stderr]).toEqual([0, ""])
    const [heading, first, second, ...others] = lines(stdout)
    expect(others).toEqual([])
    expect(heading).toMatch(
      /^FAILURE +CALLS +SESSIONS +PEOPLE +FIRST \(UTC\) +LAST +AGENTS +MODELS +LATEST CALL +WHAT THE PROVIDER SAID$/
    )
    const times = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d +\d{4}-\d\d-\d\d \d\d:\d\d`
    expect(first).toMatch(
      new RegExp(
        `^429/rate_limit_error/- +2 +1 +1 +${times} +bot v[12], bot v[12] +gpt-9 +${ids[1]} +Too many requests: r2$`
      )
    )
    expect(second).toMatch(
      new RegExp(
        String.raw`^404/invalid_request_error/model_not_found +1 +1 +${times} +default +gpt-9 +${ids[2]} +The model .gpt-9. \\u\{1b\}\[31mdoes not exist$`
      )
    )

    const json = async (...args: ReadonlyArray<string>) => {
      const printed = await runInProcess([...args, "--json", "--storage", storage])
      expect([printed.code, printed.stderr]).toEqual([0, ""])
      return printed.stdout === "" ? [] : lines(printed.stdout).map((line) => JSON.parse(line))
    }
    const listed = await json("failures", "--person", "ann", "--after", "today")
    expect(listed).toMatchObject([{ failure: "429/rate_limit_error/-", events: 2, message: "Too many requests: r2" }])
    const calls = await json("calls", "--failure", listed[0].failure)
    expect(calls.map(({ error_message, event_id }) => [event_id, error_message])).toEqual([
      [ids[1], "Too many requests: r2"],
      [ids[0], "Too many requests: r1"]
    ])
    expect(await json("failures", "--before", "2020-01-01")).toEqual([])
  })

  it("says with calls as JSON the status, the type, the code and the message of their errors", async () => {
    const { storage } = await recorded()
    const error = {
      http_status: 404,
      error_type: "invalid_request_error",
      error_code: "model_not_found",
      error_message: missing.message
    }
    const json = async (...args: ReadonlyArray<string>) =>
      lines((await runInProcess([...args, "--json", "--storage", storage])).stdout).map((line) => JSON.parse(line))
    expect(await json("calls", "--errors", "--session", "two")).toMatchObject([error])
    expect((await json("show", "two"))[0]).toMatchObject({ call: error })
    const { stdout } = await runInProcess(["calls", "--errors", "--session", "two", "--storage", storage])
    expect(stdout).toContain("failed: 404 invalid_request_error, model_not_found: The model `gpt-9` ")
  })

  it("says where it has not looked at all calls, and goes on", async () => {
    const { storage } = await recorded()
    const { stderr, stdout } = await runInProcess(["failures", "--limit", "1", "--json", "--storage", storage])
    expect(lines(stdout).map((line) => JSON.parse(line))).toMatchObject([{ events: 1, error_code: "model_not_found" }])
    const [, looked, cursor] = /^Only the (\d+) failed calls .*: --cursor (\S+) for those before\n$/.exec(stderr) ?? []
    expect(looked).toBe("1")
    const rest = await runInProcess(["failures", "--cursor", cursor!, "--json", "--storage", storage])
    expect(rest.stderr).toBe("")
    expect(lines(rest.stdout).map((line) => JSON.parse(line))).toMatchObject([{ events: 2, http_status: 429 }])
  })

  it("refuses what it does not know", async () => {
    expectUsageError(await runInProcess(["failures", "--limit", "0"]), "expected a number from 1")
  })
})
