import { describe, expect, it, onTestFinished } from "vitest"
import { openWithKey } from "../Browser.ts"
import { Conversation, registered, text, user } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"
import type { World } from "./World.ts"

export const define = (world: World) => {
  describe("the search", () => {
    it("search what was said, and open the call that said it first", async () => {
      const { page } = await world.visit("#/search")
      await page.locator("input[type=search]:focus").waitFor()
      await page.keyboard.type("JULY WAS")
      await page.keyboard.press("Enter")
      await page.locator("mark").getByText("July was").waitFor()
      await page.getByRole("link", { name: world.session }).click()
      await page.waitForURL((url) => url.hash.includes(`call=${world.ids[3]}`))
    })

    it("says when no message has the text", async () => {
      const { page } = await world.visit("#/search?q=submarine")
      await page.getByText("Nobody said this").waitFor()
    })

    it("has filters, which are in the place", async () => {
      const { page } = await world.visit("#/search?q=question&session=other%207")
      await page.locator("mark").getByText("Question").waitFor()
      await page.getByText("1 hit in 1 session, all there are").waitFor()
      await page.getByLabel("Session").fill("other 8")
      await page.keyboard.press("Enter")
      await page.waitForURL(/session=other\+8/)
      await page.getByRole("link", { name: "other 8" }).waitFor()
      await page.getByLabel("Match case").click()
      await page.getByText("Nobody said this").waitFor()
    })

    it("tells what people said from what others said, and from instructions", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const fingerprintId = await registered(server.client)
      const shop = new Conversation(server.client, fingerprintId, "at the shop")
      shop.system = "Never offer a refund."
      await shop.call([user("I want a refund")], [text("A refund is not offered.")])
      await shop.call([user("Then half a refund")], [text("No refund.")])
      const other = new Conversation(server.client, fingerprintId, "elsewhere")
      other.system = "Never offer a refund."
      await other.call([user("Hello")], [text("Hello.")])
      const { page } = await openWithKey(`${server.url}/viewer/#/sessions`, apiKey)
      await page.getByRole("link", { name: "Search" }).click()
      await page.locator("input[type=search]:focus").waitFor()
      await page.keyboard.type("refund")
      await page.getByLabel("Said by").selectOption("people")
      await page.getByText("2 hits in 1 session, all there are").waitFor()
      expect(await page.locator(".results > li").allInnerTexts()).toEqual([
        expect.stringMatching(/^2 hits\s+at the shop user, first said .*\s+Then half a refund$/)
      ])
      await page.getByRole("button", { name: "2 hits" }).click()
      await page.locator(".hits .snippet").getByText("I want a").waitFor()
      await page.getByText("2 hits, all there are").waitFor()
      await page.locator(".hits").getByRole("link").last().click()
      await page.waitForURL(/#\/sessions\/at%20the%20shop\?call=/)
      // Without a choice, instructions are left out: they have the words of each session.
      await page.goBack()
      await page.getByLabel("Said by").selectOption("people, models and tools")
      await page.getByText("4 hits in 1 session, all there are").waitFor()
      await page.getByLabel("Said by").selectOption("instructions")
      await page.getByText("2 hits in 2 sessions, all there are").waitFor()
      await page.getByLabel("Said by").selectOption("tools")
      await page.getByText("Nobody said this").waitFor()
    })

    it("shows hits before the search has ended, and is stopped", async () => {
      const { page } = await world.arrive("#/sessions")
      await page.locator("main").getByRole("link").first().waitFor()
      // A search that finds something and does not end.
      const { url } = world.server
      await page.evaluate((url) => {
        const result = {
          session: "s",
          role: "user",
          at: new Date().toISOString(),
          snippet: "found",
          hit_start: 0,
          hit_end: 5
        }
        const body = new ReadableStream({
          start: (controller) =>
            controller.enqueue(
              new TextEncoder().encode(
                [
                  { ...result, event_id: "1", hits: 1 },
                  { damaged_events: 0, next_cursor: "more" }
                ]
                  .map((line) => `${JSON.stringify(line)}\n`)
                  .join("")
              )
            )
        })
        const headers = { "content-type": "application/x-ndjson" }
        const answer = new Response(body, { headers })
        const { fetch } = globalThis
        globalThis.fetch = (asked, init) =>
          String(asked).startsWith(`${url}/api/v1/search`) ? Promise.resolve(answer) : fetch(asked, init)
        location.hash = "#/search?q=found"
      }, url)
      await page.locator("mark").getByText("found").waitFor()
      await page.getByText("1 hit in 1 session, searching…").waitFor()
      await page.getByRole("button", { name: "Stop" }).click()
      await page.getByRole("button", { name: "Search on" }).waitFor()
    })
  })
}
