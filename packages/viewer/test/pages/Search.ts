import { describe, it } from "vitest"
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
      await page.getByText("1 hit, all there are").waitFor()
      await page.getByLabel("Session").fill("other 8")
      await page.keyboard.press("Enter")
      await page.waitForURL(/session=other\+8/)
      await page.getByRole("link", { name: "other 8" }).waitFor()
      await page.getByLabel("Match case").click()
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
            controller.enqueue(new TextEncoder().encode(`${JSON.stringify({ ...result, event_id: "1" })}\n`))
        })
        const headers = { "content-type": "application/x-ndjson" }
        const answer = new Response(body, { headers })
        const { fetch } = globalThis
        globalThis.fetch = (asked, init) =>
          String(asked).startsWith(`${url}/api/v1/search`) ? Promise.resolve(answer) : fetch(asked, init)
        location.hash = "#/search?q=found"
      }, url)
      await page.locator("mark").getByText("found").waitFor()
      await page.getByText("1 hit, searching…").waitFor()
      await page.getByRole("button", { name: "Stop" }).click()
      await page.getByRole("button", { name: "Search on" }).waitFor()
    })
  })
}
