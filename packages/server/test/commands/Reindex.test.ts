import { type FactRules, ReadFacts } from "@tachograph/core"
import { PriceFile } from "@tachograph/prices"
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { copyFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import { start, temporaryFolder } from "../TachographProcess.ts"

const events = 120
const apiKey = "a key of the tests of reindex"

const priceFile = (inputMtok: number) =>
  JSON.stringify({ date: "2026-11-01", prices: [{ model: "my-model", input_mtok: inputMtok, output_mtok: 0 }] })

const fingerprint = { language: "js", language_version: "24", system: "test" }

/** As a later version might read the calls: another name of the model. */
const nextRules: FactRules = {
  version: 7,
  read: (...call) => {
    const { facts, ...read } = ReadFacts.read(...call)
    return { ...read, facts: { ...facts, responseModel: "by the next version" } }
  }
}

/** Records calls. */
const record = async (tachograph: Awaited<ReturnType<typeof createTachograph>>, from: number, to: number) => {
  const fingerprint_id = await tachograph.fingerprint(fingerprint)
  for (let n = from; n < to; n++) {
    const output = { model: "my-model", choices: [], usage: { prompt_tokens: 1_000_000, completion_tokens: 0 } }
    const inputs = { model: "my-model", messages: [{ role: "user", content: `question ${n}` }] }
    await tachograph.record({
      event_name: "llm",
      fingerprint_id,
      session: `session ${n % 4}`,
      properties: { api: "provider1-chat-completions", inputs, output }
    })
  }
}

/** Opens a store with prices of an operator's own. */
const open = (filename: string, inputMtok: number) =>
  createTachograph({ storage: sqlite(filename), apiKeys: [apiKey], prices: PriceFile.parse(priceFile(inputMtok)) })

describe("tachograph reindex", () => {
  const folder = temporaryFolder()
  const original = join(folder, "original.db")
  let copies = 0

  /** A copy of the store, the arguments that name it, and a look at its rows. */
  const copy = () => {
    const filename = join(folder, `copy${copies++}.db`)
    copyFileSync(original, filename)
    const prices = join(folder, "prices.json")
    writeFileSync(prices, priceFile(3))
    const select = (query: string) => {
      const database = new DatabaseSync(filename)
      const rows = database.prepare(query).all()
      database.close()
      return rows
    }
    return { filename, select, args: ["reindex", "--storage", `sqlite:${filename}`, "--prices", prices] }
  }

  /** What a server says of the store. */
  const read = async (filename: string) => {
    const tachograph = await open(filename, 3)
    const headers = { authorization: `Bearer ${apiKey}` }
    const get = async (path: string): Promise<any> =>
      (await tachograph.fetch(new Request(`http://localhost${path}`, { headers }))).json()
    const { events: list } = await get("/api/v1/events?limit=1000")
    const me = await get("/api/v1/me")
    await tachograph.close()
    return { costs: new Set(list.map(({ cost_usd }: any) => cost_usd)), me }
  }

  beforeAll(async () => {
    const tachograph = await open(original, 1)
    await record(tachograph, 0, events)
    await tachograph.close()
  })

  it("prices calls again, says by which rules they are, and leaves them alone the next time", async () => {
    const { args, filename } = copy()
    expect((await read(filename)).costs).toEqual(new Set(["1"]))
    const { code, stderr, stdout } = await runInProcess([...args, "--rate", "100%"])
    expect([code, stderr]).toEqual([0, ""])
    expect(stdout).toMatch(/^Reindexed 120 events \([\d.]+ KiB\) by (6, prices 2026-11-01 .*): 120 changed\n/)
    expect(stdout).toMatch(/default +6, prices 2026-11-01 \(own\), .* +120\n/)
    const { costs: after, me } = await read(filename)
    expect(after).toEqual(new Set(["3"]))
    expect(me.events_by_rules).toEqual([{ rules: me.rules, events }])
    const again = await runInProcess([...args, "--json"])
    expect(JSON.parse(again.stdout)).toEqual({
      type: "result",
      rules: me.rules,
      events: 0,
      changed: 0,
      text_bytes: 0,
      left: 0,
      projects: [{ project: "default", rules: [{ rules: me.rules, events }] }]
    })
  })

  it("brings events of two versions of the rules to the newer one, which a server of the older one says", async () => {
    const { args, filename } = copy()
    const reindex = (...options: ReadonlyArray<string>) =>
      runInProcess([...args, "--rate", "100%", ...options], {}, nextRules)
    expect((await reindex()).code).toBe(0)
    const older = await open(filename, 3)
    await record(older, events, events + 7)
    await older.close()
    const { me } = await read(filename)
    const rest = me.rules.slice(1)
    expect(me).toMatchObject({
      rules: `6${rest}`,
      events_by_rules: [
        { rules: `6${rest}`, events: 7 },
        { rules: `7${rest}`, events }
      ]
    })
    const { stdout } = await reindex("--json")
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ rules: `7${rest}`, events: 7, changed: 7, left: 0 },
      projects: [{ project: "default", rules: [{ rules: `7${rest}`, events: events + 7 }] }]
    })
    expect((await reindex()).stdout).toMatch(
      /^Reindexed 0 events \(0 B\) by 7, prices [^]*default +7, prices .* +127\n/
    )
  })

  it("goes on where it was when it is killed", async () => {
    const { args, filename, select } = copy()
    const reindexed = () => select("SELECT count(*) AS count FROM events WHERE cost = 3000000000")[0]!["count"]
    const killed = start([...args, "--rate", "5%"], {})
    await vi.waitFor(() => expect(reindexed()).toBeGreaterThan(0), { timeout: 100_000 })
    killed.child.kill("SIGKILL")
    expect((await killed.finished).signal).toBe("SIGKILL")
    const before = Number(reindexed())
    expect(before).toBeLessThan(events)
    const { code, stdout } = await runInProcess([...args, "--rate", "100%", "--json"])
    expect([code, JSON.parse(stdout)["events"]]).toEqual([0, events - before])
    expect((await read(filename)).costs).toEqual(new Set(["3"]))
    const verified = await runInProcess(["verify", "--storage", `sqlite:${filename}`, "--rate", "100%"])
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("nothing is wrong")])
  })

  it("says how far it came when it is stopped", async () => {
    const { args, select } = copy()
    const stopped = start([...args, "--rate", "5%"], {})
    const reindexed = () => select("SELECT count(*) AS count FROM events WHERE cost = 3000000000")[0]!["count"]
    await vi.waitFor(() => expect(reindexed()).toBeGreaterThan(0), { timeout: 100_000 })
    stopped.child.kill("SIGINT")
    const { code, stderr, stdout } = await stopped.finished
    expect([code, stdout]).toEqual([130, ""])
    expect(stderr).toMatch(/^Reindexed \d+ of 120 events \(.*\)\. Stopped: run it again to go on$/m)
  })

  it("names a damaged event and leaves it as it is", async () => {
    const { args, filename } = copy()
    const database = new DatabaseSync(filename)
    const changes = database
      .prepare("UPDATE events SET input_tokens = 5 WHERE pack_number = 7 AND session_number = 2")
      .run()
    expect(changes.changes).toBe(1)
    database.close()
    const { code, stdout } = await runInProcess([...args, "--rate", "100%", "--json"])
    const [left, result] = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(code).toBe(1)
    expect(left).toEqual({
      type: "left",
      project: "default",
      session: "session 1",
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      reason: "The checksum of the event's fields differs"
    })
    expect(result).toMatchObject({ events: events - 1, changed: events - 1, left: 1 })
    const text = await runInProcess([...args, "--rate", "100%"])
    expect(text.stdout).toContain(
      `left as it is: event ${left.event_id}, session "session 1", project "default": The check`
    )
    expect(text.code).toBe(1)
  })

  it("says in one line what is wrong with its options", async () => {
    const { args } = copy()
    expectUsageError(await runInProcess([...args, "--rate", "0%"]), "--rate")
    expectUsageError(await runInProcess(["reindex", "--storage", "memory:"]), "memory:")
    expectUsageError(await runInProcess([...args, "--project", "none"]), "There is no project")
    expectUsageError(
      await runInProcess(["reindex", "--storage", `sqlite:${folder}/absent.db`]),
      "The storage does not exist"
    )
  })

  it("builds the derived tables anew", async () => {
    const { args, filename } = copy()
    expect((await runInProcess(args)).code).toBe(0)
    const usage = () => runInProcess(["usage", "--json", "--storage", `sqlite:${filename}`])
    const before = await usage()
    expect(JSON.parse(before.stdout)).toMatchObject({ events, cost_usd: String(3 * events) })
    const database = new DatabaseSync(filename)
    expect(database.prepare("UPDATE rollups SET sums = x'ff' WHERE series > 0").run().changes).toBeGreaterThan(0)
    database.close()
    expect((await usage()).code).toBe(1)
    expect((await runInProcess(args)).code).toBe(0)
    expect(await usage()).toEqual(before)
  })
})
