import { describe, expect, it, onTestFinished } from "vitest"
import { goTo, open, openWithKey } from "../Browser.ts"
import { Conversation, recorded, registered, text, user } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"
import { rowOf, type World } from "./World.ts"

export const define = (world: World) => {
  describe("the other pages", () => {
    it("keep the selected call where another one comes before it", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const conversation = new Conversation(server.client, await registered(server.client), "selected")
      await conversation.call([user("The first")], [text("One.")])
      const id = await conversation.call([user("The second")], [text("Two.")])
      const { page } = await openWithKey(`${server.url}/viewer/#/live`, apiKey)
      const rows = page.locator("tbody tr")
      await expect.poll(() => rows.count()).toBe(2)
      await page.keyboard.press("j")
      await conversation.call([user("The third")], [text("Three.")])
      await expect.poll(() => rows.count()).toBe(3)
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => url.hash === `#/events/${id}`)
    })

    it("show a call as it is recorded", async () => {
      const { page } = await world.visit("#/live")
      await page.getByText("Calls appear as they are recorded").waitFor()
      await new Conversation(world.server.client, world.fingerprintId, "just now").call([user("Now?")], [text("Now.")])
      await page.getByRole("link", { name: "just now" }).click()
      await page.locator(".said").getByText("Now.", { exact: true }).waitFor()
    })

    it("show when a call took place, and when it was recorded in its title", async () => {
      const agent = "told later"
      const fields = { fingerprint_id: world.fingerprintId, session: agent, agent, occurred_at: "2025-01-05T10:00:00Z" }
      const id = await recorded(world.server.client, fields, { api: "provider2-messages", inputs: {}, output: {} })
      const { received_at } = (await world.server.client.get(`/api/v1/events/${id}`)).body
      for (const place of ["#/calls?agent=told+later", "#/live"]) {
        const { page } = await world.visit(place)
        const time = rowOf(page, agent).locator("time")
        expect(await time.innerText()).toMatch(/^5 Jan 2025, \d\d:00$/)
        expect(await time.getAttribute("title")).toMatch(/5 January 2025 .*\nRecorded /)
        expect(await time.getAttribute("title")).toContain(received_at)
      }
    })

    it("show the latest calls while more come than anybody reads", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const fingerprint = await registered(server.client)
      const recordCalls = (name: string, count: number) =>
        Promise.all(
          Array.from({ length: count }, (_, number) =>
            new Conversation(server.client, fingerprint, `${name} ${number}`).call([user("Now?")], [text("Now.")])
          )
        )
      await recordCalls("before", 10)
      const { page } = await openWithKey(`${server.url}/viewer/#/overview`, apiKey)
      const held = Promise.withResolvers<void>()
      const asked = Promise.withResolvers<void>()
      const isStream = (url: URL) => url.pathname === "/api/v1/events/stream" && !url.searchParams.has("wait")
      await page.route(isStream, async (route) => {
        asked.resolve()
        await held.promise
        await route.continue()
      })
      await page.getByRole("link", { name: "Live", exact: true }).click()
      await asked.promise
      await recordCalls("many", 150)
      held.resolve()
      await page.getByText("More calls come than are shown").waitFor()
      await rowOf(page, "before").first().waitFor({ state: "detached" })
      // No more come.
      await page.getByText("Calls appear as they are recorded").waitFor()
      // The latest 50 of a moment, and the fewer that came after it.
      const shown = await page.locator("tbody tr").count()
      expect(shown).toBeGreaterThanOrEqual(50)
      expect(shown).toBeLessThan(100)
      await recordCalls("later", 1)
      await rowOf(page, "later 0").waitFor()
      expect(await page.locator("tbody tr").count()).toBe(shown + 1)
    })

    it("are gone to by keys, and opened by keys", async () => {
      const { page } = await world.visit("#/sessions")
      await rowOf(page, "other 20").waitFor()
      for (const [key, title] of [
        ["a", "Agents"],
        ["o", "Overview"],
        ["p", "People"]
      ] as const) {
        // Keys that come too late after one another are no pair.
        await expect
          .poll(async () => {
            await page.keyboard.press("g")
            await page.keyboard.press(key)
            return page.getByRole("heading", { name: title, exact: true }).isVisible()
          })
          .toBe(true)
      }
      await rowOf(page, "ada").waitFor()
      await page.keyboard.press("j")
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => url.hash === "#/people/ada")
      await page.getByText("lighthouse", { exact: true }).waitFor()
      await page.getByRole("link", { name: "Who are you?" }).click()
      await page.locator(".said").getByText("A bold agent.").waitFor()
    })

    it("add up hours and days, each of which leads to its sessions", async () => {
      const { page } = await world.arrive("#/overview", { timezoneId: "UTC" })
      const period = page.getByRole("navigation", { name: "Period" })
      for (const [title, slot] of [
        ["24 hours", "Hour"],
        ["7 days", "Day"]
      ] as const) {
        await period.getByRole("link", { name: title }).click()
        await page.getByRole("columnheader", { name: slot, exact: true }).waitFor()
        await page.locator(".chart .bars rect").first().waitFor()
        // The earliest, which another test's calls are not in: the hour may turn between them.
        await page.getByRole("region", { name: slot }).locator("td:first-child a").last().click()
        await rowOf(page, "other 20").waitFor()
        const { searchParams } = new URL(page.url().replace("#/", ""))
        const length = Date.parse(searchParams.get("before")!) - Date.parse(searchParams.get("after")!)
        expect([title, length / 3_600_000]).toEqual([title, slot === "Hour" ? 1 : 24])
        await page.goBack()
      }
    })

    it("show the hours of a day that is chosen in a chart, of one agent, in the zone that is chosen", async () => {
      const { page } = await world.arrive("#/overview?agent=keeper&person=ada", { timezoneId: "America/New_York" })
      const chart = page.locator(".chart").filter({ hasText: "Calls by version" })
      await chart.getByRole("slider").focus()
      await page.keyboard.press("Enter")
      await page.waitForURL((url) => /agent=keeper&person=ada&day=\d{4}-\d\d-\d\d$/.test(url.hash))
      await page.getByRole("columnheader", { name: "Hour", exact: true }).waitFor()
      expect(await chart.locator("figcaption").innerText()).toContain("5")
      await page.getByRole("button", { name: "Times in America/New_York" }).click()
      await page.getByRole("combobox", { name: "Another" }).selectOption("Asia/Tokyo")
      await page.getByRole("navigation", { name: "Period, in Asia/Tokyo" }).waitFor()
      await page.getByRole("link", { name: "← 30 days" }).click()
      const asked = page.waitForRequest((request) => request.url().includes("time_zone=Asia%2FTokyo"))
      await page.reload()
      await asked
      await page.getByRole("columnheader", { name: "Day", exact: true }).waitFor()
    })

    it("say that a key may not read", async () => {
      const recording = await start(undefined, ["record"])
      onTestFinished(() => recording.close())
      const { page } = await openWithKey(`${recording.url}/viewer/`, "a key that may record")
      for (const place of ["agents", "people", "fingerprints", "overview"]) {
        await goTo(page, "#/nothing")
        await page.getByText("There is no such page").waitFor()
        await goTo(page, `#/${place}`)
        await page.getByText("This key may not read").first().waitFor()
      }
      await page.getByRole("button", { name: "Enter another key" }).click()
      await page.getByText("decides who may read them").waitFor()
    })

    it("say that nothing is recorded yet", async () => {
      const fresh = await start()
      onTestFinished(() => fresh.close())
      const { page } = await open(fresh.viewer())
      for (const [place, shows] of [
        ["agents", "Nothing is recorded yet"],
        ["people", "Nobody is known yet"],
        ["fingerprints", "No program has registered yet"],
        ["overview", "Nothing was recorded in this time"]
      ] as const) {
        await page.getByRole("navigation").waitFor()
        await goTo(page, `#/${place}`)
        await page.getByText(shows).waitFor()
      }
    })
  })
}
