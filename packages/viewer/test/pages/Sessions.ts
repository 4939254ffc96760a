import { describe, expect, it, onTestFinished } from "vitest"
import { goTo, openWithKey } from "../Browser.ts"
import { Conversation, registered, text, user } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"
import { rowOf, type World } from "./World.ts"

export const define = (world: World) => {
  describe("the list of sessions", () => {
    it("shows the id beside the title, and what the calls add up to", async () => {
      const { page } = await world.visit("#/sessions?agent=keeper")
      const row = rowOf(page, world.session)
      await row.waitFor()
      const shown = await row.innerText()
      for (const part of [world.session, "keeper", "1.4 · ada"]) expect(shown).toContain(part)
      expect(await row.getByRole("link", { name: "1 failed", exact: true }).count()).toBe(1)
      expect(await page.getByRole("row").count()).toBe(3)
    })

    it("keeps its columns whatever the length of a model's name", async () => {
      const server = await start()
      onTestFinished(() => server.close())
      const conversation = new Conversation(server.client, await registered(server.client), "a long model")
      conversation.model = "m".repeat(200)
      await conversation.call([user("Which model?")], [text("A long one.")])
      const { page } = await openWithKey(`${server.url}/viewer/#/nothing`, apiKey)
      for (const place of ["#/sessions", "#/live"]) {
        await goTo(page, place)
        const row = rowOf(page, "m".repeat(20)).first()
        await row.waitFor()
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280)
        expect((await row.boundingBox())!.height).toBeLessThan(100)
      }
    })

    it("is moved along and opened by keys, and going back restores filters and scroll", async () => {
      const { page } = await world.visit("#/sessions")
      await rowOf(page, "other 20").waitFor()
      for (let step = 0; step < 20; step++) await page.keyboard.press("j")
      const id = await page.locator("tr[aria-current] .id").innerText()
      // The page scrolls after it has drawn the selection.
      let scrolled = 0
      await expect
        .poll(async () => {
          const before = scrolled
          scrolled = await page.evaluate(() => scrollY)
          return scrolled > 0 && scrolled === before
        })
        .toBe(true)
      await page.keyboard.press("Enter")
      await page.locator(".said").getByText(id.replace("other", "Answer"), { exact: true }).waitFor()
      await page.goBack()
      await rowOf(page, "other 20").waitFor()
      await page.waitForFunction((scrolled) => Math.abs(scrollY - scrolled) < 5, scrolled)
    })

    it("is as it was filtered where Escape goes back from a session", async () => {
      const { page } = await world.visit("#/sessions?agent=keeper")
      await rowOf(page, world.session).getByRole("link").first().click()
      await page.locator(".session-head").waitFor()
      await page.keyboard.press("Escape")
      await page.waitForURL(/#\/sessions\?agent=keeper$/)
      // Back, and not on to another entry of the history.
      await page.goForward()
      await page.waitForURL((url) => url.hash.startsWith(world.sessionPlace))
    })

    it("filters by what the place says", async () => {
      const { page } = await world.visit("#/sessions")
      await rowOf(page, "other 20").waitFor()
      await page.keyboard.press("/")
      await page.keyboard.type("keeper")
      await page.keyboard.press("Enter")
      await page.waitForURL(/agent=keeper/)
      await expect.poll(() => page.getByRole("row").count()).toBe(3)
      await page.goBack()
      await expect.poll(() => page.getByRole("row").count()).toBe(26)
    })

    it("names a stretch of time by a word, which stays one in the place", async () => {
      const { page } = await world.visit("#/sessions")
      await rowOf(page, "other 20").waitFor()
      const when = page.getByLabel("When")
      await when.selectOption("Yesterday")
      await page.waitForURL((url) => url.hash === "#/sessions?after=yesterday&before=today")
      await page.getByText("No session matches").waitFor()
      // A day of the zone of the page.
      const midnight = await page.evaluate(() => {
        const date = new Date()
        const local = new Date(date.getFullYear(), date.getMonth(), date.getDate())
        return new Date(local.getTime() - 60_000 * local.getTimezoneOffset()).toISOString().slice(0, 16)
      })
      expect(await page.getByLabel("Until").inputValue()).toBe(midnight)
      await when.selectOption("Last 24 hours")
      await page.waitForURL((url) => url.hash === "#/sessions?after=24h")
      await rowOf(page, "other 20").waitFor()
      await when.selectOption("any time")
      await page.waitForURL((url) => url.hash === "#/sessions")
    })

    it("lets a person go on typing while a date filters", async () => {
      const { page } = await world.visit("#/sessions")
      await rowOf(page, "other 20").waitFor()
      const from = page.getByLabel("From")
      await from.fill("2001-02-03T04:05")
      await page.waitForURL(/after=2001/)
      await from.evaluate((field) => Object.assign(field, { isSame: true }))
      await from.fill("2002-02-03T04:05")
      await page.waitForURL(/after=2002/)
      expect(await from.evaluate((field) => [document.activeElement === field, "isSame" in field])).toEqual([
        true,
        true
      ])
      // The first digits of a year are no filter.
      await from.fill("0020-02-03T04:05")
      expect(page.url()).toContain("after=2002")
      await page.goBack()
      await expect.poll(() => from.inputValue()).toBe("2001-02-03T04:05")
    })

    it("has a preview that can be closed where the header has two lines", async () => {
      const { page } = await world.visit(`#/sessions?peek=${encodeURIComponent(world.session)}`, {
        width: 400,
        height: 700
      })
      await page.locator(".peek .message").first().waitFor()
      await page.getByRole("button", { name: "Close the preview" }).click({ timeout: 5_000 })
      await expect.poll(() => page.locator(".peek").count()).toBe(0)
    })

    it("shows what was said last beside the list, which goes along it by keys", async () => {
      const { page } = await world.visit("#/sessions")
      await rowOf(page, "other 20").waitFor()
      await page.keyboard.press("j")
      await page.keyboard.press("o")
      const preview = page.getByRole("complementary", { name: "Preview" })
      const idOfSelected = () => page.locator("tr[aria-current] .id").innerText()
      const said = async () => preview.getByText((await idOfSelected()).replace("other", "Answer"), { exact: true })
      await (await said()).waitFor()
      await page.keyboard.press("j")
      await (await said()).waitFor()
      await page.keyboard.press("Escape")
      await expect.poll(() => preview.count()).toBe(0)
    })
  })
}
