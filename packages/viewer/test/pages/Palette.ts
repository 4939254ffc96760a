import { describe, expect, it } from "vitest"
import { problemsOf } from "../Accessibility.ts"
import type { World } from "./World.ts"

export const define = (world: World) => {
  describe("Ctrl+K", () => {
    it("goes to pages, names and ids from anywhere", async () => {
      const { complaints, page } = await world.visit("#/overview")
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      const field = page.getByRole("combobox", { name: "A page, a session" })
      const jump = async (words: string, option: string, hash: string) => {
        await page.keyboard.press("Control+k")
        await field.waitFor()
        await page.keyboard.type(words)
        await page.getByRole("option", { selected: true }).filter({ hasText: option }).waitFor()
        await page.keyboard.press("Enter")
        await page.waitForURL((url) => url.hash === hash)
        await expect.poll(() => page.getByRole("dialog").count()).toBe(0)
      }
      await jump("peop", "People", "#/people")
      await jump("keeper", "Agent", "#/agents/keeper")
      await jump("the next version", "Who are you?", "#/sessions/the%20next%20version")
      await jump(world.ids[1]!.toUpperCase(), "Call", `#/events/${world.ids[1]}`)
      await jump(world.otherFingerprintId, "Runtime", `#/fingerprints/${world.otherFingerprintId}`)
      await jump(world.sharedText, "Shared text", `#/shared/${world.sharedText}`)
      await jump("no such words", "Search", "#/search?q=no+such+words")
      expect(complaints).toEqual([])
    })

    it("keeps what is typed while the places are loaded", async () => {
      const { page } = await world.arrive("#/overview")
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      let go = () => {}
      const held = new Promise<void>((resolve) => (go = resolve))
      await page.route("**/assets/Targets-*.js", (route) => held.then(() => route.continue()))
      await page.keyboard.press("Control+k")
      await page.keyboard.type("peop")
      expect(await page.getByRole("combobox", { name: "A page, a session" }).inputValue()).toBe("peop")
      expect(await page.getByRole("option").count()).toBe(0)
      go()
      await page.getByRole("option", { selected: true }).filter({ hasText: "People" }).waitFor()
    })

    it("is moved along by arrows and closed by Escape, accessibly", async () => {
      const { page } = await world.visit("#/people")
      await page.getByRole("heading", { name: "People" }).waitFor()
      await page.getByRole("button", { name: "Go to…" }).click()
      const selected = page.getByRole("option", { selected: true })
      await selected.filter({ hasText: "Sessions" }).waitFor()
      await page.keyboard.press("ArrowDown")
      await selected.filter({ hasText: "Calls" }).waitFor()
      expect(await problemsOf(page)).toEqual([])
      await page.keyboard.press("Escape")
      await expect.poll(() => page.getByRole("dialog").count()).toBe(0)
      expect(page.url()).toContain("#/people")
    })
  })
}
