/** How calls failed, from wherever that is counted: the failures, their calls, and each of them. */
import { describe, expect, it, onTestFinished } from "vitest"
import { goTo, openWithKey } from "../Browser.ts"
import { recorded, registered, text, user, Conversation } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"
import { rowOf, type World } from "./World.ts"

const limited = (id: string) => ({
  error: { type: "requests", code: "rate_limit_exceeded", message: `Rate limit reached for request ${id}` }
})

const answered = { choices: [{ index: 0, message: { role: "assistant", content: "Here." }, finish_reason: "stop" }] }

/** A server with two failures: one of two calls, the second of which is tried again, and one of a call. */
const failing = async () => {
  const server = await start()
  onTestFinished(() => server.close())
  const fingerprint_id = await registered(server.client)
  const ask = (fields: object, output: object) =>
    recorded(
      server.client,
      { fingerprint_id, agent: "clerk", agent_version: "2", session: "an order", duration_ms: 0, ...fields },
      { api: "provider1-chat-completions", inputs: { model: "gpt-4o", messages: [user("Where is it?")] }, output }
    )
  const ids = [
    await ask({ http_status: 429 }, limited("r1")),
    await ask({ http_status: 429 }, limited("r2")),
    await ask({ http_status: 200 }, answered),
    await ask({ http_status: 401, session: "another", agent: "guard" }, { error: { message: "No key", type: "auth" } })
  ]
  const visit = (place: string) => openWithKey(`${server.url}/viewer/${place}`, apiKey)
  return { ids, server, visit }
}

export const define = (world: World) => {
  describe("failures", () => {
    it("are grouped with what the provider said, and lead to their calls and to the latest", async () => {
      const { ids, visit } = await failing()
      const { page } = await visit("#/sessions")
      await rowOf(page, "an order").waitFor()
      await page.keyboard.press("g")
      await page.keyboard.press("x")
      const row = rowOf(page, "rate_limit_exceeded")
      await row.getByText("Rate limit reached for request r2").waitFor()
      expect((await row.innerText()).split(/\s*[\t\n]+\s*/).slice(0, 6)).toEqual([
        "429 requests, rate_limit_exceeded",
        "too many requests, or too much used",
        "Rate limit reached for request r2",
        "2",
        "1",
        "0"
      ])
      await row.getByRole("link", { name: "2", exact: true }).click()
      await page.getByText("Those that failed as 429/requests/rate_limit_exceeded").waitFor()
      await expect.poll(() => page.locator("tbody tr").count()).toBe(2)
      await page.getByRole("link", { name: "Show all calls" }).click()
      await expect.poll(() => page.locator("tbody tr").count()).toBe(4)
      await page.getByLabel("Failed only").check()
      await expect.poll(() => page.locator("tbody tr").count()).toBe(3)
      await page.goBack()
      await page.goBack()
      await page.goBack()
      await row.getByRole("link", { name: "429 requests" }).click()
      await page.waitForURL((url) => url.hash === `#/events/${ids[1]}`)
      const banner = page.locator(".failure")
      expect(await banner.innerText()).toContain(
        "Failed: 429 requests, rate_limit_exceeded (too many requests, or too much used). Rate limit reached for request r2"
      )
    })

    it("say where not all calls were looked at, and go on", async () => {
      const { visit } = await failing()
      const { page } = await visit("#/overview")
      await page.route(
        (url) => url.pathname === "/api/v1/failures",
        (route) => {
          const url = new URL(route.request().url())
          url.searchParams.set("limit", "1")
          return route.continue({ url: url.href })
        }
      )
      await goTo(page, "#/failures")
      await page.getByText("Of 1 failed call, those that were recorded last.").waitFor()
      await rowOf(page, "No key").waitFor()
      await page.getByRole("link", { name: "The failures before these" }).click()
      await rowOf(page, "Rate limit reached").waitFor()
      await page.getByText("Of 2 failed calls.").waitFor()
    })

    it.each([
      ["the charts", "#/overview", ".chart figcaption", 2],
      ["the hours and days", "#/overview", "tbody tr", 2],
      ["the agents", "#/agents", "tbody tr:has-text('clerk')", 1],
      ["the versions of an agent", "#/agents/clerk", "tbody tr", 1],
      ["the sessions", "#/sessions", "tbody tr:has-text('an order')", 1]
    ])("are where the count of %s leads to", async (_what, place, where, groups) => {
      const { visit } = await failing()
      const { page } = await visit(place)
      const count = page.locator(where).locator("a.bad").first()
      const failed = groups === 2 ? "3" : "2"
      expect((await count.innerText()).replace(" failed", "")).toBe(failed)
      await count.click()
      await page.getByRole("heading", { name: "Failures" }).waitFor()
      await rowOf(page, "Rate limit reached").waitFor()
      expect(await page.locator("tbody tr").count()).toBe(groups)
    })

    it("of an hour are where its bar in the chart leads to", async () => {
      const { visit } = await failing()
      const { page } = await visit("#/overview?period=day")
      const chart = page.getByRole("slider", { name: /^Failed calls by hour. Enter shows its failures$/ })
      await chart.focus()
      await page.keyboard.press("Enter")
      // Perhaps the next hour, which has begun since they were recorded.
      await page.waitForURL((url) => /^#\/failures\?after=[^&]+&before=/.test(url.hash))
    })

    it("are told from retries in a session", async () => {
      const { visit } = await failing()
      const { page } = await visit("#/sessions/an%20order")
      const marks = page.locator(".call-mark")
      await expect.poll(() => marks.count()).toBe(3)
      const about = await marks.evaluateAll((all) =>
        all.map((mark) => Array.from(mark.querySelectorAll(".error, .hint"), ({ textContent }) => textContent))
      )
      expect(about.map((lines) => lines.filter((line) => /Failed|etr/.test(line ?? "")))).toEqual([
        [
          "Failed: 429 requests, rate_limit_exceeded (too many requests, or too much used). Rate limit reached for request r1",
          "Retried by call 2"
        ],
        [
          "Failed: 429 requests, rate_limit_exceeded (too many requests, or too much used). Rate limit reached for request r2",
          "Retry of call 1, retried by call 3"
        ],
        ["Retry of call 2"]
      ])
      await goTo(page, "#/sessions/an%20order?view=table")
      await expect
        .poll(() => page.locator('td[data-title="Ended"] small').allInnerTexts())
        .toEqual(["retried by call 2", "retry of call 1, retried by call 3", "retry of call 2"])
    })

    it("alone come to the live calls, if a person wants that", async () => {
      const { server, visit } = await failing()
      const { page } = await visit("#/live")
      await expect.poll(() => page.locator("tbody tr").count()).toBe(4)
      await page.getByLabel("Failed only").check()
      await expect.poll(() => page.locator("tbody tr").count()).toBe(3)
      const later = new Conversation(server.client, await registered(server.client), "later")
      await later.call([user("Are you well?")], [text("I am.")])
      await later.fail(user("And now?"), "overloaded_error")
      await expect.poll(() => page.locator("tbody tr").count()).toBe(4)
      await rowOf(page, "overloaded_error").waitFor()
    })

    it("are none in a project without them", async () => {
      const { page } = await world.visit("#/failures?agent=nobody")
      await page.getByText("No call failed").waitFor()
    })
  })
}
