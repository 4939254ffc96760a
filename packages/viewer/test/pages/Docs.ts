import { describe, expect, it } from "vitest"
import { problemsOf } from "../Accessibility.ts"
import type { World } from "./World.ts"

export const define = (world: World) => {
  describe("the documentation", () => {
    it("is read page by page, by links between pages and sections, and found again as it was left", async () => {
      const { page } = await world.visit("#/docs")
      await page.getByRole("link", { name: "Record with the proxy" }).click()
      await page.getByRole("heading", { level: 1, name: "Record with the proxy" }).waitFor()
      await page.evaluate(() => scrollTo(0, 120))
      await expect.poll(() => page.evaluate(() => String(history.state?.["scroll:docs"]))).toBe("120")
      await page.getByRole("link", { name: "which way to use" }).click()
      const section = page.getByRole("heading", { level: 2, name: "Which way to use" })
      await section.waitFor()
      // The header is above it.
      await expect.poll(async () => (await section.boundingBox())!.y).toBeLessThan(200)
      expect((await section.boundingBox())!.y).toBeGreaterThan(40)
      expect(new URL(page.url()).hash).toBe("#/docs/opentelemetry?at=which-way-to-use")
      await page.goBack()
      await page.getByRole("heading", { level: 1, name: "Record with the proxy" }).waitFor()
      await expect.poll(() => page.evaluate(() => scrollY)).toBe(120)
      await page.getByText("On this page").click()
      await page.getByRole("link", { name: "What passes", exact: true }).click()
      await page.waitForURL((url) => url.hash === "#/docs/proxy?at=what-passes")
    })

    it("is searched in all pages", async () => {
      const { page } = await world.visit("#/docs")
      await page.getByLabel("Search in all pages").fill("cursor survives")
      await page
        .getByRole("link", { name: /^Lists and cursors/ })
        .first()
        .waitFor()
      await page.locator("mark", { hasText: "cursor" }).first().waitFor()
      expect(await problemsOf(page)).toEqual([])
      await page.getByLabel("Search in all pages").fill("no-such-word-in-any-page")
      await page.getByText("Nothing found").waitFor()
    })

    it("says that there is no such page", async () => {
      const { page } = await world.visit("#/docs/nothing")
      await page.getByRole("link", { name: "To all pages of the documentation" }).click()
      await page.getByRole("heading", { name: "Documentation" }).waitFor()
    })

    it("says so where it cannot be loaded, and loads it when asked again", async () => {
      const { page } = await world.arrive("#/nothing")
      await page.route("**/assets/docs-*.json", (route) => route.fulfill({ status: 404, body: "" }))
      await page.evaluate(() => void (location.hash = "#/docs"))
      await page.getByRole("alert").waitFor()
      await page.unroute("**/assets/docs-*.json")
      await page.getByRole("button", { name: "Try again" }).click()
      await page.getByRole("link", { name: "The viewer", exact: true }).waitFor()
    })
  })
}
