/** Complete agent runs, read back as messages and calls. */
import type { SessionCall } from "@tachograph/client/api"
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { RandomJson, Workloads } from "@tachograph/testkit"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { temporaryFolder } from "./TachographProcess.ts"

const { areAvailable, expand, placeholder } = Workloads

const why = areAvailable ? "" : " (the real workloads are not available)"

/** Calls of each workload, which carry their whole history: all 431 of the coding run send 160 MB. */
const callsOfRun = RandomJson.runs(200)

/** `/calls` of a run, compressed, in bytes. */
const maxCallsBytes = 300_000

describe.skipIf(!areAvailable)(`Agent runs as conversations${why}`, () => {
  let tachograph: Awaited<ReturnType<typeof createTachograph>>

  beforeAll(async () => {
    tachograph = await createTachograph({
      storage: sqlite(join(temporaryFolder(), "runs.db")),
      apiKeys: ["a key for the workloads"]
    })
  })
  afterAll(() => tachograph.close())

  /** Records a workload. Returns for each session its messages, in the order of the run, as the last call has them. */
  const record = async (file: string, max: number) => {
    const id = await tachograph.fingerprint({ language: "typescript", language_version: "7", system: "linux" })
    const calls = new Map<string, Array<{ readonly inputs: any; readonly output: any }>>()
    for (const body of await expand(file, max)) {
      body.write(id, body.indexOf(placeholder))
      await tachograph.record(body.toString())
      const { properties, session } = JSON.parse(body.toString())
      calls.set(session, [...(calls.get(session) ?? []), properties])
    }
    return calls
  }

  const all = async <Row>(each: AsyncIterable<Row>) => {
    const rows: Array<Row> = []
    for await (const row of each) rows.push(row)
    return rows
  }

  const read = async (session: string) => {
    const whole = { session, limit: 1_000 }
    const messages = await all(tachograph.api.listSessionMessages.each({ ...whole, verbatim: true }))
    const calls = await all(tachograph.api.listSessionCalls.each(whole))
    return { messages, calls }
  }

  /** One thread, in which each call has all messages of the one before. */
  const expectToGrow = (calls: ReadonlyArray<SessionCall>) => {
    expect(calls.filter((call, index) => call.parent_event_id !== (calls[index - 1]?.event_id ?? null))).toEqual([])
    expect(calls.filter((call, index) => call.kept_messages <= (calls[index - 1]?.kept_messages ?? -1))).toEqual([])
    expect(calls.flatMap(({ gone_messages }) => gone_messages)).toEqual([])
  }

  it("has each message of the coding run once, in order", { timeout: 120_000 }, async () => {
    const [[session, sent]] = Array.from(await record("coding-run.json", callsOfRun)) as [
      [string, Array<{ inputs: any; output: any }>]
    ]
    const { calls, messages } = await read(session)
    const { inputs, output } = sent.at(-1)!
    expect(messages.map(({ number }) => number)).toEqual(messages.map((_, index) => index + 1))
    expect(messages).toHaveLength(inputs.messages.length + 1)
    // What was sent in is there byte for byte, and what was answered in the form of the answer.
    for (const [index, message] of [...inputs.messages, output].entries()) {
      const { from, role, verbatim } = messages[index]!
      expect(role).toBe(message.role)
      const own = JSON.parse(verbatim!)
      expect(from === "input" ? verbatim : own.content).toEqual(
        from === "input" ? JSON.stringify(message) : message.content
      )
    }
    expect(calls).toHaveLength(sent.length)
    expectToGrow(calls)
    const few = calls.filter(({ new_messages }) => new_messages.length <= 2)
    expect(few.length / calls.length).toBeGreaterThan(0.99)
    const { length } = gzipSync(JSON.stringify({ calls }))
    expect(length).toBeLessThan(maxCallsBytes)
  })

  it("has each message of the airline runs once, in order", { timeout: 120_000 }, async () => {
    for (const [session, sent] of await record("airline-runs.ndjson", callsOfRun)) {
      const { calls, messages } = await read(session)
      const { inputs, output } = sent.at(-1)!
      const expected = [...inputs.messages, output.choices[0].message]
      expect(messages.map(({ verbatim }) => JSON.parse(verbatim!).content)).toEqual(
        expected.map(({ content }) => content)
      )
      expect(messages.map(({ role }) => role)).toEqual(expected.map(({ role }) => role))
      expect(calls).toHaveLength(sent.length)
      expectToGrow(calls)
      expect(gzipSync(JSON.stringify({ calls })).length).toBeLessThan(maxCallsBytes)
    }
  })
})
