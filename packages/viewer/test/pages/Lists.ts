import { describe, expect, it, onTestFinished } from "vitest"
import type { Page } from "playwright-core"
import { openWithKey } from "../Browser.ts"
import { Conversation, registered, text, user } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"
import { rowOf, type World } from "./World.ts"

/** Makes the first page of a list shorter, so that few rows are several pages. */
const shorten = (page: Page, list: string, limit: number) =>
  page.route(
    (url) => url.pathname === `/api/v1/${list}` && !url.searchParams.has("cursor"),
    (route) => {
      const url = new URL(route.request().url())
      url.searchParams.set("limit", String(limit))
      return route.continue({ url: url.href })
    }
  )

const isFirstPage = (url: URL) => url.pathname === "/api/v1/sessions" && !url.searchParams.has("cursor")
const isLaterPage = (url: URL) => url.pathname === "/api/v1/sessions" && url.searchParams.has("cursor")

export const define = (world: World) => {
  describe("a list of several pages", () => {
    it("stays as it was while the server refuses it, and asks for a later page only when a person wants it", async () => {
      const { page } = await world.arrive("#/overview")
      await shorten(page, "sessions", 15)
      let refused = 0
      await page.route(isLaterPage, (route) => {
        refused++
        return route.fulfill({
          status: 503,
          headers: { "retry-after": "1" },
          json: { type: "overloaded", message: "Busy" }
        })
      })
      await page.getByRole("link", { name: "Sessions", exact: true }).click()
      await expect.poll(() => page.getByRole("row").count()).toBe(16)
      // Each key renders the list.
      for (let step = 0; step < 20; step++) await page.keyboard.press("j")
      // The list asks again for its first page, and not for the one that was refused.
      const asItWas = page.getByText("the list is as it was")
      await page.route(isFirstPage, (route) => route.fulfill({ status: 503, json: { type: "storage-unavailable" } }))
      await asItWas.waitFor()
      expect([refused, await page.getByRole("row").count()]).toEqual([1, 16])
      await page.getByText("The server is busy").waitFor()
      await page.unroute(isFirstPage)
      await asItWas.waitFor({ state: "detached" })
      expect(refused).toBe(1)
      await page.unroute(isLaterPage)
      await page.getByRole("button", { name: "Try again" }).click()
      await expect.poll(() => page.getByRole("row").count()).toBe(26)
    })

    it("misses nothing of what came while it was not asked for, and forgets what was erased", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const fingerprint = await registered(server.client)
      const recordSessions = async (name: string, count: number) => {
        for (let number = 1; number <= count; number++) {
          const conversation = new Conversation(server.client, fingerprint, `${name} ${number}`)
          await conversation.call([user(`About ${name} ${number}`)], [text("Yes.")])
        }
      }
      await recordSessions("early", 12)
      const { page } = await openWithKey(`${server.url}/viewer/#/live`, apiKey)
      await shorten(page, "sessions", 5)
      await page.getByRole("link", { name: "Sessions", exact: true }).click()
      await expect.poll(() => page.locator("tbody tr").count()).toBe(12)
      await page.getByRole("link", { name: "Live", exact: true }).click()
      await page.getByRole("heading", { name: "Live" }).waitFor()
      await recordSessions("late", 8)
      expect((await server.client.call("DELETE", "/api/v1/sessions/early%2011")).status).toBe(200)
      await page.getByRole("link", { name: "Sessions", exact: true }).click()
      await rowOf(page, "late 8").waitFor()
      const ids = () => page.locator("tbody .id").allInnerTexts()
      const names = (name: string, numbers: ReadonlyArray<number>) => numbers.map((number) => `${name} ${number}`)
      await expect
        .poll(ids)
        .toEqual([...names("late", [8, 7, 6, 5, 4, 3, 2, 1]), ...names("early", [12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])])
    })

    it("says that nothing matched so far where a page ended early, and goes on", async () => {
      const { page } = await world.arrive("#/overview")
      for (const [list, rows] of [
        ["sessions", "sessions"],
        ["events", "events"]
      ] as const) {
        await page.route(
          (url) => url.pathname === `/api/v1/${list}` && !url.searchParams.has("cursor"),
          async (route) => {
            const cut = new URL(route.request().url())
            cut.searchParams.set("limit", "1")
            const { next_cursor } = await (await route.fetch({ url: cut.href })).json()
            return route.fulfill({ json: { [rows]: [], next_cursor } })
          }
        )
      }
      await page.goto(`${world.server.url}/viewer/#/sessions?agent=keeper`)
      await page.getByText("Nothing matches so far").waitFor()
      await page.getByRole("button", { name: "Look further" }).click()
      await rowOf(page, world.session).waitFor()
      await page.goto(`${world.server.url}/viewer/#/fingerprints/${world.fingerprintId}`)
      await page.getByText("None of the latest calls was recorded with it").waitFor()
      await page.getByRole("button", { name: "Look further" }).click()
      await rowOf(page, "keeper").first().waitFor()
    })
  })

  describe("a search", () => {
    it("says what it could not read, where it found nothing", async () => {
      const { page } = await world.arrive("#/overview")
      await page.route("**/api/v1/search/sessions?*", (route) =>
        route.fulfill({
          contentType: "application/x-ndjson",
          body: `${JSON.stringify({ damaged_events: 2, next_cursor: null })}\n`
        })
      )
      await page.goto(`${world.server.url}/viewer/#/search?q=submarine`)
      await page.getByText("Nobody said this").waitFor()
      await page.getByText("2 calls could not be searched: they are damaged").waitFor()
    })
  })
}
