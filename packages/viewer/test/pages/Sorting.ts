/** Lists and tables that are sorted by their figures. */
import { describe, expect, it, onTestFinished } from "vitest"
import { goTo, openWithKey } from "../Browser.ts"
import { Conversation, registered, text, user } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"
import { rowOf, type World } from "./World.ts"

export const define = (world: World) => {
  describe("figures", () => {
    it("sort the sessions by the titles of columns, and the place holds it", async () => {
      const { page } = await world.visit("#/sessions")
      const ids = () => page.locator(".sessions tbody .id").allInnerTexts()
      await page.getByRole("button", { name: "Calls", exact: true }).click()
      await page.waitForURL((url) => url.hash === "#/sessions?sort=calls")
      // The run has more calls than any other session.
      await expect.poll(async () => (await ids())[0]).toBe(world.session)
      expect(await page.locator("th[aria-sort]").getAttribute("aria-sort")).toBe("descending")
      await page
        .getByRole("button", { name: "Calls ↓" })
        .or(page.getByRole("button", { name: "Calls", exact: true }))
        .click()
      await page.waitForURL((url) => url.hash === "#/sessions?sort=calls&order=asc")
      await expect
        .poll(async () => (await ids()).includes(world.session) && (await ids())[0] !== world.session)
        .toBe(true)
      await page.getByLabel("Sorted by").selectOption("Cost")
      await page.waitForURL((url) => url.hash === "#/sessions?sort=cost")
      await page.goBack()
      await expect.poll(async () => page.locator("th[aria-sort]").getAttribute("aria-sort")).toBe("ascending")
    })

    it("sort the sessions on a narrow page too", async () => {
      const { page } = await world.visit("#/sessions", { width: 400, height: 800 })
      await page.getByLabel("Sorted by").selectOption("Failed")
      await page.waitForURL((url) => url.hash === "#/sessions?sort=errors")
      await expect.poll(async () => (await page.locator(".sessions tbody .id").allInnerTexts())[0]).toBe(world.session)
    })

    it("sort the calls of all sessions, the slowest first", async () => {
      const { page } = await world.visit("#/calls")
      await page.getByRole("button", { name: "Took" }).click()
      await page.waitForURL((url) => url.hash === "#/calls?sort=duration")
      const took = () => page.locator('tbody td[data-title="Took"]').allInnerTexts()
      await expect.poll(async () => (await took())[0]).toBe("1.2 s")
      // Calls whose durations are not known are left out.
      expect(new Set(await took()).has("–")).toBe(false)
      await page.getByRole("button", { name: "Took" }).click()
      await page.waitForURL((url) => url.hash === "#/calls?sort=duration&order=asc")
      await expect.poll(() => page.locator("th[aria-sort]").getAttribute("aria-sort")).toBe("ascending")
      await page.getByRole("button", { name: "When" }).click()
      // The order of recording has one way only.
      await goTo(page, "#/calls?sort=last&order=asc")
      expect(await page.locator("th[aria-sort]").getAttribute("aria-sort")).toBe("descending")
    })

    it("say of people what their calls add up to", async () => {
      const { page } = await world.visit("#/people?sort=cost")
      await page.getByText("People who have calls").waitFor()
      const cells = (await rowOf(page, "ada").innerText()).replaceAll(/\s+/g, " ")
      expect(cells).toMatch(/^ada team: lighthouse 2 \d+ \d+ /)
      const total = async () => (await page.locator("tfoot").innerText()).replaceAll(/\s+/g, " ")
      const { events } = (await world.server.client.get("/api/v1/usage")).body.total
      await expect.poll(total).toMatch(new RegExp(`^Total all calls, with those of nobody \\d+ ${events} `))
    })

    it("sort models by their cost, with a row of totals and what a session costs", async () => {
      const { page } = await world.visit("#/overview")
      const table = page.getByRole("region", { name: "Model" })
      await table.waitFor()
      const costs = await table.locator("tbody td:nth-child(6)").allInnerTexts()
      const known = costs.map((text) => Number(/[\d.]+/.exec(text)?.[0] ?? -1))
      expect(known).toEqual(known.toSorted((a, b) => b - a))
      expect((await table.locator("tfoot").innerText()).replaceAll(/\s+/g, " ")).toMatch(/^Total \d+ \d+ /)
      // The same sum is the same text wherever the page has it.
      const sums = [
        ...(await page.locator("tfoot td:nth-child(6)").allInnerTexts()),
        ...(await page.locator(".chart figcaption", { hasText: "Cost by" }).locator("b").allInnerTexts())
      ].map((text) => text.replaceAll(/\s+/g, ""))
      expect([sums.length, new Set(sums).size]).toEqual([4, 1])
      await table.getByRole("button", { name: "Calls" }).click()
      const calls = (await table.locator("tbody td:nth-child(3)").allInnerTexts()).map(Number)
      expect(calls).toEqual(calls.toSorted((a, b) => b - a))
    })

    it("have a row of totals of agents, versions and a person, and sort by what a session costs", async () => {
      const { page } = await world.visit("#/agents")
      const table = page.getByRole("region", { name: "Agent", exact: true })
      await table.waitFor()
      const numbers = async (column: number, rows = "tbody") =>
        (await table.locator(`${rows} td:nth-child(${column})`).allInnerTexts()).map((text) =>
          Number(/[\d.]+/.exec(text)?.[0] ?? -1)
        )
      expect(await numbers(3, "tfoot")).toEqual([(await numbers(3)).reduce((sum, calls) => sum + calls, 0)])
      for (const [title, column] of [
        ["Cost of a session", 7],
        ["Sessions", 2]
      ] as const) {
        await table.getByRole("button", { name: title }).click()
        await table.locator('th[aria-sort="descending"]').getByText(title).waitFor()
        const sorted = await numbers(column)
        expect(sorted).toEqual(sorted.toSorted((a, b) => b - a))
      }
      for (const place of ["#/agents/keeper", "#/people/ada"]) {
        await goTo(page, place)
        await expect
          .poll(async () => (await page.locator("tfoot").innerText()).replaceAll(/\s+/g, " "))
          .toMatch(/^Total 2 5 /)
      }
    })

    it("say below each table and chart how many of all calls are not counted", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const conversation = new Conversation(server.client, await registered(server.client), "some", { agent: "some" })
      await conversation.call([user("Go on")], [text("Done.")])
      conversation.model = "of no price list"
      for (const answer of ["Done again.", "Done at last."]) await conversation.call([user("Go on")], [text(answer)])
      const { page } = await openWithKey(`${server.url}/viewer/#/overview`, apiKey)
      await page.getByRole("region", { name: "Model" }).waitFor()
      const note = "+ not counted: 2 calls without a price"
      const notes = page.getByText("not counted", { exact: false })
      // Two charts, and the tables of days and of models: one of the models has no price at all.
      await expect.poll(() => notes.allInnerTexts()).toEqual([note, note, note, note])
    })

    it("compare what a session of two versions costs", async () => {
      const { page } = await world.visit("#/agents/keeper/compare?from=1.4&to=1.5")
      const table = page.getByRole("region", { name: "Each session" })
      await table.waitFor()
      expect(
        (
          await table
            .getByRole("row")
            .filter({ hasText: /^Calls/ })
            .innerText()
        ).replaceAll(/\s+/g, " ")
      ).toMatch(/^Calls \d+\.\d 1\.0 ▼ −\d+%$/)
    })
  })
}
