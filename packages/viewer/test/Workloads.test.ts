/** The pages over real runs, where they are present beside the repository, and otherwise over an invented one. */
import { RoundTrip, Workloads } from "@tachograph/testkit"
import { existsSync, readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { problemsOf } from "./Accessibility.ts"
import { goTo, openWithKey, useBrowser } from "./Browser.ts"
import { registered } from "./Conversation.ts"
import { apiKey, type Server, start } from "./Server.ts"
import { recordTraced } from "./Spans.ts"

/** The first bodies of each: as many as make all kinds of pages. */
const bodiesOf = async (fingerprintId: string): Promise<ReadonlyArray<Buffer | string>> =>
  Workloads.areAvailable
    ? (
        await Promise.all([
          Workloads.expand("coding-run.json", 60, fingerprintId),
          Workloads.expand("airline-runs.ndjson", 40, fingerprintId),
          Workloads.expand("calls.ndjson", undefined, fingerprintId)
        ])
      ).flat()
    : Array.from(RoundTrip.sampleRun(fingerprintId))

const title = Workloads.areAvailable
  ? "the pages over a coding run, customer service and single calls"
  : "the pages over an invented run (the real workloads are not available)"

useBrowser()
let server: Server
const recorded: Array<{ readonly id: string; readonly session: string }> = []

beforeAll(async () => {
  server = await start()
  for (const body of await bodiesOf(await registered(server.client))) {
    const answer = await server.client.post("/api/v1/events", body.toString())
    expect(answer.status).toBe(200)
    const [, session] = /"session":("(?:[^"\\]|\\.)*")/.exec(body.toString().slice(0, 2_000))!
    recorded.push({ id: answer.body.event_id as string, session: JSON.parse(session!) as string })
  }
})
afterAll(() => server.close())

const visit = async (page: Page, place: string, shows: string) => {
  await goTo(page, place)
  await page.locator(shows).first().waitFor()
}

describe(title, () => {
  it("show every session, and every tab of calls of all formats, without a complaint", async () => {
    const { complaints, foreign, page } = await openWithKey(`${server.url}/viewer/`, apiKey)
    await page.locator(".sessions .id").first().waitFor()
    const lastOf = new Map(recorded.map((each) => [each.session, each]))
    const seen = Array.from(lastOf.values())
    // The coding run, the first of customer service, and some of the single calls.
    const sessions = seen.filter((_, index) => index < 4 || index % 16 === 0)
    for (const { id, session } of sessions) {
      await visit(page, `#/sessions/${encodeURIComponent(session)}?call=${id}`, ".row.selected .call-mark")
      for (const tab of ["new", "input", "answer", "settings", "json"]) {
        await visit(
          page,
          `#/events/${id}?tab=${tab}`,
          `.panel.${tab} :is(.message, .settings, .node, .leaf, .state, b)`
        )
      }
    }
    expect([foreign, complaints]).toEqual([[], []])
  })

  it("are accessible where there is much on them", async () => {
    const { page } = await openWithKey(`${server.url}/viewer/`, apiKey, { colorScheme: "dark" })
    const { id, session } = recorded[Math.min(50, recorded.length - 1)]!
    for (const [place, shows] of [
      ["#/sessions", ".sessions .id"],
      [`#/sessions/${encodeURIComponent(session)}?call=${id}`, ".row.selected"],
      [`#/events/${id}?tab=input`, ".panel .message"],
      ["#/overview", ".chart"]
    ] as const) {
      await visit(page, place, shows)
      expect([place, await problemsOf(page)]).toEqual([place, []])
    }
  })
})

/** What Mastra told of a run, in which it left the answers of tools out of the messages. */
const mastra = new URL("../../../../shared/otlp/mastra/a-json-01-traces.json", import.meta.url)
const isTold = existsSync(mastra)

describe(
  isTold ? "the pages over spans of Mastra" : "the pages over invented spans (those of Mastra are not available)",
  () => {
    it("show the answers that only spans have, and all of them as trees", async () => {
      if (isTold) await server.client.call("POST", "/otlp/v1/traces", readFileSync(mastra))
      else await recordTraced(server.client, "conv-a-7f31")
      const { complaints, page } = await openWithKey(`${server.url}/viewer/#/sessions/conv-a-7f31`, apiKey)
      await page.locator(".tool > summary .rebuilt").first().waitFor()
      const answers = await page.locator(".tool > summary:has(.rebuilt) .answer").allInnerTexts()
      expect(answers.map((answer) => answer.slice(0, 10))).toEqual(
        isTold ? Array.from({ length: 3 }, () => '{ "city": ') : ['{ "low": "', "05:58"]
      )
      await page.keyboard.press("s")
      await page.locator("summary.span-line").filter({ hasText: "tool" }).first().click()
      await page.locator(".timeline .fold").getByText("get_weather").or(page.getByText("forecast")).first().waitFor()
      expect([await problemsOf(page), complaints]).toEqual([[], []])
    })
  }
)
